"""What also runs in the reader's browser: numpy, matplotlib and `ddr` are there."""
