"""`python -m rigline` and the `rigline` command: answers `--version` before anything else is imported."""

import sys


def main() -> int:
    """Run the command line and return its exit status."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from rigline import __version__

        print(f"rigline {__version__}")
        return 0
    from rigline.cli import main as run_command_line

    return run_command_line(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
