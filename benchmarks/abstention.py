"""How well `ask` knows what it does not know: mined questions, refused of the unanswerable against answered of the
answerable (E22).

    python benchmarks/abstention.py --home HOME --label a@main b@main c@main [--questions a@main=FILE.json …]

Mines questions from each label (`evaluation.answer_mining`), and asks what people wrote (`benchmarks/asked/*.json`, any
number of files a label). Prints which share of the unanswerable has a confidence below that of a share of the
answerable, and what the shipped thresholds make of them, by label and by kind. Nothing is fitted here: the weights are
fitted to other questions (`benchmarks/people_questions.py`), which are harder than mined ones.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from report import table

from rag_assets import Index, open_index
from rag_assets.answer.abstention import SURE, THRESHOLD
from rag_assets.answer.context_pack import read
from rag_assets.evaluation.answer_mining import Minable, SyntheticQuestion
from rag_assets.qa.definition.steps import MOST_CHUNKS

ANSWERED = (0.95, 0.90, 0.85, 0.80, 0.70)
WRITTEN, WRITTEN_ABOUT_NOTHING = "written", "written, no answer"

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Row:
    label: str
    asked: SyntheticQuestion
    confidence: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", required=True)
    parser.add_argument("--label", nargs="+", required=True)
    parser.add_argument("--questions", nargs="*", default=[], metavar="LABEL=FILE", help="what people wrote about it")
    parser.add_argument("--count", type=int, default=30, help="mined questions of a kind and label")
    parser.add_argument("--mode", choices=("hybrid", "bm25"), default="hybrid", help="bm25: as without a model")
    arguments = parser.parse_args()
    wrote: dict[str, list[SyntheticQuestion]] = {label: [] for label in arguments.label}
    for label, path in (entry.split("=", 1) for entry in arguments.questions):
        wrote[label] += written_questions(Path(path))
    with ExitStack() as stack:
        indexes = [stack.enter_context(open_index(label, home=arguments.home)) for label in arguments.label]
        sources = {
            index.label: Minable(index, [one.text for one in wrote[index.label] if one.answerable]) for index in indexes
        }
        rows = []
        for index in indexes:
            own = sources[index.label]
            others = [other for label, other in sources.items() if label != index.label]
            asked = [*own.answerable(arguments.count), *wrote[index.label]]
            asked += own.unanswerable(others, arguments.count * 2)
            rows += [Row(index.label, one, _confidence(index, one.text, arguments.mode)) for one in asked]
    _report(rows)


def written_questions(path: Path) -> list[SyntheticQuestion]:
    """A file of questions by people: a JSON list of objects with `query`, and `answerable: false` where the index has
    no answer."""
    found = [(entry["query"], entry.get("answerable", True)) for entry in json.loads(path.read_text("utf-8"))]
    return [SyntheticQuestion(text, WRITTEN if yes else WRITTEN_ABOUT_NOTHING, yes) for text, yes in found]


def _confidence(index: Index, text: str, mode: str) -> float:
    """As the pipeline without a model reads it."""
    return read(index.search(text, limit=MOST_CHUNKS, mode=mode), index).confidence


def _report(rows: Sequence[Row]) -> None:
    yes = np.array([row.asked.answerable for row in rows])
    known = np.array([row.confidence for row in rows])
    kinds = np.array([row.asked.kind for row in rows])
    written = np.isin(kinds, (WRITTEN, WRITTEN_ABOUT_NOTHING))
    print(f"{yes.sum()} answerable and {(~yes).sum()} unanswerable questions")
    for name, mine in (("mined", ~written), ("written", written)):
        if (mine & yes).any() and (mine & ~yes).any():
            print(f"\n{name}: refused of the unanswerable, where so many of the answerable are not")
            table(("of the answerable", "confidence", "refused"), list(_curve(known, yes, mine)))
    labels = np.array([row.label for row in rows])
    print(f"\nat the shipped thresholds, refused below {THRESHOLD} and sure from {SURE}")
    groups = [("all", np.ones(len(rows), bool)), *((one, labels == one) for one in dict.fromkeys(labels.tolist()))]
    groups += [(one, kinds == one) for one in dict.fromkeys(kinds.tolist())]
    made = [(f"{name}{sort}", mine & of) for name, mine in groups for sort, of in ((", answerable", yes), ("", ~yes))]
    table(
        ("questions", "asked", "answered", "not sure", "refused"),
        [_shares(*one, known) for one in made if one[1].any()],
    )


def _curve(known: NDArray[np.float64], yes: Flags, mine: Flags) -> Iterator[tuple[str, str, str]]:
    for share in ANSWERED:
        least = np.quantile(known[mine & yes], 1 - share, method="lower")
        yield f"{share:.0%}", f"{least:.3f}", f"{(known < least)[mine & ~yes].mean():.1%}"


def _shares(name: str, mine: Flags, known: NDArray[np.float64]) -> tuple[str, ...]:
    own = known[mine]
    shares = ((own >= SURE).mean(), ((own >= THRESHOLD) & (own < SURE)).mean(), (own < THRESHOLD).mean())
    return (name, str(len(own)), *(f"{share:.1%}" for share in shares))


if __name__ == "__main__":
    main()
