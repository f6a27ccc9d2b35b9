"""`python -m benchmarks`: all of them, one after the other."""

import sys

from benchmarks import history, redact, startup

if __name__ == "__main__":
    redact.main()
    sys.exit(max(startup.main(), history.main()))
