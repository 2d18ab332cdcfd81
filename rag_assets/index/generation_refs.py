"""What the words mean by which people name a generation.

`active`, `previous`, a tag, a generation id or the beginning of one, a commit or the beginning of one; a label alone
means what it serves, and `LABEL:WORD` is a word within one label.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rag_assets.index.generations import (
    GenerationError,
    all_generations,
    build_order,
    is_finished,
    read_generation,
    read_pointer,
)
from rag_assets.index.layout import IndexHome
from rag_assets.index.tags import ACTIVE, PREVIOUS, tags_of

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
    for matches in (_is_tag(home, word), _is_id(word), _starts_id(word), _is_commit(home, word)):
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


def _is_tag(home: IndexHome, word: str) -> Callable[[str, str], bool]:
    return lambda label, known: tags_of(home, label).get(word) == known


def _is_id(word: str) -> Callable[[str, str], bool]:
    return lambda _, known: known == word


def _starts_id(word: str) -> Callable[[str, str], bool]:
    return lambda _, known: bool(word) and known.startswith(word)


def _is_commit(home: IndexHome, word: str) -> Callable[[str, str], bool]:
    wanted = word.lower()

    def matches(label: str, known: str) -> bool:
        if not _COMMIT.fullmatch(wanted):
            return False
        in_id = known.rsplit("_", 2)[-2:][0]
        if not (in_id.startswith(wanted) or wanted.startswith(in_id)):
            return False
        if len(wanted) <= _COMMIT_IN_ID or not is_finished(home, label, known):
            return True
        return read_generation(home, label, known).manifest.commit_sha.startswith(wanted)

    return matches
