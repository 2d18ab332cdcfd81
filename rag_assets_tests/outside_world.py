"""Takes the outside world away from code that claims to be pure: files, network, processes, clock, randomness.

What the interpreter does itself is watched through audit events, which no alias and no C code gets around; what has
no audit event (clocks, random numbers, the environment) is replaced for the time being.
"""

from __future__ import annotations

import datetime
import os
import random
import secrets
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any, NoReturn
from unittest import mock


class Impure(AssertionError):
    """Pure code reached for the outside world; the text says how."""


_AUDITED = ("open", "os.", "socket.", "subprocess.", "shutil.", "tempfile.", "glob.", "urllib.", "sqlite3.", "ctypes.")
_REPLACED: tuple[tuple[ModuleType, tuple[str, ...]], ...] = (
    (os, ("urandom", "getenv", "stat", "getcwd", "getpid")),
    (time, ("time", "monotonic", "perf_counter", "process_time", "gmtime", "localtime")),
    (time, ("time_ns", "monotonic_ns", "perf_counter_ns", "sleep")),
    (random, ("random", "randint", "randrange", "choice", "choices", "shuffle", "sample", "uniform", "getrandbits")),
    (random, ("Random", "SystemRandom")),
    (secrets, ("token_bytes", "token_hex", "token_urlsafe", "choice", "randbelow")),
    (uuid, ("uuid1", "uuid4")),
)

_reached: list[str] | None = None


def _forbidden(what: str) -> NoReturn:
    if _reached is not None:
        _reached.append(what)
    raise Impure(f"pure code reached for the outside world: {what}")


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if _reached is not None and event.startswith(_AUDITED) and not _importing(sys._getframe(1)):
        _forbidden(f"{event} {arguments[:1]}")


def _importing(frame: FrameType | None) -> bool:
    """A module that is imported late is read from disk by the import system, which changes no result."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


class _NoClock(datetime.datetime):
    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> NoReturn:
        _forbidden("datetime.now")

    @classmethod
    def utcnow(cls) -> NoReturn:
        _forbidden("datetime.utcnow")

    @classmethod
    def today(cls) -> NoReturn:
        _forbidden("datetime.today")


class _NoEnvironment(Mapping[str, str]):
    def __getitem__(self, key: str) -> NoReturn:
        _forbidden(f"environment variable {key}")

    def __iter__(self) -> NoReturn:
        _forbidden("the environment")

    def __len__(self) -> NoReturn:
        _forbidden("the environment")


@contextmanager
def forbidden() -> Iterator[None]:
    """Within it, reaching for the outside world raises Impure; also at its end, where the code swallowed that."""
    global _reached
    reached: list[str] = []
    with mock.patch.multiple(os, environ=_NoEnvironment()), _replaced():
        _reached = reached
        try:
            yield
        finally:
            _reached = None
    if reached:
        raise Impure(f"pure code reached for the outside world: {', '.join(dict.fromkeys(reached))}")


@contextmanager
def _replaced() -> Iterator[None]:
    patches: list[Any] = [
        mock.patch.object(module, name, _refusing(f"{module.__name__}.{name}"))
        for module, names in _REPLACED
        for name in names
    ]
    # `from time import time` and `from datetime import datetime` bind early: look where they are bound.
    originals = {
        id(getattr(module, name)): f"{module.__name__}.{name}" for module, names in _REPLACED for name in names
    }
    for module in [found for name, found in sys.modules.items() if name.split(".")[0] == "rag_assets"]:
        for name, value in list(vars(module).items()):
            if value is datetime.datetime:
                patches.append(mock.patch.object(module, name, _NoClock))
            elif id(value) in originals:
                patches.append(mock.patch.object(module, name, _refusing(originals[id(value)])))
    for patch in patches:
        patch.start()
    try:
        yield
    finally:
        for patch in reversed(patches):
            patch.stop()


def _refusing(what: str) -> Any:
    def refuse(*arguments: object, **named: object) -> NoReturn:
        _forbidden(what)

    return refuse


sys.addaudithook(_watch)
