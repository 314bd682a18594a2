"""Make ``python -m ddr`` the command line of :mod:`ddr.cli`."""

import sys

from ddr.cli import main

sys.exit(main())
