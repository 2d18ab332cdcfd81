"""Names that people give to generations of a label: a tagged generation is kept."""

from __future__ import annotations

import re

import msgspec

from rag_assets.index.generations import GenerationError, read_generation
from rag_assets.index.layout import IndexHome, write_atomically
from rag_assets.index.locks import pointer_lock
from rag_assets.serialization import from_json

ACTIVE = "active"
PREVIOUS = "previous"
_RESERVED = (ACTIVE, PREVIOUS)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def tags_of(home: IndexHome, label: str) -> dict[str, str]:
    """Name → generation id, by name. Raises GenerationError for a damaged file: what is tagged must not be guessed."""
    path = home.label(label) / "tags.json"
    try:
        found = from_json(path.read_bytes(), dict[str, str])
    except FileNotFoundError:
        return {}
    except msgspec.DecodeError as error:
        raise GenerationError(f"{path} is damaged: {error}; repair it, or delete it to lose the tags") from error
    return dict(sorted(found.items()))


def tag(home: IndexHome, label: str, generation_id: str, name: str) -> None:
    """Tags a finished generation. Raises GenerationError for an unusable name or one that another generation has."""
    if not _NAME.fullmatch(name) or name.lower() in _RESERVED:
        raise GenerationError(
            f"not a tag: {name!r}; use up to 64 letters, digits, dots, dashes and underscores, "
            f"and not {' or '.join(_RESERVED)}"
        )
    with pointer_lock(home, label):
        read_generation(home, label, generation_id)
        tags = tags_of(home, label)
        holder = tags.get(name, generation_id)
        if holder != generation_id:
            raise GenerationError(
                f"tag {name!r} of {label} is on {holder}; free it with: rag-assets generations untag {name} -l {label}"
            )
        _write(home, label, tags | {name: generation_id})


def untag(home: IndexHome, label: str, name: str) -> str:
    """Removes a tag and returns the generation it was on. Raises GenerationError naming the tags there are."""
    with pointer_lock(home, label):
        tags = tags_of(home, label)
        if name not in tags:
            raise GenerationError(f"{label} has no tag {name!r}; there are: {', '.join(tags) or 'none'}")
        generation_id = tags.pop(name)
        _write(home, label, tags)
    return generation_id


def _write(home: IndexHome, label: str, tags: dict[str, str]) -> None:
    write_atomically(home.label(label) / "tags.json", msgspec.json.encode(tags, order="sorted"))
