"""What of a module can run on Windows: branches of `sys.platform`, `os.name` and `hasattr` that Windows does not take
are left out, with what follows a branch that it leaves by."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rag_assets_tests.windows.platform_names import names

_CAUGHT = {"AttributeError", "ImportError", "ModuleNotFoundError"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


class ReachableOnWindows:
    """The nodes of a module that Windows may execute. Private functions that only unreachable code names are not."""

    def __init__(self, tree: ast.Module) -> None:
        self._constants = dict(_constants(tree))
        self._functions = {
            node.name: node for node in ast.walk(tree) if isinstance(node, Function) and node.name.startswith("_")
        }
        self._dead: set[str] = set()
        while True:
            self.nodes = list(self._block(tree.body))
            named = {node.id for node in self.nodes if isinstance(node, ast.Name)}
            named |= {node.attr for node in self.nodes if isinstance(node, ast.Attribute)}
            dead = {name for name in self._functions if not name.startswith("__") and name not in named}
            if dead <= self._dead:
                return
            self._dead |= dead

    def _block(self, body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
        for statement in body:
            if isinstance(statement, Function) and statement.name in self._dead:
                continue
            yield from self._node(statement)
            if isinstance(statement, ast.If):
                taken = {True: statement.body, False: statement.orelse}.get(self._holds(statement.test))  # type: ignore[call-overload]
                if taken and isinstance(taken[-1], ast.Return | ast.Raise | ast.Continue | ast.Break):
                    return

    def _node(self, node: ast.AST) -> Iterator[ast.AST]:
        yield node
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                holds = self._holds(test)
                yield from self._node(test)
                yield from () if holds is False else self._block(body)
                yield from () if holds is True else self._block(orelse)
            case ast.IfExp(test=test, body=first, orelse=second):
                holds = self._holds(test)
                yield from self._node(test)
                yield from () if holds is False else self._node(first)
                yield from () if holds is True else self._node(second)
            case ast.BoolOp(op=op, values=values):
                for value in values:
                    yield from self._node(value)
                    if self._holds(value) is isinstance(op, ast.Or):
                        return
            case ast.Try(handlers=handlers) if any(_catches(handler) for handler in handlers):
                for part in (*handlers, *node.orelse, *node.finalbody):
                    yield from self._node(part)
            case _:
                for field in ast.iter_fields(node):
                    match field[1]:
                        case [ast.stmt(), *_] as body:
                            yield from self._block(body)
                        case list() as items:
                            for item in items:
                                if isinstance(item, ast.AST):
                                    yield from self._node(item)
                        case ast.AST() as child:
                            yield from self._node(child)

    def _holds(self, test: ast.expr) -> bool | None:
        """What a condition is on Windows; None where that depends on more."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self._holds(operand)
                return None if inner is None else not inner
            case ast.BoolOp(op=op, values=values):
                found = [self._holds(value) for value in values]
                decisive = isinstance(op, ast.Or)
                return decisive if decisive in found else None if None in found else not decisive
            case ast.Name(id=name) if name in self._constants:
                return self._holds(self._constants[name])
            case ast.Call(func=ast.Name(id=name), args=[]) if name in self._constants:
                return self._holds(self._constants[name])
            case ast.Compare(left=left, ops=[op], comparators=[ast.Constant(value=str(value))]):
                here = {"sys.platform": "win32", "os.name": "nt", "platform.system()": "Windows"}.get(ast.unparse(left))
                return None if here is None else (here == value) is isinstance(op, ast.Eq)
            case ast.Call(func=ast.Name(id="hasattr"), args=[ast.Name(id=module), ast.Constant(value=str(name))]):
                return name in names(module, "win32") if names(module, "linux") else None
        return None


def _constants(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Names of the module with the expression that they are, and functions with the only one that they return."""
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.FunctionDef(name=name, body=[ast.Return(value=ast.expr() as value)]):
                yield name, value
            case ast.FunctionDef(name=name, body=[ast.Expr(), ast.Return(value=ast.expr() as value)]):
                yield name, value


def _catches(handler: ast.ExceptHandler) -> bool:
    return handler.type is not None and bool(_CAUGHT & {ast.unparse(part) for part in ast.walk(handler.type)})  # type: ignore[arg-type]
