"""Questions as people ask them: how many `ask` answers rightly without a model, and the weights fitted to them.

    python benchmarks/people_questions.py --home HOME [--held-out] [--list]
    python benchmarks/people_questions.py --home HOME --search
    python benchmarks/people_questions.py --home HOME --fit

Asks every set of `benchmarks/asked/people` whose repository is indexed in HOME at the revision that it was written for,
as everybody asks, offline and not logged. Prints what became of the questions by repository and by kind: right (a line
or a fact that answers is quoted), partly (an expected file is cited), wrong, not sure (with the place, and without),
refused; and refused, not sure and answered of those that have no answer. Milliseconds are of whole turns; the first
question of a set opens its index.

`--search` searches for those that have an answer instead of asking them, and prints nDCG@10 of files and how many have
an expected file first, among the first five and among the first fifteen. `--held-out` asks the six repositories by
which nothing was chosen. `--fit` fits the weights of passages (`answer.passage_ranking`, listwise) and those of
confidence (`answer.abstention`, logistic) to the others, and prints them beside what they reach on a repository
that they were not fitted to. For the confidence each of them is also asked what `unanswerable.json` has for it
and what the others answer.
"""

from __future__ import annotations

import argparse
import json
from base64 import b85encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from report import table

from rag_assets import Index, open_index
from rag_assets.answer.abstention import AbstentionWeights, Signals, confidence, known_confidence, values_of
from rag_assets.answer.asked import question_model
from rag_assets.answer.context_pack import read as read_evidence
from rag_assets.answer.passage_ranking import (
    MOST_QUOTED,
    PassageWeights,
    RankedPassages,
    passage_features,
    ranked_by,
    signals_of,
    unsaid_meaning,
)
from rag_assets.answer.passages import Passage
from rag_assets.answer.question_analysis import QueryTerm
from rag_assets.contracts.evidence import Origin
from rag_assets.evaluation.answer_mining import Minable
from rag_assets.evaluation.answers import ask_question
from rag_assets.evaluation.metrics import CUT, HIT, NDCG, measure, metric_name
from rag_assets.evaluation.questions import EvalQuestion, QuestionSet, load_questions
from rag_assets.evaluation.summary import outcome_counts
from rag_assets.evaluation.tables import Row, answerable_rows, unanswerable_rows
from rag_assets.index.answer_results import AnswerResult
from rag_assets.index.generations import active_generation, served_labels
from rag_assets.index.layout import IndexHome
from rag_assets.models.static_code.embedder import DIMENSION, StaticEmbedder
from rag_assets.qa.answering import QuestionAnswerer
from rag_assets.qa.ask_options import AskOptions
from rag_assets.qa.definition.steps import MOST_CHUNKS

SETS = Path(__file__).parent / "asked" / "people"
UNANSWERABLE = SETS / "unanswerable.json"
HELD_OUT, STORIES_HELD_OUT, STORIES, OTHERS = "held out", "stories, held out", "stories", "others"
_HELD_OUT = "miniprofiler booking-microservices contosouniversity evolutionary-architecture sqlite-utils pocketbase"
_STORIES = "Blog Cleipnir coravel das-levy Equinox FluentFTP food-delivery gatus linkding lobsters Moonglade Rebus"
GROUPS = {
    **dict.fromkeys(_HELD_OUT.split(), HELD_OUT),
    **dict.fromkeys(["flaskbb", "Flurl", "ftgo", "Ombi"], STORIES_HELD_OUT),
    **dict.fromkeys(_STORIES.split(), STORIES),
}
"""Of sets by their names; all else is of the others."""

SEARCHED = 40  # sections, so that they lie in fifteen files
FIRST = (1, 5, 15)

