"""`python -m normgeo`."""

import sys

from normgeo.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
