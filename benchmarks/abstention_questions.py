"""Questions with and without an answer, mined from indexes: the same indexes give the same questions.

With an answer: what a type does and where it is used, by name; what its doc comment says, with every third word and the
rarest one left out, so that it is no quotation; and sets of questions that people wrote. Without one: all of that asked
of another repository; names with one word changed; real names with an alien predicate; and questions about the world.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rag_assets.query import Index
from rag_assets.query.answer.evidence import short_name
from rag_assets.query.answer.gathering import Wanted, gather
from rag_assets.query.answer.passages import passages_of
from rag_assets.query.answer.terms import asked_words
from rag_assets.query.ranking.side_code import side_of
from rag_assets.text import identifier_words

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
"""What no repository of these benchmarks does; checked by nobody but the reader of this list."""

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


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to a label. `kind` says how it was made."""

    text: str
    kind: str
    answerable: bool


def own_questions(index: Index, count: int) -> list[Asked]:
    """About `count` mined questions of each kind that an index answers."""
    names, sentences = _declared(index)
    chosen = _spread(names, count)
    made = [Asked(f"What does {name} do?", "definition", True) for name in chosen[::2]]
    made += [Asked(f"Where is {name} used?", "usage", True) for name in chosen[1::2]]
    made += [Asked(text, "doc comment", True) for text in _spread(sentences, count)]
    return made


def written_questions(path: Path) -> list[Asked]:
    """A file of questions by people: a JSON list of objects with `query`."""
    return [Asked(entry["query"], "written", True) for entry in json.loads(path.read_text("utf-8"))]


def alien_questions(index: Index, others: Sequence[tuple[Index, Sequence[Asked]]], count: int) -> list[Asked]:
    """Questions that an index cannot answer. Names that it happens to have are left out."""
    vocabulary = index.parts.vocabulary()
    names, _ = _declared(index)
    made = []
    for other, asked in others:
        prose = [one.text for one in asked if one.kind in ("doc comment", "written")]
        made += [Asked(text, "other repository", False) for text in _spread(prose, count // len(others) + 1)]
        theirs = [name for name in _declared(other)[0] if vocabulary.find(name.lower()) is None]
        made += [Asked(f"What does {name} do?", "name of another", False) for name in _spread(theirs, count // 8 + 1)]
    foreign = [word for other, _ in others for name in _declared(other)[0][:40] for word in identifier_words(name)[-1:]]
    for at, name in enumerate(_spread(names, count // 2)):
        words = list(identifier_words(name))
        renamed = "".join([*words[:-1], foreign[at % len(foreign)]]) if len(words) > 1 else f"{name}Dispatcher"
        if vocabulary.find(renamed.lower()) is None:
            made.append(Asked(f"What does {renamed} do?", "near miss", False))
    for at, name in enumerate(_spread(names, count // 2)):
        spoken = " ".join(identifier_words(name)).lower() if at % 2 else name
        made.append(Asked(f"How does {spoken} {PREDICATES[at % len(PREDICATES)]}?", "false premise", False))
    return made + [Asked(text, "the world", False) for text in WORLD]


_known: dict[str, tuple[list[str], list[str]]] = {}


def _declared(index: Index) -> tuple[list[str], list[str]]:
    """The type names of an index beside tests and samples, and the thinned first sentences of its doc comments."""
    if index.label not in _known:
        shard, scope = index.parts.shard(), index.scope()
        payloads = shard.retrieve(sorted(shard.ids(scope)), scope)
        code = {
            key: known
            for key, known in payloads.items()
            if known.get("SourceType") == "code" and side_of(known["Path"]) is None
        }
        names = {short_name(known["Symbol"]) for known in code.values()}
        gathered = gather([Wanted(key, 1.0) for key in code], index.parts, index.manifests, scope)
        docs = {passage.doc for known in gathered.evidence for passage in passages_of(known)}
        thinned = [text for doc in sorted(docs) if (text := _thinned(index, doc, len(payloads)))]
        _known[index.label] = sorted(name for name in names if len(identifier_words(name)) > 1), thinned
    return _known[index.label]


def _thinned(index: Index, doc: str, sections: int) -> str:
    """The first sentence of a comment without its rarest word and every third of the others; '' where too little is
    left."""
    sentence = doc.partition(". ")[0].strip(" .").replace('"', "").replace(":", " ")  # no filters and phrases
    words = asked_words(sentence, index.parts.vocabulary(), sections)
    if len(words) < _FEWEST_WORDS + 2 or len(sentence) > _LONGEST_SENTENCE:
        return ""
    rarest = max(words, key=lambda word: (word.weight, word.word)).word
    kept = [word for at, word in enumerate(sentence.split()) if at % 3 != 2 and rarest not in word.lower()]
    left = asked_words(" ".join(kept), index.parts.vocabulary(), sections)
    return " ".join(kept) if len(left) >= _FEWEST_WORDS else ""


def _spread(texts: Sequence[str], count: int) -> list[str]:
    """`count` of some texts, chosen by their hashes."""
    return sorted(texts, key=lambda text: hashlib.sha256(text.encode()).digest())[:count]
