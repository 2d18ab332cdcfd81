"""Python's own start file: the package sees what Windows has, while Python and the libraries go on as they are.

RAG_TESTS_WINDOWS names a JSON file with what Windows lacks, and a file that takes down what Windows would refuse. The
package gets other views of modules of the standard library. An audit hook refuses to remove or rename a file that is
open, and takes down names that no file of Windows may have.
"""

# What pathlib calls is looked at here.
# ruff: noqa: PTH109, PTH112, PTH115, PTH117, PTH118, PTH123, PTH208

from __future__ import annotations

import builtins
import json
import os
import re
import sys
import types
from typing import Any

_RESERVED = re.compile(r"(?i)(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?")
_FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f]|[. ]$')
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_THEIRS = ("/proc/", "/sys/", "/dev/null")
_OVERRIDDEN: dict[str, dict[str, Any]] = {
    "os": {"name": "nt", "sep": "\\", "altsep": "/", "linesep": "\r\n", "pathsep": ";"},
    "sys": {"platform": "win32"},
    "platform": {"system": lambda: "Windows"},
    "multiprocessing": {"get_all_start_methods": lambda: ["spawn"]},
}


def is_windows_name(name: str) -> bool:
    return not (_RESERVED.fullmatch(name) or _FORBIDDEN.search(name))


class _View(types.ModuleType):
    """A module without what Windows lacks."""

    def __init__(self, module: types.ModuleType, lacking: list[str]) -> None:
        super().__init__(module.__name__)
        self.__dict__.update(_module=module, _lacking=frozenset(lacking), _own=_OVERRIDDEN.get(module.__name__, {}))

    def __getattr__(self, name: str) -> Any:
        known = self.__dict__
        if name in known["_lacking"]:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r} on Windows")
        return known["_own"][name] if name in known["_own"] else getattr(known["_module"], name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self.__dict__["_module"], name, value)


def _see_windows(lacking: dict[str, list[str]], missing: list[str]) -> None:
    """From now on the modules of the package import views."""
    views: dict[str, _View] = {}
    really = builtins.__import__

    def imported(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:  # noqa: A002
        asking = str((globals or {}).get("__name__", ""))
        if not asking.startswith("rag_assets") or level:
            return really(name, globals, locals, fromlist, level)
        if name in missing:
            raise ModuleNotFoundError(f"No module named {name!r} on Windows", name=name)
        found = really(name, globals, locals, fromlist, level)
        if found.__name__ not in lacking:
            return found
        if found.__name__ not in views:
            views[found.__name__] = _View(found, lacking[found.__name__])
        return views[found.__name__]

    builtins.__import__ = imported


def _refuse_as_windows(log: str) -> None:
    """An open file keeps its name and its folder."""
    told = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def note(what: str) -> None:
        os.write(told, f"{what}\n".encode())

    def full(path: Any, folder: Any = -1) -> str:
        text = os.fsdecode(path)
        if not os.path.isabs(text):
            at = os.readlink(f"/proc/self/fd/{folder}") if isinstance(folder, int) and folder >= 0 else os.getcwd()
            text = os.path.join(at, text)
        return os.path.normpath(text)

    def opened() -> set[str]:
        found = set()
        for number in os.listdir("/proc/self/fd"):
            try:
                found.add(os.readlink(f"/proc/self/fd/{number}"))
            except OSError:
                continue
        return found

    def require_closed(path: str, event: str) -> None:
        held = [name for name in opened() if name == path or (event == "os.rename" and name.startswith(f"{path}/"))]
        if held and not os.path.isdir(held[0]):
            note(f"{event} of {path} while {held[0]} is open")
            raise PermissionError(13, "Access is denied", path)

    def require_name(path: str) -> None:
        if path.startswith(_THEIRS):
            return
        for part in path.split("/"):
            if part and not is_windows_name(part):
                note(f"no file of Windows may be called {part!r}: {path}")

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes | os.PathLike) and (arguments[2] or 0) & _WRITES:
            require_name(full(arguments[0]))
        elif event == "os.mkdir":
            require_name(full(arguments[0], arguments[2]))
        elif event == "os.remove":
            require_closed(full(arguments[0], arguments[1]), event)
        elif event == "os.rename":
            require_closed(full(arguments[0], arguments[2]), event)
            require_closed(full(arguments[1], arguments[3]), event)
            require_name(full(arguments[1], arguments[3]))

    sys.addaudithook(hook)


if "RAG_TESTS_WINDOWS" in os.environ:
    with open(os.environ["RAG_TESTS_WINDOWS"], encoding="utf-8") as _file:
        _plan = json.load(_file)
    _see_windows(_plan["lacking"], _plan["missing"])
    _refuse_as_windows(_plan["log"])