Floats = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", required=True)
    parser.add_argument("--held-out", action="store_true", help="only the repositories by which nothing was chosen")
    parser.add_argument("--list", action="store_true", help="also print what became of every question")
    parser.add_argument("--search", action="store_true", help="search instead of asking")
    parser.add_argument("--fit", action="store_true", help="fit the weights instead of asking")
    arguments = parser.parse_args()
    found = list(indexed_sets(arguments.home))
    if arguments.held_out or arguments.fit:
        found = [one for one in found if (_group(one[0]) in (HELD_OUT, STORIES_HELD_OUT)) == arguments.held_out]
    if not found:
        raise SystemExit(f"no set of {SETS} is of an index in {arguments.home}; see its README")
    if arguments.fit:
        fit(arguments.home, found)
    elif arguments.search:
        search(arguments.home, found)
    else:
        ask(arguments.home, found, each=arguments.list)


def indexed_sets(home: str) -> Iterator[tuple[QuestionSet, str]]:
    """Each set with the label that is served at the commit that it was written for."""
    place = IndexHome(Path(home))
    commits = {active_generation(place, label).manifest.commit_sha: label for label in served_labels(place)}
    for file in sorted(SETS.glob("*.jsonl"), key=lambda one: one.stem.casefold()):
        questions = load_questions(file)
        label = commits.get(questions.questions[0].revision)
        if label:
            yield questions, label


def _group(questions: QuestionSet) -> str:
    return GROUPS.get(questions.name, OTHERS)


def ask(home: str, sets: Sequence[tuple[QuestionSet, str]], *, each: bool) -> None:
    results: dict[str, list[AnswerResult]] = {}
    groups: dict[str, list[AnswerResult]] = {
        group: [] for group in (OTHERS, STORIES, HELD_OUT, STORIES_HELD_OUT, "all")
    }
    for questions, label in sets:
        with open_index(label, home=home) as index, QuestionAnswerer(index, AskOptions(), logged=False) as asker:
            results[questions.name] = [ask_question(asker, one)[0] for one in questions.questions]
        for group in (_group(questions), "all"):
            groups[group] += results[questions.name]
    shown = results | {name: known for name, known in groups.items() if known}
    show("answerable, by repository", [_answerable(name, known) for name, known in shown.items()])
    show("unanswerable, by repository", [_unanswerable(name, known) for name, known in shown.items()])
    counts = outcome_counts(groups["all"])[1:]
    show("answerable, by kind", answerable_rows(counts))
    show("unanswerable, by kind", unanswerable_rows(counts))
    if each:
        for one in groups["all"]:
            grade = one.grade.value if one.answerable else f"no answer: {one.grade.value}"
            print(f"{grade:<22} {one.confidence:.2f}  {one.id:<30} {one.question}")


def search(home: str, sets: Sequence[tuple[QuestionSet, str]]) -> None:
    """Where the files that answer are in the order of a search."""
    found: dict[str, list[list[float]]] = {}
    for questions, label in sets:
        with open_index(label, home=home) as index:
            for one in questions.questions:
                if not one.relevant:
                    continue
                files = dict.fromkeys(hit.path for hit in index.search(one.question, limit=SEARCHED))
                measured = [measure([frozenset({path}) for path in files], frozenset(one.relevant), k) for k in FIRST]
                values = [measured[0][metric_name(NDCG, CUT)]]
                values += [of_k[metric_name(HIT, k)] for k, of_k in zip(FIRST, measured, strict=True)]
                for group in (_group(questions), "all"):
                    found.setdefault(group, []).append(values)
    names = ("nDCG@10", *(f"a file that answers among {k}" for k in FIRST))
    rows = [(group, len(known), *(f"{mean:.3f}" for mean in np.mean(known, axis=0))) for group, known in found.items()]
    table(("questions", "number", *names), rows)


def _answerable(name: str, results: Sequence[AnswerResult]) -> Row:
    (row,) = answerable_rows(outcome_counts([replace(one, tags=()) for one in results]))
    p50, p95 = np.quantile([one.seconds * 1000 for one in results], [0.5, 0.95])
    return row | {"category": name, "p50 / p95 ms": f"{p50:.0f} / {p95:.0f}"}


