"""Which names of the standard library Windows lacks, as typeshed (in mypy) says it."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace


def windows_lacks(module: str, name: str) -> bool:
    """Whether Linux or macOS has `module.name` and Windows does not."""
    return name in names(module, "linux") | names(module, "darwin") and name not in names(module, "win32")


def is_not_on_windows(module: str) -> bool:
    """Whether a module is there, but has nothing on Windows (`fcntl`, `pwd`, `resource`)."""
    return bool(names(module, "linux")) and not names(module, "win32")


@cache
def names(module: str, platform: str) -> frozenset[str]:
    """The names that a module of the standard library has on a platform; none of a module without a stub."""
    stub = _stub(module)
    if stub is None:
        return frozenset()
    known = SimpleNamespace(platform=platform, version_info=sys.version_info)
    return frozenset(_defined(ast.parse(stub.read_text(encoding="utf-8")).body, known, module))


def _stub(module: str) -> Path | None:
    found = importlib.util.find_spec("mypy")
    assert found is not None and found.origin is not None, "mypy has typeshed"
    base = Path(found.origin).parent / "typeshed" / "stdlib" / Path(*module.split("."))
    return next((path for path in (base.with_suffix(".pyi"), base / "__init__.pyi") if path.is_file()), None)


def _defined(body: list[ast.stmt], known: SimpleNamespace, module: str) -> Iterator[str]:
    for statement in body:
        match statement:
            case ast.If(test=test):
                holds = eval(compile(ast.Expression(test), module, "eval"), {"sys": known, "TYPE_CHECKING": True})
                yield from _defined(statement.body if holds else statement.orelse, known, module)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name) and target.id != "__all__")
            case ast.ImportFrom(module=origin, names=found) if not (origin or "").startswith(("typing", "_typeshed")):
                # What a stub imports for itself is not re-exported; only names that it gives again are.
                yield from (name.asname for name in found if name.asname is not None)
