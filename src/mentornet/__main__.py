"""`python -m mentornet` is `mentornet`."""

import sys

from mentornet.cli import main

if __name__ == "__main__":
    sys.exit(main())
