"""Components of Razor as the classes that they are: `Pages/Cart.razor` is `Shop.Web.Pages.Cart`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from rag_assets.contracts.graph import NodeType, symbol_key
from rag_assets.languages.csharp.binder.declarations import LANGUAGE, LabelType

if TYPE_CHECKING:
    from rag_assets.languages.csharp.project_files import ProjectDeclaration

_COMPONENT = ("ComponentBase",)
"""What a component derives from that does not say."""


def named_components(
    types: Sequence[LabelType], project_of: Callable[[str], ProjectDeclaration | None]
) -> list[LabelType]:
    """Some types, where components have the namespace that they say, of the class beside them, or of their folder."""
    beside = {(one.path, one.name): one for one in types if one.path.endswith(".razor.cs")}
    return [
        one if one.symbol else _named(one, beside.get((f"{one.path}.cs", one.name)), project_of(one.path))
        for one in types
    ]


def _named(one: LabelType, beside: LabelType | None, project: ProjectDeclaration | None) -> LabelType:
    namespace = one.namespace or (beside.namespace if beside is not None else "")
    if not namespace and project is not None:
        root = project.root_namespace or project.path.rpartition("/")[2].rpartition(".")[0]
        below = one.path.rpartition("/")[0].removeprefix(project.folder).strip("/")
        namespace = re.sub(r"[^\w.]", "_", f"{root}.{below.replace('/', '.')}").strip(".")
    arity = f"`{len(one.type_parameters)}" if one.type_parameters else ""
    symbol = f"{namespace}.{one.name}{arity}".lstrip(".")
    is_told = one.base_list or (beside is not None and beside.base_list)
    return replace(
        one,
        symbol=symbol,
        key=symbol_key(LANGUAGE, symbol, NodeType.TYPE),
        namespace=namespace,
        base_list=one.base_list if is_told else _COMPONENT,
    )
