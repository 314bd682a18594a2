"""Where the project's files are. The companion runs from a checkout, never from a wheel."""

from pathlib import Path

#: The checkout.
ROOT = Path(__file__).resolve().parents[2]
#: Prose and evidence.
BOOK = ROOT / "book"
#: What is made and may be removed.
BUILD = ROOT / "_build"
