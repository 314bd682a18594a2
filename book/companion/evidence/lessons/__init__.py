"""What the notebooks show: the answers at their heads, their sentences and their figures."""
