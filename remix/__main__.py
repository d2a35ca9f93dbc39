"""The command `remix`, which is also `python -m remix`."""

import os
import signal
import sys
from types import FrameType
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line, which answers to Ctrl-C and has all three streams from here on."""
    # What is imported below takes a tenth of a second and has nothing to put back: the process ends at once.
    signal.signal(signal.SIGINT, _stop)
    _open_streams()
    from remix import cli

    cli.main()


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    os.write(2, b"remix: interrupted: nothing was begun\n")
    os._exit(130)


def _open_streams() -> None:
    """Open what the shell closed (`2>&-`) on nothing, so that no file that is written gets the number of a stream."""
    for number, (name, mode) in enumerate([("stdin", "r"), ("stdout", "w"), ("stderr", "w")]):
        try:
            os.fstat(number)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            os.set_inheritable(number, True)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", errors="backslashreplace", closefd=False))  # noqa: SIM115


if __name__ == "__main__":
    main()
