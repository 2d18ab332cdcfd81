"""Finding and masking credentials before a text is stored."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any


def masked(value: Any) -> Any:
    """A text that is kept, or a plain value of lists and objects with texts, without credentials: what conversations,
    traces, the query log, runs of question sets and recorded replies are made of. Lengths stay."""
    if isinstance(value, str):
        # Half of what a question without a log loads; a process that keeps nothing needs no rules.
        from rag_assets.sources.secrets.redaction import redact

        return redact(value, "").text
    if isinstance(value, dict):
        return {masked(name): masked(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [masked(item) for item in value]
    return value


def masked_paths(paths: Sequence[str]) -> list[str]:
    """The paths, in their order, without credentials in the names of files and folders."""
    return list(_masked_paths(tuple(paths)))


@lru_cache(maxsize=1)  # of the files of one tree, which are looked at and whose past is read
def _masked_paths(paths: tuple[str, ...]) -> list[str]:
    joined = "\n".join(paths).replace("/", "\n")  # a name ends with its line
    whole = masked(joined)
    if whole == joined:
        return list(paths)
    return [masked(path.replace("/", "\n")).replace("\n", "/") for path in paths]
