"""``python -m cuvil_edge.cli``."""

import sys

from cuvil_edge.cli import main

if __name__ == "__main__":
    sys.exit(main())
