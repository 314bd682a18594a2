"""What the runs say: printed values, verdicts, gains, claims and open choices."""
