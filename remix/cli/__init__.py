"""The command line: one module a verb, found by scanning; each verb is one call into the library."""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import os
import pkgutil
import resource
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, TextIO, cast

import click

from remix._version import __version__
from remix.cells import spell_out
from remix.errors import Error, Faults, is_panic, nearest
from remix.resources import entry_points

_MOMENT = 0.5
"""Seconds that threads have to end when a process does."""


class Verbs(click.Group):
    """The verbs, imported only when they are asked for: `remix/cli/<verb>.py` holds `command`.

    A verb of the pipeline says in `AFTER` which verb it comes after in the help, the first of all ''; the others
    follow by name. Other distributions add verbs by entry points of the group `remix.cli`, whose names are those of the
    verbs and which name a module with `command`.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all verbs, in the order of the help."""
        return _in_order({name: getattr(self._module(name), "AFTER", None) for name in self._names()})

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return the verb of that name."""
        if name not in self._own() and name not in self._names():
            return None
        command = self._module(name).command
        assert isinstance(command, click.Command)
        return command

    def _own(self) -> set[str]:
        return {module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")}

    def _names(self) -> list[str]:
        return sorted(self._own() | entry_points(__name__).names)

    def _module(self, name: str) -> Any:
        added = () if name in self._own() else entry_points(__name__).select(name=name)
        return next((each.load() for each in added), None) or importlib.import_module(f"{__name__}.{name}")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the verb that the arguments begin with; an unknown one is answered with the nearest."""
        if args and not args[0].startswith("-") and args[0] not in self._own() and args[0] not in self._names():
            raise click.UsageError(f"no verb named '{args[0]}'{nearest(args[0], self._names())}", ctx)
        return super().resolve_command(ctx, args)


def _in_order(before: Mapping[str, str | None]) -> list[str]:
    """Return verbs, each behind the one that it comes after; those that come after none are the last, by name.

    >>> _in_order({"build": "load", "load": "", "stats": "load", "drop": None, "serve": "build"})
    ['load', 'build', 'serve', 'stats', 'drop']
    """
    found, left = [], [""]
    while left:
        found.append(verb := left.pop())
        left += sorted((name for name, other in before.items() if other == verb), reverse=True)
    return found[1:] + sorted(set(before) - set(found))


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.option("--quiet", is_flag=True, help="No progress on standard error.")
@click.version_option(__version__, prog_name="remix")
@click.pass_context
def cli(ctx: click.Context, debug: bool, quiet: bool) -> None:
    """Carve focused entity-linking benchmarks out of any dataset with SPARQL, and score systems on them.

    \b
    Example:
      remix build --query persons_hard.rq
    """
    from remix import progress

    ctx.with_resource(progress.enable(not quiet))


def main() -> NoReturn:
    """Run the command line as a process of its own; errors end in one line on standard error and their exit code."""
    # Nearly all that is imported and made stays to the end, where the process is over anyway: looking for garbage in
    # it takes a sixth of the time of a short run.
    gc.set_threshold(100_000)
    atexit.register(_freeze)
    _save_addresses()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # help and notes have letters that not every locale has
            stream.reconfigure(errors="backslashreplace")
    sys.stdout, sys.stderr = cast(TextIO, _Screen(sys.stdout)), cast(TextIO, _Notes(sys.stderr))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        carry_out(sys.argv[1:])
    finally:
        # All is done and told: an interruption while Python ends only ends it sooner, and what has left (`leave`) hears
        # of none.
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


class _Screen:
    """A stream of text for people: what a file holds never steers their terminal (see `remix.cells.spell_out`)."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text with what would steer a terminal spelt out."""
        return self._stream.write(spell_out(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Notes(_Screen):
    """Standard error: that nobody can read a note any more is no reason to stop what it speaks of."""

    def write(self, text: str) -> int:
        """Write a text where that is possible."""
        with contextlib.suppress(OSError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        """Write what is held back where that is possible."""
        with contextlib.suppress(OSError):
            self._stream.flush()


_INTERRUPTED = "interrupted: what was finished stays, all else is as it was"


def _is_of_interrupt(error: BaseException) -> bool:
    """Return whether an error is what a library made of an interrupt, as while it is imported.

    >>> _is_of_interrupt(ImportError("no numpy")), _is_of_interrupt(RuntimeError("import ended: KeyboardInterrupt: "))
    (False, True)
    """
    found: BaseException | None = error
    while found is not None and not isinstance(found, Error):
        if isinstance(found, KeyboardInterrupt) or "KeyboardInterrupt" in str(found):
            return True
        found = found.__cause__ or found.__context__
    return False


def carry_out(arguments: Sequence[str]) -> NoReturn:
    """Run a verb with its arguments; ends in `SystemExit` with the exit code, after one line for an error."""
    # `remix --debug …` and `remix … --debug` are the same to a user.
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    try:
        code = cli.main(arguments, prog_name="remix", standalone_mode=False) or 0
        sys.stdout.flush()
        sys.exit(code)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.ClickException as error:
        verb = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "remix"
        _end(f"{error.format_message().rstrip('.')}; `{verb} --help` shows what there is", error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _end(_INTERRUPTED, 130)
    except BrokenPipeError:
        _end("", 0)
    except BaseException as error:
        if debug or not (isinstance(error, Exception) or is_panic(error)):
            raise
        if _is_of_interrupt(error):
            _end(_INTERRUPTED, 130)
        from remix.files import readable

        odd = next((argument for argument in arguments if readable(argument) != argument), None)
        if odd is not None and not isinstance(error, Error | OSError):
            _end(f"'{readable(odd)}' is not written in UTF-8, which is needed here: write or name it in UTF-8", 2)
        _end(_line(error), error.exit_code if isinstance(error, Error) else 1)


def _save_addresses() -> None:
    """Keep to one arena of memory where the user limits the addresses of a process (`ulimit -v`), as for a query's.

    The C library else reserves up to 128 MiB of addresses for each thread that allocates while another does, of which
    the store and polars start a dozen: within 1 GiB they ended the process at random.
    """
    if sys.platform == "linux" and resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
        import ctypes

        arenas = -8  # M_ARENA_MAX of <malloc.h>
        if (choose := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:  # not every C library has arenas
            choose(arenas, 1)


def _freeze() -> None:
    if "duckdb" not in sys.modules:  # which would print that its objects were never freed
        gc.freeze()


def _end(line: str, code: int) -> NoReturn:
    """Exit with one line on standard error; what standard output still holds back is lost if it cannot be written."""
    if line:
        print(f"remix: {line}", file=sys.stderr)
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def leave() -> None:
    """End the process, where threads of it still compute what nobody waits for: Python would wait until they are done.

    Those that are about to end have a moment for it. A further signal would only end the end.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    until = time.monotonic() + _MOMENT
    others = [one for one in threading.enumerate() if one is not threading.main_thread() and not one.daemon]
    for one in others:
        one.join(max(0.0, until - time.monotonic()))
    if any(one.is_alive() for one in others):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _line(error: BaseException) -> str:
    """Return what went wrong in a line, or a line for each of several faults; what is no error of remix is a defect."""
    if isinstance(error, Faults):
        return "\n".join(" ".join(line.split()) for line in str(error).splitlines())
    said = " ".join(str(error).split())
    if isinstance(error, Error):
        return said
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'the output'}: {error.strerror}"
    if isinstance(error, MemoryError):
        return "there is not enough memory for this: name fewer datasets, or a smaller file"
    return f"{type(error).__name__}: {said}; this is a defect of remix: please report it with what --debug shows"
