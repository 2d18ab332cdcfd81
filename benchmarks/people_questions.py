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
confidence (`answer.abstention`, logistic) to the other fifteen, and prints them beside what they reach on a repository
that they were not fitted to.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from report import table

from rag_assets import Index, open_index
from rag_assets.answer.abstention import AbstentionWeights, Signals, confidence, values_of
from rag_assets.answer.context_pack import AnswerInputs, question_model, read
from rag_assets.answer.passage_ranking import (
    MOST_QUOTED,
    PassageWeights,
    RankedPassages,
    passage_features,
    ranked_by,
    signals_of,
)
from rag_assets.answer.passages import Passage
from rag_assets.answer.question_analysis import QueryTerm
from rag_assets.contracts.evidence import Origin
from rag_assets.evaluation.answers import ask_question
from rag_assets.evaluation.metrics import CUT, HIT, NDCG, measure, metric_name
from rag_assets.evaluation.questions import EvalQuestion, QuestionSet, load_questions
from rag_assets.evaluation.summary import outcome_counts
from rag_assets.evaluation.tables import Row, answerable_rows, unanswerable_rows
from rag_assets.index.answer_results import AnswerResult
from rag_assets.index.generations import active_generation
from rag_assets.index.layout import IndexHome
from rag_assets.qa.answering import QuestionAnswerer
from rag_assets.qa.ask_options import AskOptions
from rag_assets.qa.definition.steps import MOST_CHUNKS

SETS = Path(__file__).parent / "asked" / "people"
HELD_OUT = (
    "miniprofiler",
    "booking-microservices",
    "contosouniversity",
    "evolutionary-architecture",
    "sqlite-utils",
    "pocketbase",
)

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
        found = [(known, label) for known, label in found if (known.name in HELD_OUT) == arguments.held_out]
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
    commits = {active_generation(place, label).manifest.commit_sha: label for label in place.known_labels()}
    for file in sorted(SETS.glob("*.jsonl"), key=lambda one: one.stem.casefold()):
        questions = load_questions(file)
        label = commits.get(questions.questions[0].revision)
        if label:
            yield questions, label


def ask(home: str, sets: Sequence[tuple[QuestionSet, str]], *, each: bool) -> None:
    results: dict[str, list[AnswerResult]] = {}
    for questions, label in sets:
        with open_index(label, home=home) as index, QuestionAnswerer(index, AskOptions(), logged=False) as asker:
            results[questions.name] = [ask_question(asker, one)[0] for one in questions.questions]
    groups = {
        "fitted on": [one for name, known in results.items() if name not in HELD_OUT for one in known],
        "held out": [one for name, known in results.items() if name in HELD_OUT for one in known],
        "all": [one for known in results.values() for one in known],
    }
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
                for group in ("held out" if questions.name in HELD_OUT else "fitted on", "all"):
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
    reading: AnswerInputs
    passages: list[Passage]
    words: tuple[QueryTerm, ...]
    x: Floats
    y: Floats
    credit: NDArray[np.float32]

    def quoted(self, weights: Floats) -> tuple[Signals, bool, bool]:
        """(signals, whether a gold file is quoted, whether a fact is) with these weights."""
        found = self.ranked(weights)
        chosen = [found.passages[at] for at in found.chosen(MOST_QUOTED)]
        gold = [one for one in chosen if one.evidence.path in self.question.relevant]
        signals = signals_of(found, self.reading.wish.names, self.reading.unknown, len(self.reading.at))
        signals = replace(signals, planned=self.reading.signals.planned)
        return signals, bool(gold), any(_has_fact(one, self.question) for one in gold)

    def ranked(self, weights: Floats) -> RankedPassages:
        model = self.reading.passages.model
        return ranked_by(self.x @ weights, self.passages, self.words, self.x.astype(np.float32), self.credit, model)


