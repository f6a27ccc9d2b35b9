"""`python -m benchmarks`: all of them, one after the other."""

import sys

from benchmarks import history, listing, redact, startup

if __name__ == "__main__":
    status = max(startup.main(), listing.main(), history.main())
    redact.main()  # last: a child's peak memory counts from its parent's size
    sys.exit(status)
