"""What the ranking knows: of the question, and of files beside the scores of their sections."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag_assets.query.ranking.asking import WEIGHTS, WITHOUT_EMBEDDING, Asking, Weights
from rag_assets.query.ranking.file_names import is_named, may_say, name_shares
from rag_assets.query.ranking.past import past_shares
from rag_assets.query.ranking.side_code import Side
from rag_assets.stores.points import Place

if TYPE_CHECKING:
    from rag_assets.stores.keyword.past import Past


@dataclass(frozen=True, slots=True)
class Asked:
    """What the ranking knows of a question: its kind, its terms with their weights, whether it has a vector, which code
    beside the product it is for, and which terms are other forms of its words: form → word."""

    kind: Asking
    terms: Mapping[str, float]
    has_dense: bool
    sides: Set[Side] = frozenset()
    forms: Mapping[str, str] = field(default_factory=dict)

    @property
    def said(self) -> dict[str, str]:
        """The words of the question and their other forms: term → word."""
        return {word: word for word in self.words} | dict(self.forms)

    @property
    def words(self) -> Set[str]:
        """What the question says itself, without function words and guessed names."""
        return {term for term, weight in self.terms.items() if weight >= 1.0}

    @property
    def weights(self) -> Weights:
        known = WEIGHTS[self.kind]
        return known if self.has_dense else WITHOUT_EMBEDDING.get(self.kind, known)

    @property
    def dense_share(self) -> float:
        """Without an embedding words are everything."""
        return self.weights.dense if self.has_dense else 0.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of files beside the scores of their sections, as shares (0 to 1) of the best of them: what past
    commits say of them, and how much of the question their names say. A file without any is absent. `named` are those
    whose whole name the question says."""

    past: Mapping[Place, float] = field(default_factory=dict)
    names: Mapping[Place, float] = field(default_factory=dict)
    named: Set[Place] = frozenset()


def evidence_of(
    places: Collection[Place], asked: Asked, past_of: Callable[[str], Past | None], rarity: Callable[[str], float]
) -> Evidence:
    """The evidence for the files of candidates, as far as it counts for this kind of question. Only files that were
    found already: of what somebody may not see, nothing is compared."""
    files, weights = dict.fromkeys(places), asked.weights
    words, said = asked.words, asked.said
    telling = may_say(files, said) if weights.name_words or weights.file_name else []
    return Evidence(
        past=past_shares(past_of, files, asked.terms) if weights.past else {},
        names=name_shares(telling, said, rarity) if weights.name_words else {},
        named={place for place in telling if is_named(place.path, words)} if weights.file_name else frozenset(),
    )
