"""Question sets that others wrote, as items of our own form. Pure.

- *history*: one object a line with `id`, `query` and `relevant`; `repo` and `snapshot_rev` say of what, `type` and
  `leaky` divide the set, `commit` is the one whose subject the question is. `eval mine` writes it.
- *annotated*: an array of objects with `query`, `relevant`, `secondary` and `category`. The secondary answers count as
  much as the others, as in the numbers that are published for such sets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

LEAKY, FAIR = "leaky", "non-leaky"
"""Tags of a question that names its answer, and of one that does not in a set that tells the two apart."""

_HISTORY = ("id", "query", "relevant", "repo", "snapshot_rev", "type", "leaky", "commit")
_ANNOTATED = ("query", "relevant", "secondary", "category")

Item = dict[Any, Any]


def is_foreign(item: Mapping[Any, Any]) -> bool:
    """True for an item of one of the forms above: theirs is a query, ours a question."""
    return "query" in item and "question" not in item


def keys_of(item: Mapping[Any, Any]) -> tuple[str, ...]:
    """The keys that the form of a foreign item has."""
    return _HISTORY if "id" in item else _ANNOTATED


def translated(item: Item, set_name: str, number: int) -> Item:
    """A foreign item in our own form; `number` is its place in the file, from 1, which names what has no id. Values
    are taken as they are: whoever reads our form says what is wrong with them."""
    made: Callable[[Item], Item] = _history if "id" in item else _annotated
    found = made(item) | {"question": item["query"]}
    return {"id": f"{set_name}#{number}"} | found


def _history(item: Item) -> Item:
    moved = {"id": "id", "relevant": "relevant", "repo": "repository", "snapshot_rev": "revision", "commit": "commit"}
    found = {ours: item[theirs] for theirs, ours in moved.items() if theirs in item}
    tags = [item["type"]] if "type" in item else []
    if "leaky" in item:
        tags.append(LEAKY if item["leaky"] is True else FAIR)
    return found | {"tags": tags}


def _annotated(item: Item) -> Item:
    answers = item.get("relevant")
    more = item.get("secondary", [])
    if isinstance(answers, list) and isinstance(more, list):
        answers = [*answers, *more]
    return {"relevant": answers, "tags": [item["category"]] if "category" in item else []}
