"""Run the command line: `python -m fastpassk`."""

import sys

from fastpassk.cli import main

if __name__ == "__main__":
    sys.exit(main())