def _unanswerable(name: str, results: Sequence[AnswerResult]) -> Row:
    (row,) = unanswerable_rows(outcome_counts([replace(one, tags=()) for one in results]))
    return row | {"category": name}


def show(title: str, rows: Sequence[Row]) -> None:
    print(f"\n{title}")
    table(list(rows[0]), [list(row.values()) for row in rows])


# fitting


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the passages of its evidence: `x` is what is known of each, `y` whether it has a fact."""

    repository: str
    question: EvalQuestion
    names: tuple[str, ...]
    signals: Signals
    model: StaticEmbedder | None
    passages: list[Passage]
    words: tuple[QueryTerm, ...]
    x: Floats
    y: Floats
    credit: NDArray[np.float32]

    def quoted(self, weights: Floats) -> tuple[Signals, Floats, bool, bool]:
        """(signals, `unsaid_meaning`, whether a gold file is quoted, whether a fact is) with these weights."""
        found, known = self.ranked(weights), self.signals
        numbers = found.chosen(MOST_QUOTED)
        chosen = [found.passages[at] for at in numbers]
        gold = [one for one in chosen if one.evidence.path in self.question.relevant]
        signals = signals_of(found, self.names, known.unknown_names, known.facts)
        signals = replace(signals, planned=known.planned, keyword=known.keyword, setting=known.setting)
        unsaid = unsaid_meaning(found, numbers[0]) if numbers else None
        meaning = np.zeros(DIMENSION + 1) if unsaid is None else np.append(unsaid[0].astype(np.float64), unsaid[1])
        return signals, meaning, bool(gold), any(_has_fact(one, self.question) for one in gold)

    def ranked(self, weights: Floats) -> RankedPassages:
        return ranked_by(
            self.x @ weights, self.passages, self.words, self.x.astype(np.float32), self.credit, self.model
        )


@dataclass(frozen=True, slots=True)
class Read:
    """A question as the confidence sees it. `source`: where it is from, a set with the lines that answer, the list
    without answers, or the set of another repository. `file`: an expected file is quoted; `fact`: and a fact of it."""

    repository: str
    source: str
    signals: Signals
    unsaid: Floats
    answerable: bool = False
    file: bool = False
    fact: bool = False

    @property
    def is_decided(self) -> bool:
        return known_confidence(self.signals) is not None


OF_SET, WRITTEN, OF_OTHERS, PREMISE = "set", "written", "others", "false premise"
SOURCES = {OF_SET: 1.0, WRITTEN: 0.3, OF_OTHERS: 0.1, PREMISE: 0.0}
"""How much a question counts when the confidence is fitted: of other repositories there are more, they are
easier, and a few have an answer by chance. Mined ones are all alike, so nothing is fitted to them."""
_PREMISES = 16  # of a repository
_EACH_OF_OTHERS = 4  # of 210 questions to others every fourth
_OF_EVERY_PROJECT = {"overview", "list", "convention"}
"""Kinds of question that other repositories may well answer."""


def fit(home: str, sets: Sequence[tuple[QuestionSet, str]]) -> None:
    asked: list[Asked] = []
    for questions, label in sets:
        with open_index(label, home=home) as index:
            asked += [_asked(questions.name, one, index) for one in questions.questions]
    read: list[Read] = []
    for questions, label in sets:
        weights = listwise([one for one in asked if one.repository != questions.name])
        mine = [one for one in asked if one.repository == questions.name]
        read += [_read(one, OF_SET, weights) for one in mine]
        with open_index(label, home=home) as index:
            for source, one in _without_answer(questions, index, [other for other, _ in sets]):
                read.append(_read(_asked(questions.name, one, index), source, weights))
    of_sets = [one for one in read if one.source == OF_SET]
    known = [one for one in of_sets if one.answerable]
    print(
        f"{len(of_sets)} questions about {len(sets)} repositories, and {len(read) - len(of_sets)} more without answer"
    )
    print("passages, each repository by the weights of the others: an expected file is quoted for")
    print(f"  {_share(known, 'file'):.1%} of the answerable, a fact for {_share(known, 'fact'):.1%}")
    named = zip(fields(PassageWeights), listwise(asked), strict=True)
    print(f"PassageWeights({', '.join(f'{field.name}={value:.2f}' for field, value in named)})")
    held_out: dict[int, float] = {}
    for questions, _ in sets:
        made_of = fitted([one for one in read if one.repository != questions.name])
        held_out |= {at: made_of.confidence(one) for at, one in enumerate(read) if one.repository == questions.name}
    print("\nconfidence, each repository by the weights of the others: at or above")
    table(
        (
            "confidence",
            "of the answerable",
            "of these a fact is quoted",
            *(f"of the unanswerable, {source}" for source in SOURCES),
        ),
        [_row(at / 20, read, held_out) for at in range(2, 20)],
    )
    made = fitted(read)
    named = zip(fields(AbstentionWeights), astuple(made.weights), strict=True)
    print(f"\nAbstentionWeights({', '.join(f'{field.name}={value:.2f}' for field, value in named)})")
    print(f"THINGS = {b85encode(made.things.tobytes()).decode()!r}")


def _without_answer(
    questions: QuestionSet, index: Index, sets: Sequence[QuestionSet]
) -> Iterator[tuple[str, EvalQuestion]]:
    """Questions that a repository does not answer: those of the list, real names with a predicate from elsewhere, and
    what others answer."""
    for mined in Minable(index).unanswerable((), 2 * _PREMISES):
        if mined.kind == PREMISE:
            yield PREMISE, EvalQuestion(id=mined.text, question=mined.text, relevant=())
    for text in json.loads(UNANSWERABLE.read_text("utf-8")).get(questions.name, ()):
        yield WRITTEN, EvalQuestion(id=text, question=text, relevant=())
    for other in sets:
        for one in other.answerable[::_EACH_OF_OTHERS] if other is not questions else ():
            if not _OF_EVERY_PROJECT.intersection(one.tags):
                yield OF_OTHERS, EvalQuestion(id=one.id, question=one.question, relevant=())


def _read(one: Asked, source: str, weights: Floats) -> Read:
    signals, unsaid, file, fact = one.quoted(weights)
    return Read(one.repository, source, signals, unsaid, one.question.answerable, file, fact)


def _share(read: Sequence[Read], what: str) -> float:
    return sum(getattr(one, what) for one in read) / len(read) if read else float("nan")


_AXES = 12
"""Of what questions leave unsaid, along which things are told from other words. With 25 or 40 as much is gained of
these questions, and less of what other repositories answer."""
_LARGEST = 127


@dataclass(frozen=True, slots=True)
class Fitted:
    """`things` is (dimension,), as bytes of `abstention.THINGS`."""

    weights: AbstentionWeights
    things: NDArray[np.int8]

    def confidence(self, one: Read) -> float:
        things = float(one.unsaid[:-1] @ self.things) / _LARGEST + one.unsaid[-1]
        return confidence(replace(one.signals, unsaid_things=things), self.weights)


def fitted(read: Sequence[Read]) -> Fitted:
    """What is decided without weights, as names that nothing declares are, says nothing about them. Too few questions
    have a word that nobody has, so it counts as the clearest of things, and nothing is fitted to it."""
    known = [one for one in read if SOURCES[one.source] and not one.is_decided]
    values = np.array([values_of(one.signals)[:-1] for one in known])  # but `unsaid_things`
    unsaid = np.array([one.unsaid[:-1] for one in known])
    axes = np.linalg.svd(unsaid, full_matrices=False)[2][:_AXES]
    counts = np.array([SOURCES[one.source] for one in known])
    made = logistic(np.hstack([values, unsaid @ axes.T]), np.array([one.answerable for one in known]), counts)
    direction = made[-_AXES:] @ axes
    largest = float(np.abs(direction).max())
    things = np.round(direction * -_LARGEST / largest).astype(np.int8)
    return Fitted(AbstentionWeights(*[*made[:-_AXES].tolist(), -largest]), things)


def _row(at: float, read: Sequence[Read], held_out: Mapping[int, float]) -> list[str]:
    passes = [one for number, one in enumerate(read) if held_out[number] >= at]
    answerable = [one for one in passes if one.answerable]
    shares = [len(answerable) / sum(one.answerable for one in read), _share(answerable, "fact")]
    for source in SOURCES:
        asked, passed = (sum(not one.answerable and one.source == source for one in of) for of in (read, passes))
        shares.append(passed / asked)
    return [f"{at:.2f}", *(f"{share:.1%}" for share in shares)]


def _asked(repository: str, question: EvalQuestion, index: Index) -> Asked:
    """As the pipeline without a model reads it."""
    reading = read_evidence(index.search(question.question, limit=MOST_CHUNKS), index)
    evidence = [one for one in reading.evidence if one.origin is not Origin.GRAPH]
    words, model = reading.words, question_model(index)
    passages, rows, credit = passage_features(question.question, words, evidence, model)
    y = np.array(
        [float(one.evidence.path in question.relevant and _has_fact(one, question)) for one in passages], np.float64
    )
    x = rows.astype(np.float64)
    return Asked(repository, question, reading.wish.names, reading.signals, model, passages, words, x, y, credit)


def _has_fact(passage: Passage, question: EvalQuestion) -> bool:
    text = " ".join(passage.text.split())
    return any(" ".join(fact.split()) in text for fact in question.facts)


_STEPS, _RATE, _PENALTY = 400, 0.05, 0.1


def listwise(asked: Sequence[Asked]) -> Floats:
    """Weights that make it likely that a passage with a fact is the best of its question (Cao and others 2007), by
    Adam; a question none of whose passages has one says nothing."""
    known = [one for one in asked if one.y.any()]
    everything = np.concatenate([one.x for one in asked if one.question.answerable])
    mean, spread = everything.mean(0), everything.std(0) + 1e-6
    lists = [((one.x - mean) / spread, one.y) for one in known]
    weights, first, second = (np.zeros(everything.shape[1]) for _ in range(3))
    for step in range(1, _STEPS + 1):
        gradient = _PENALTY * weights
        for x, y in lists:
            scores = x @ weights
            likely = np.exp(scores - scores.max())
            likely /= likely.sum()
            wanted = likely * y
            gradient -= x.T @ (wanted / wanted.sum() - likely) / len(lists)
        first = 0.9 * first + 0.1 * gradient
        second = 0.99 * second + 0.01 * gradient**2
        weights -= _RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    made: Floats = weights / spread
    return made


def logistic(values: Floats, answerable: NDArray[np.bool_], counts: Floats) -> Floats:
    """(bias, weights) by Newton's method, over values of one spread. Each question counts so much."""
    mean, spread = np.average(values, 0, counts), values.std(0) + 1e-9
    x = np.column_stack([np.ones(len(values)), (values - mean) / spread])
    penalty = 0.02 * counts.sum() * np.diag([1e-9] + [1.0] * values.shape[1])
    made = np.zeros(x.shape[1])
    for _ in range(40):
        p = 1 / (1 + np.exp(-x @ made))
        gradient = x.T @ (counts * (p - answerable)) + penalty @ made
        made -= np.linalg.solve((x * (counts * p * (1 - p))[:, None]).T @ x + penalty, gradient)
    weights = made[1:] / spread
    return np.concatenate([[made[0] - weights @ mean], weights])


if __name__ == "__main__":
    main()
