"""One line of work across every coding agent."""

__version__ = "0.1.0"
