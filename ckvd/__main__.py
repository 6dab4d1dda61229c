"""The console script, also `python -m ckvd`: also Ctrl-C while it is imported is no traceback."""

import sys


def main() -> None:
    """As `ckvd.cli.main`."""
    try:
        from ckvd.cli import main as command

        command()
    except KeyboardInterrupt:
        sys.stderr.write("ckvd: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
