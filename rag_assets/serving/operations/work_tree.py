"""The indexes of a request as the work tree of the client has their files now, where it is in a checkout of them."""

from __future__ import annotations

from rag_assets.errors import WorkTreeError
from rag_assets.index.freshness import branch_of
from rag_assets.search.federated import FederatedIndex
from rag_assets.search.index import LabelIndex, Searchable
from rag_assets.serving.access import Caller


def as_now(target: Searchable, caller: Caller, *, is_named: bool) -> Searchable:
    """`is_named`: the client has named the labels, so they may be of another branch than it works on."""
    if not caller.work_tree:
        return target
    made = [_as_now(index, caller, is_named) for index in target.members.values()]
    if len(made) == 1:
        return made[0]
    return FederatedIndex(made) if any(index.overlay for index in made) else target


def _as_now(index: LabelIndex, caller: Caller, is_named: bool) -> LabelIndex:
    if not index.manifest.is_git:
        return index
    if is_named and caller.folder is not None and branch_of(caller.folder) != index.manifest.ref:
        return index
    try:
        return index.with_work_tree(caller.folder)
    except WorkTreeError:  # the client works elsewhere, or too much differs: the age of the index says how much
        return index
