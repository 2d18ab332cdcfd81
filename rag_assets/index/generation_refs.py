"""The words by which people name a generation, and the tags that they give to one.

`active`, `previous`, a tag, a generation id or the beginning of one, a commit or the beginning of one; a label alone
means what it serves, and `LABEL:WORD` is a word within one label. A tagged generation is kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from rag_assets.index.generations import (
    GenerationError,
    all_generations,
    build_order,
    is_finished,
    read_generation,
    read_pointer,
)
from rag_assets.index.layout import IndexHome, RecordDamaged, read_record, write_record
from rag_assets.index.locks import pointer_lock

ACTIVE = "active"
PREVIOUS = "previous"
_RESERVED = (ACTIVE, PREVIOUS)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def tags_of(home: IndexHome, label: str) -> dict[str, str]:
    """Name → generation id, by name. Raises GenerationError for a damaged file: what is tagged must not be guessed."""
    path = home.label(label) / "tags.json"
    try:
        found = read_record(path, dict[str, str])
    except FileNotFoundError:
        return {}
    except RecordDamaged as error:
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
    write_record(home.label(label) / "tags.json", tags, order="sorted")


Named = tuple[str, str]
"""(label, generation id)"""

_COMMIT = re.compile(r"[0-9a-f]{4,64}")  # fewer digits are ambiguous in any real history
_COMMIT_IN_ID = 8
_SHOWN = 8


def named_generation(home: IndexHome, labels: Sequence[str], word: str) -> Named:
    """The one generation of `labels` that `word` names. It need not be finished.

    Raises GenerationError where there is none, or several: then it names them.
    """
    label, separator, rest = word.rpartition(":")
    if separator:
        if label not in home.known_labels():
            raise GenerationError(f"no label {label!r}; there are: {', '.join(home.known_labels()) or 'none'}")
        return named_generation(home, [label], rest)
    if word in (ACTIVE, PREVIOUS):
        return _of_pointer(home, labels, word)
    if word in home.known_labels():
        return _of_pointer(home, [word], ACTIVE)
    meanings: tuple[Callable[[str, str], bool], ...] = (
        lambda label, known: tags_of(home, label).get(word) == known,
        lambda _, known: known == word,
        lambda _, known: bool(word) and known.startswith(word),
        partial(_is_commit, home, word.lower()),
    )
    for matches in meanings:
        found = [(label, known) for label in labels for known in all_generations(home, label) if matches(label, known)]
        if found:
            return _only(home, word, found)
    raise GenerationError(
        f"no generation {word!r}: neither a tag nor the beginning of an id or a commit of "
        f"{', '.join(labels) or 'any label'}; it may have been pruned; see: rag-assets generations list"
    )


def _of_pointer(home: IndexHome, labels: Sequence[str], word: str) -> Named:
    if len(labels) != 1:
        raise GenerationError(f"{word!r} of which label? say LABEL:{word} with one of: {', '.join(labels)}")
    pointer = read_pointer(home, labels[0])
    if pointer is None:
        raise GenerationError(f"{labels[0]} serves nothing yet; run: rag-assets index")
    if word == ACTIVE:
        return labels[0], pointer.generation_id
    for known in pointer.former:
        if is_finished(home, labels[0], known):
            return labels[0], known
    raise GenerationError(f"{labels[0]} has no previous generation; see: rag-assets generations list {labels[0]}")


def _only(home: IndexHome, word: str, found: list[Named]) -> Named:
    """Among several builds of one commit with one configuration the newest finished one is meant."""
    if len({(label, build_order(known)[0]) for label, known in found}) == 1:
        return max(found, key=lambda named: (is_finished(home, *named), build_order(named[1])))
    shown = ", ".join(f"{label}:{known}" for label, known in found[:_SHOWN])
    raise GenerationError(f"{word!r} names {len(found)} generations: {shown}; name one of them")


def _is_commit(home: IndexHome, wanted: str, label: str, known: str) -> bool:
    if not _COMMIT.fullmatch(wanted):
        return False
    in_id = known.rsplit("_", 2)[-2:][0]
    if not (in_id.startswith(wanted) or wanted.startswith(in_id)):
        return False
    if len(wanted) <= _COMMIT_IN_ID or not is_finished(home, label, known):
        return True
    return read_generation(home, label, known).manifest.commit_sha.startswith(wanted)
