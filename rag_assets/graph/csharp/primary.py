"""Primary constructors and extension blocks: parameters that all members of a type may use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rag_assets.graph.csharp.access import may_use
from rag_assets.graph.csharp.walk import TypeContext, Value, Walk


def with_parameters(walk: Walk, known: Mapping[str, Value], is_block: bool = False) -> TypeContext:
    """The type whose code is read, with the parameters (name → type) that all of it may use: those of its primary
    constructor or, where `is_block`, the receiver of an extension block. In bodies a member hides a parameter of the
    same name, in initialisers it is the other way round (C# 12, primary constructors, simple names)."""
    captured = {name: found for name, found in known.items() if is_block or not _is_member(walk, name)}
    return replace(walk.type, given=dict(known), captured=captured)


def given_elsewhere(walk: Walk) -> dict[str, Value]:
    """The parameters of the primary constructor that another part of the type declares; none where no part does."""
    this = walk.type.this
    constructors = walk.names.constructors(this.name) if this is not None else ()
    primary = next((found for found in constructors if not found.key), None)
    return {entry.name: entry.type if entry.type.name else None for entry in primary.parameters} if primary else {}


def _is_member(walk: Walk, name: str) -> bool:
    this = walk.type.this
    return this is not None and any(may_use(walk, found) for found in walk.names.find(this.name, name))
