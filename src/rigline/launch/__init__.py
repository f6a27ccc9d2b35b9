"""`rigline run`: one launch of a harness on a workstream, from argv to exit code. The line itself is in `run.py`."""
