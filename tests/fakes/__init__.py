"""Stand-ins for programs that cannot be had: they write what the real ones are publicly known to write, and no more."""
