"""Questions with and without an answer, mined from indexes: the same indexes give the same questions (E22).

With an answer: what a type does and where it is used, by name; what its doc comment says, with every third word and the
rarest one left out, so that it is no quotation. Without one: all of that asked of another repository; names with one
word changed; real names with an alien predicate; and questions about the world. Nobody checks that last list against
an index: whoever indexes a shop for shipping labels should leave some of it out.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any

from rag_assets.answer.context_pack import FetchRequest, fetch_evidence
from rag_assets.answer.passages import passages_of
from rag_assets.answer.question_analysis import query_terms_of
from rag_assets.contracts.evidence import Evidence, short_name
from rag_assets.identifiers import identifier_words
from rag_assets.search.index import LabelIndex
from rag_assets.search.ranking.penalties import non_product_code

PREDICATES = (
    "send invoices to the tax office by fax",
    "translate speech into subtitles",
    "train its neural network overnight",
    "print shipping labels for parcels",
    "sign PDF contracts with a smart card",
    "charge a credit card through Stripe",
    "balance chemical equations",
    "rotate the camera of a drone",
)
"""Said of names that there are, they make a question with a false premise."""

WORLD = (
    "What is the capital of Australia?",
    "How long should pasta boil?",
    "Who won the football world cup in 1998?",
    "Which vitamins does broccoli contain?",
    "How do I get a stain out of a carpet?",
    "What is the best time to visit Japan?",
    "How tall is Mount Everest?",
    "Explain the causes of the First World War",
    "Which medication helps against hay fever?",
    "What does our travel expense policy say about taxis?",
    "How many days of vacation do employees get?",
    "What was the revenue of the company last quarter?",
    "Who approves purchase orders above ten thousand euros?",
    "How is the Kubernetes cluster upgraded?",
    "Which Terraform module creates the virtual network?",
    "How do we rotate the keys of the payment gateway?",
    "Which React component renders the sidebar?",
    "How does the mobile app show push notifications on iOS?",
    "Where do we configure the Kafka consumer groups?",
    "How is the machine learning model retrained every night?",
)


_FEWEST_WORDS = 4  # telling ones, of a mined sentence
_LONGEST_SENTENCE = 200
_WORDS_OF_OTHERS = 40  # names of each other index whose last words make near misses
_ID_DIGITS = 10

_IDENTIFIER = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class SyntheticQuestion:
    """A question to an index. `kind` says how it was made, `relevant` are the files that answer it: none for a question
    that is not `answerable`."""

    text: str
    kind: str
    answerable: bool
    relevant: tuple[str, ...] = ()

    def row(self, repository: str, commit: str) -> dict[str, Any]:
        """The question as a question set has it, about a repository at a commit."""
        digest = hashlib.sha256(f"{self.kind}\n{self.text}".encode()).hexdigest()
        expected = {"relevant": list(self.relevant)} if self.answerable else {"answerable": False}
        about = {"repository": repository, "revision": commit}
        return {"id": f"ask-{digest[:_ID_DIGITS]}", "question": self.text} | expected | {"tags": [self.kind]} | about


class Minable:
    """An open index as a source of questions, with some that people `wrote` about it. What it declares is read once,
    within the clearance of the index."""

    def __init__(self, index: LabelIndex, wrote: Sequence[str] = ()) -> None:
        self._index = index
        self._wrote = tuple(wrote)

    def answerable(self, count: int) -> list[SyntheticQuestion]:
        """About `count` questions by name, and `count` from comments, that the index answers."""
        chosen = spread(self.names, count)
        made = [
            SyntheticQuestion(f"What does {name} do?", "definition", True, self._declaring[name])
            for name in chosen[::2]
        ]
        made += [SyntheticQuestion(f"Where is {name} used?", "usage", True, self._using(name)) for name in chosen[1::2]]
        sentences = spread(list(self.sentences), count)
        return made + [SyntheticQuestion(text, "doc comment", True, self.sentences[text]) for text in sentences]

    def unanswerable(self, others: Sequence[Minable], count: int) -> list[SyntheticQuestion]:
        """Questions that the index does not answer: `count` to the `others`, which are of other repositories, half as
        many near misses and false premises, and those about the world. Names that it happens to have are left out."""
        foreign = [word for other in others for word in _last_words(other.names[:_WORDS_OF_OTHERS])]
        foreign = foreign or _last_words(spread(self.names, _WORDS_OF_OTHERS))
        near = []
        for at, name in enumerate(spread(self.names, count // 2)):
            words = list(identifier_words(name))
            renamed = "".join([*words[:-1], foreign[at % len(foreign)]])
            if self._is_unknown(renamed):
                near.append(SyntheticQuestion(f"What does {renamed} do?", "near miss", False))
        false = []
        for at, name in enumerate(spread(self.names, count // 2)):
            spoken = " ".join(identifier_words(name)).lower() if at % 2 else name
            asked = f"How does {spoken} {PREDICATES[at % len(PREDICATES)]}?"
            false.append(SyntheticQuestion(asked, "false premise", False))
        return [
            *self._of_others(others, count),
            *near,
            *false,
            *(SyntheticQuestion(text, "the world", False) for text in WORLD),
        ]

    @cached_property
    def names(self) -> list[str]:
        """The types of more than one word that are declared beside tests and samples, sorted."""
        return sorted(name for name in self._declaring if len(identifier_words(name)) > 1)

    @cached_property
    def sentences(self) -> dict[str, tuple[str, ...]]:
        """The thinned first sentences of the doc comments → the files that say them, sorted."""
        found: dict[str, set[str]] = {}
        for piece in self._code:
            for doc in {passage.doc for passage in passages_of(piece)}:
                if doc:
                    found.setdefault(doc, set()).add(piece.path)
        thinned: dict[str, set[str]] = {}
        for doc in sorted(found):
            if text := self._thinned(doc):
                thinned.setdefault(text, set()).update(found[doc])
        return {text: tuple(sorted(paths)) for text, paths in thinned.items()}

    def _of_others(self, others: Sequence[Minable], count: int) -> list[SyntheticQuestion]:
        made = []
        for other in others:
            prose = [*spread(list(other.sentences), count // 2), *other._wrote]
            asked = spread(prose, count // len(others) + 1)
            made += [SyntheticQuestion(text, "other repository", False) for text in asked]
            names = [name for name in other.names if self._is_unknown(name)]
            chosen = spread(names, count // 8 + 1)
            made += [SyntheticQuestion(f"What does {name} do?", "name of another", False) for name in chosen]
        return made

    def _is_unknown(self, name: str) -> bool:
        return self._index.parts.vocabulary().find(name.lower()) is None

    def _using(self, name: str) -> tuple[str, ...]:
        """The files that say a name, without those that declare it, if there are others."""
        declaring = self._declaring[name]
        return tuple(path for path in self._saying.get(name, ()) if path not in declaring) or declaring

    @cached_property
    def _payloads(self) -> dict[str, Any]:
        shard, scope = self._index.parts.shard(), self._index.scope()
        return dict(shard.retrieve(sorted(shard.ids(scope)), scope))

    @cached_property
    def _of_code(self) -> dict[str, Any]:
        """Of source that is no test and no sample."""
        return {
            key: known
            for key, known in self._payloads.items()
            if known.get("SourceType") == "code" and non_product_code(known["Path"]) is None
        }

    @cached_property
    def _code(self) -> list[Evidence]:
        return self._pieces(self._of_code)

    def _pieces(self, ids: Iterable[str]) -> list[Evidence]:
        wanted = [FetchRequest(key, 1.0) for key in ids]
        return list(fetch_evidence(wanted, self._index.parts, self._index.manifests, self._index.scope()).evidence)

    @cached_property
    def _declaring(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, set[str]] = {}
        for known in self._of_code.values():
            found.setdefault(short_name(known["Symbol"]), set()).add(known["Path"])
        return {name: tuple(sorted(paths)) for name, paths in found.items()}

    @cached_property
    def _saying(self) -> dict[str, tuple[str, ...]]:
        """Name → the files of source that say it, tests and samples too, whatever the graph knows of them."""
        found: dict[str, set[str]] = {}
        sides = (key for key, known in self._payloads.items() if known.get("SourceType") == "code")
        for piece in (*self._code, *self._pieces(key for key in sides if key not in self._of_code)):
            for word in set(_IDENTIFIER.findall(piece.text)) & self._declaring.keys():
                found.setdefault(word, set()).add(piece.path)
        return {name: tuple(sorted(paths)) for name, paths in found.items()}

    def _thinned(self, doc: str) -> str:
        """The first sentence of a comment without its rarest word and every third of the others; '' where too little is
        left."""
        vocabulary, sections = self._index.parts.vocabulary(), len(self._payloads)
        sentence = doc.partition(". ")[0].strip(" .").replace('"', "").replace(":", " ")  # no filters and phrases
        words = query_terms_of(sentence, vocabulary, sections)
        if len(words) < _FEWEST_WORDS + 2 or len(sentence) > _LONGEST_SENTENCE:
            return ""
        rarest = max(words, key=lambda word: (word.weight, word.word)).word
        kept = [word for at, word in enumerate(sentence.split()) if at % 3 != 2 and rarest not in word.lower()]
        left = query_terms_of(" ".join(kept), vocabulary, sections)
        return " ".join(kept) if len(left) >= _FEWEST_WORDS else ""


def evenly(questions: Sequence[SyntheticQuestion], count: int) -> list[SyntheticQuestion]:
    """`count` of some questions, each once and in their order, of every kind the same number as far as there are so
    many."""
    kinds: dict[str, dict[str, SyntheticQuestion]] = {}
    for question in questions:
        kinds.setdefault(question.kind, {}).setdefault(question.text, question)
    chosen: set[str] = set()
    rounds = zip_longest(*(known.values() for known in kinds.values()))
    for question in [one for found in rounds for one in found if one is not None][:count]:
        chosen.add(question.text)
    return [one for known in kinds.values() for text, one in known.items() if text in chosen]


def spread(texts: Sequence[str], count: int) -> list[str]:
    """`count` of some texts, chosen by their hashes."""
    return sorted(texts, key=lambda text: hashlib.sha256(text.encode()).digest())[:count]


def _last_words(names: Iterable[str]) -> list[str]:
    return [word for name in names for word in identifier_words(name)[-1:]]
