"""Speed and accuracy of ddr beside other packages: ``python -m benchmarks``."""
