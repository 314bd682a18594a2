"""Make ``python -m ddr`` the command line of :mod:`ddr.cli`."""

import sys

from ddr.cli import main

if __name__ == "__main__":
    sys.exit(main())
