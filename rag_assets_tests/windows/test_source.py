"""No module of the package names, where Windows would execute it, what Windows does not have."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import rag_assets
from rag_assets_tests.windows.platform_names import is_not_on_windows, windows_lacks
from rag_assets_tests.windows.reachable import ReachableOnWindows

_PACKAGE = Path(rag_assets.__file__).parent

_ELSEWHERE = {("os", "kill"), ("os", "rename"), ("socket", "SO_REUSEADDR")}
"""What Windows has, but does otherwise: it ends the process, refuses a name that is taken (`os.replace` does not), and
lets two processes listen at one port."""
_METHODS = {"rename", "add_signal_handler", "owner", "madvise"}
_ARGUMENTS = {"preexec_fn", "pass_fds"}
_COPIES = {"fork", "forkserver"}
_TEXT = {"read_text": 0, "write_text": 1}
"""Methods of paths, and which argument is the encoding: Windows reads and writes its code page where there is none."""
_UNPADDED = re.compile(r"%-[a-zA-Z]")


def problems(source: str | ast.Module) -> list[str]:
    """What Windows lacks or does otherwise, `line: what`."""
    tree = ast.parse(source) if isinstance(source, str) else source
    everything = list(ast.walk(tree))
    modules = {
        name.asname or name.name: name.name
        for node in everything
        if isinstance(node, ast.Import)
        for name in node.names
    }
    if not any(found for node in everything for found in _problems(node, modules)):
        return []  # most modules, and to follow all branches takes ten times as long
    nodes = ReachableOnWindows(tree).nodes
    return [f"{getattr(node, 'lineno', 0)}: {what}" for node in nodes for what in _problems(node, modules)]


def _problems(node: ast.AST, modules: dict[str, str]) -> Iterator[str]:
    match node:
        case ast.Import(names=found):
            yield from (f"import {name.name}" for name in found if is_not_on_windows(name.name))
        case ast.ImportFrom(module=str(module), names=found):
            for name in found:
                if _is_lacking(module, name.name):
                    yield f"from {module} import {name.name}"
        case ast.Attribute(value=ast.Name(id=alias), attr=name) if _is_lacking(modules.get(alias, ""), name):
            yield f"{alias}.{name}"
        case ast.Call():
            yield from _problems_of_call(node, modules)
        case ast.Constant(value=str(text)) if _UNPADDED.search(text):
            yield f"{text!r}: only the C library of Linux and macOS leaves zeros out"


def _is_lacking(module: str, name: str) -> bool:
    return (module, name) in _ELSEWHERE or windows_lacks(module, name) or is_not_on_windows(module)


def _problems_of_call(call: ast.Call, modules: dict[str, str]) -> Iterator[str]:
    keywords = {word.arg: word.value for word in call.keywords}
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    of_module = isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", None) in modules
    yield from (f"{word}=" for word in _ARGUMENTS & keywords.keys())
    first = call.args[0] if call.args else None
    if name in ("get_context", "set_start_method") and isinstance(first, ast.Constant) and first.value in _COPIES:
        yield f"{name}({first.value!r})"
    if name in _METHODS and isinstance(call.func, ast.Attribute) and not of_module:
        yield f".{name}()"
    if "encoding" in keywords:
        return
    if name in _TEXT and len(call.args) <= _TEXT[name]:
        yield f"{name}() without an encoding"
    if name in ("run", "Popen", "check_output", "call") and {"text", "universal_newlines"} & keywords.keys():
        yield f"{name}(text=True) without an encoding"
    if name in ("NamedTemporaryFile", "TemporaryFile", "fdopen", "TextIOWrapper", "open") and _is_text(
        call, keywords, of_module=of_module
    ):
        yield f"{name}() without an encoding"


def _is_text(call: ast.Call, keywords: dict[str | None, ast.expr], *, of_module: bool) -> bool:
    """Whether a call that opens a file opens it as text: by its mode, where there is one to see."""
    given = [*call.args, *(value for word, value in keywords.items() if word == "mode")]
    modes = [part.value for part in given if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    if isinstance(call.func, ast.Name) and call.func.id == "open":
        return not any("b" in mode for mode in modes[-1:])
    if isinstance(call.func, ast.Attribute) and call.func.attr == "open" and not of_module:
        # Also methods of archives, databases and our classes: text is what has no argument, or a mode of text.
        return not (call.args or keywords) or any(re.fullmatch("[rwax]t?[+]?", mode) for mode in modes[:1])
    return any(re.fullmatch("[rwax]t?[+]?", mode) for mode in modes[1:])


_FILES = sorted(_PACKAGE.rglob("*.py"))


def test_the_package_names_nothing_that_windows_lacks() -> None:
    found = {
        path.relative_to(_PACKAGE).as_posix(): said for path in _FILES if (said := problems(path.read_text("utf-8")))
    }
    assert len(_FILES) > 500
    assert found == {}, found


def test_the_tests_can_be_collected_there() -> None:
    found = {}
    for path in sorted({*Path(__file__).parents[1].rglob("*.py")} - {Path(__file__)}):
        tree = ast.parse(path.read_text("utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                node.body = [ast.Pass()]  # what runs when it is called
        if said := [what for what in problems(tree) if "encoding" not in what]:
            found[path.name] = said
    assert found == {}, found


@pytest.mark.parametrize(
    "source",
    [
        "import os\nos.fork()",
        "import os\nos.open('a', os.O_NOFOLLOW)",
        "import os\nos.open('a', os.O_DIRECTORY | os.O_CLOEXEC)",
        "import fcntl",
        "def f():\n    import resource",
        "from pwd import getpwuid",
        "import signal\nsignal.signal(signal.SIGHUP, print)",
        "import signal as s\ns.SIGKILL",
        "import os\nos.getuid()",
        "import os\nos.chown('a', 1, 1)",
        "import os\nos.mkfifo('a')",
        "import os\nos.kill(1, 9)",
        "import socket\nsocket.AF_UNIX",
        "import os\nos.rename('a', 'b')",
        "path.rename('b')",
        "import subprocess\nsubprocess.Popen('a', preexec_fn=print)",
        "import subprocess\nsubprocess.run('a', text=True)",
        "import multiprocessing\nmultiprocessing.get_context('fork')",
        "open('a')",
        "path.open()",
        "path.open('w')",
        "path.read_text()",
        "path.write_text('a')",
        "day.strftime('%-d %B')",
        "f'{day:%-d}'",
        "import os, sys\nif sys.platform == 'win32':\n    os.getuid()",
        "import os, sys\nif sys.platform != 'win32':\n    pass\nelse:\n    os.getuid()",
        "import os\ndef _f():\n    os.getuid()\n_f()",
        "import os\ntry:\n    pass\nexcept AttributeError:\n    os.getuid()",
    ],
)
def test_what_windows_lacks_is_found(source: str) -> None:
    assert problems(source), source


@pytest.mark.parametrize(
    "source",
    [
        "import os\nif hasattr(os, 'fork'):\n    os.fork()",
        "import os\nos.open('a', getattr(os, 'O_NOFOLLOW', 0) | os.O_RDONLY)",
        "import os, sys\nif sys.platform != 'win32':\n    os.getuid()",
        "import os, sys\nmine = sys.platform == 'linux' and os.getuid()",
        "import os\nmine = os.getuid() if os.name == 'posix' else 0",
        "import os, sys\ndef f():\n    if sys.platform == 'win32':\n        return 0\n    return os.getuid()",
        "import signal\n_CAN = hasattr(signal, 'setitimer')\ndef f():\n    if not _CAN:\n        return\n"
        "    signal.setitimer(signal.ITIMER_REAL, 1)",
        "import os, sys\ndef _f():\n    os.getuid()\nif sys.platform == 'linux':\n    _f()",
        "import os\ntry:\n    os.getuid()\nexcept AttributeError:\n    pass",
        "try:\n    import readline\nexcept ImportError:\n    pass",
        "path.open('rb')\npath.open(encoding='utf-8')\npath.read_text('utf-8')\nindex.open(home)",
        "path.replace('b')",
        "day.strftime('%d %B')",
    ],
)
def test_what_windows_does_not_reach_is_let_through(source: str) -> None:
    assert problems(source) == []
