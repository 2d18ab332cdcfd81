"""Errors at one place: the expected ones as one line with the next command, the others with where the trace is."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from typing import Any

import typer
from typer.core import TyperGroup

from rag_assets.contracts.errors import ExpectedError, WrongUsage, is_panic
from rag_assets.interfaces.cli.output import Output, wants_color
from rag_assets.interfaces.cli.session import Session

FAILURE = 1
USAGE = 2
GATE_FAILED = 3
NOTHING_FOUND = 4
INTERRUPTED = 130  # 128 + SIGINT, as shells report it
_DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_NOT_WRITABLE = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_BROKEN_PIPE = 141  # 128 + SIGPIPE, what every other program in a pipe reports


class CommandError(ExpectedError):
    """A command that cannot do what was asked, for a reason the user can act on."""


class ReportedGroup(TyperGroup):
    """The top-level group; every error of every command passes here."""

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except (typer.Exit, typer.Abort, typer.TyperException):
            raise  # wrong usage and deliberate ends: typer shows them
        except KeyboardInterrupt:
            _output(ctx).note("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            _leave_pipe()
            raise typer.Exit(_BROKEN_PIPE) from None
        except BaseException as error:
            if not isinstance(error, Exception) and not is_panic(error):
                raise
            _show(ctx, error)
            raise typer.Exit(USAGE if isinstance(error, WrongUsage) else FAILURE) from None


def describe(error: BaseException) -> str:
    """One line for people: what failed, why, and what helps where we know it."""
    if isinstance(error, ExpectedError):
        return str(error)
    if isinstance(error, OSError):
        return describe_os_error(error)
    return f"unexpected {type(error).__name__}: {error}; to see where, run it again as: rag-assets --debug …"


def describe_os_error(error: OSError) -> str:
    """The path, what the system says, and what helps where we know it."""
    said = error.strerror or str(error)
    where = f"{error.filename}: " if error.filename else ""
    if error.errno in _DISK_FULL:
        return f"{where}{said}; free some space, or choose another place with --home"
    if error.errno in _NOT_WRITABLE:
        return f"{where}{said}; make it writable, or choose another place with --home"
    return f"{where}{said}"


def _show(ctx: Any, error: BaseException) -> None:
    output = _output(ctx)
    if isinstance(ctx.obj, Session) and ctx.obj.debug:
        output.note("".join(traceback.format_exception(error)).rstrip())
    output.error(describe(error))


def _output(ctx: Any) -> Output:
    return ctx.obj.output if isinstance(ctx.obj, Session) else Output(color=wants_color())


def _leave_pipe() -> None:
    """The reader has gone. What is still buffered goes nowhere, or Python complains about it at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
