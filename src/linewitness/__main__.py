"""``python -m linewitness``."""

import sys

from linewitness.cli.__main__ import run

if __name__ == "__main__":
    sys.exit(run())