def fit(home: str, sets: Sequence[tuple[QuestionSet, str]]) -> None:
    asked: list[Asked] = []
    for questions, label in sets:
        with open_index(label, home=home) as index:
            asked += [_asked(questions.name, one, index) for one in questions.questions]
    answerable = np.array([one.question.answerable for one in asked])
    names = [questions.name for questions, _ in sets]
    repository = np.array([one.repository for one in asked])
    signals: list[Signals | None] = [None] * len(asked)
    file, fact = np.zeros(len(asked), bool), np.zeros(len(asked), bool)
    for name in names:
        weights = listwise([one for one in asked if one.repository != name])
        for at in np.flatnonzero(repository == name):
            signals[at], file[at], fact[at] = asked[at].quoted(weights)
    print(f"{len(asked)} questions about {len(names)} repositories")
    print("passages, each repository by the weights of the others: an expected file is quoted for")
    print(f"  {file[answerable].mean():.1%} of the answerable, a fact for {(file & fact)[answerable].mean():.1%}")
    made = listwise(asked)
    known = zip(fields(PassageWeights), made, strict=True)
    print(f"PassageWeights({', '.join(f'{field.name}={value:.2f}' for field, value in known)})")
    read_signals = [one for one in signals if one is not None]
    values = np.array([values_of(one) for one in read_signals])
    decided = np.array([bool(one.unknown_names) or not one.best or one.planned for one in read_signals])
    held_out = np.zeros(len(asked))
    for name in names:
        others = (repository != name) & ~decided
        weights = logistic(values[others], answerable[others])
        made_of = AbstentionWeights(*weights.tolist())
        held_out[repository == name] = [
            confidence(read_signals[at], made_of) for at in np.flatnonzero(repository == name)
        ]
    print("\nconfidence, each repository by the weights of the others: at or above")
    table(
        ("confidence", "of the unanswerable", "of the answerable", "of these an expected file is quoted"),
        [_row(held_out >= one, answerable, file, one) for one in (0.3, 0.45, 0.6, 0.75, 0.85, 0.88, 0.9, 0.95)],
    )
    fitted = zip(fields(AbstentionWeights), logistic(values[~decided], answerable[~decided]), strict=True)
    print(f"\nAbstentionWeights({', '.join(f'{field.name}={value:.2f}' for field, value in fitted)})")


def _row(passes: NDArray[np.bool_], answerable: NDArray[np.bool_], file: NDArray[np.bool_], at: float) -> list[str]:
    quoted = file[passes & answerable]
    shares = (passes[~answerable].mean(), passes[answerable].mean(), quoted.mean() if len(quoted) else np.nan)
    return [f"{at:.2f}", *(f"{share:.1%}" for share in shares)]


def _asked(repository: str, question: EvalQuestion, index: Index) -> Asked:
    reading = read(index.search(question.question, limit=MOST_CHUNKS), index)
    evidence = [one for one in reading.evidence if one.origin is not Origin.GRAPH]
    words, model = reading.words, question_model(index)
    passages, rows, credit = passage_features(question.question, words, evidence, model)
    y = np.array(
        [float(one.evidence.path in question.relevant and _has_fact(one, question)) for one in passages], np.float64
    )
    return Asked(repository, question, reading, passages, words, rows.astype(np.float64), y, credit)


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


def logistic(values: Floats, answerable: NDArray[np.bool_]) -> Floats:
    """(bias, weights) by Newton's method, over values of one spread. What is decided without weights (names that
    nothing declares) is not among them."""
    mean, spread = values.mean(0), values.std(0) + 1e-9
    x = np.column_stack([np.ones(len(values)), (values - mean) / spread])
    penalty = 0.02 * len(values) * np.diag([1e-9] + [1.0] * values.shape[1])
    made = np.zeros(x.shape[1])
    for _ in range(40):
        p = 1 / (1 + np.exp(-x @ made))
        gradient = x.T @ (p - answerable) + penalty @ made
        made -= np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + penalty, gradient)
    weights = made[1:] / spread
    return np.concatenate([[made[0] - weights @ mean], weights])


if __name__ == "__main__":
    main()
