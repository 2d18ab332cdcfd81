"""The entries of the table: words that many repositories use, and pieces for the others."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from rag_assets.models.static_code.word_pieces import LONGEST_WORD, WORD
from training.pair_files import read_changes, read_units

ENTRIES = 32_000
_PIECES = 5_000
_LONGEST_PIECE = 8
_MOST_OF_A_REPOSITORY = 2_000  # of a word, so that no repository decides
_DAMPING = 0.75
_DOC_WEIGHT, _QUESTION_WEIGHT = 3, 10  # questions are few and short, and their words matter most
_LONGEST_NUMBER = 4
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def learn(folder: Path, stems: Iterable[str], entries: int = ENTRIES) -> list[str]:
    """Single letters first, then words by how much they are used, then pieces; sorted within ties."""
    used: dict[str, float] = defaultdict(float)
    for stem in stems:
        for word, count in _words_of(folder, stem).items():
            if word.isascii() and len(word) <= LONGEST_WORD and not (word.isdigit() and len(word) > _LONGEST_NUMBER):
                used[word] += min(count, _MOST_OF_A_REPOSITORY) ** _DAMPING
    letters = [*_LETTERS, *(f"##{letter}" for letter in _LETTERS)]
    ranked = sorted((word for word in used if len(word) > 1), key=lambda word: (-used[word], word))
    words = ranked[: entries - len(letters) - _PIECES]
    pieces = _pieces({word: used[word] for word in ranked[len(words) :]})
    chosen = dict.fromkeys([*letters, *words])
    for piece in pieces:
        if len(chosen) == entries:
            break
        chosen.setdefault(piece)
    return list(chosen)


def _words_of(folder: Path, stem: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for unit in read_units(folder, stem):
        found.update(_words(unit.code))
        found.update({word: count * _DOC_WEIGHT for word, count in Counter(_words(unit.doc)).items()})
    for change in read_changes(folder, stem):
        found.update(dict.fromkeys(_words(change.question), _QUESTION_WEIGHT))
    return found


def _words(text: str) -> Iterator[str]:
    return (word.lower() for word in WORD.findall(text))


def _pieces(rare: dict[str, float]) -> list[str]:
    """Beginnings and inner parts of rare words, by the letters that they would cover."""
    covered: dict[str, float] = defaultdict(float)
    for word, count in rare.items():
        if not re.fullmatch(r"[a-z]+", word):
            continue
        for start in range(len(word)):
            for end in range(start + 2, min(len(word), start + _LONGEST_PIECE) + 1):
                covered[("##" if start else "") + word[start:end]] += count * (end - start - 1)
    return sorted(covered, key=lambda piece: (-covered[piece], piece))
