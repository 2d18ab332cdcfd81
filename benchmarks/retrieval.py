"""How well searching finds the files that answer a question: nDCG@10 of the real `Index.search`, and of simpler
rankings beside it.

    python benchmarks/retrieval.py --questions ../shared/eval --cache ~/.cache/retrieval
    python benchmarks/retrieval.py --questions QUESTIONS --cache CACHE --mirrors MIRRORS --modes hybrid --json
    python benchmarks/retrieval.py --questions QUESTIONS --cache CACHE --modes hybrid --fusion rrf --no-floors

QUESTIONS holds `history/{commit,doc,ident}.jsonl` with `history/repos.json`, and `annotated/*.json`. Repositories are
cloned from GitHub at the pinned revisions, or read from MIRRORS, which holds `OWNER+NAME/repo`, `OWNER+NAME` or
`OWNER/NAME`. Every snapshot is indexed once by the real pipeline, the lines that give answers away emptied, and kept in
CACHE. What is ranked is C# files, or all files of a repository in another language: a file is where its best section
is.

Commit questions are leaky when they name the file that answers them; the others decide. An annotated mean is that of
the repositories. Beside the modes of the search: BM25 of rank-bm25 over whole files, identifiers split; reciprocal rank
fusion (k 60) of the keyword and the semantic ranking; and with --peer-python semble (`retrieval_peers`).
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

from report import EMBEDDERS, table
from retrieval_floors import fused, whole_file_bm25
from retrieval_peers import PeerError, Semble
from retrieval_questions import ANNOTATED, ANNOTATED_OTHERS, Question, load_questions, load_snapshots
from retrieval_snapshots import benchmark_settings, open_snapshot

from rag_assets import Index
from rag_assets.contracts.retrieval import DEFAULT_POLICY, Fusion
from rag_assets.evaluation.metrics import CUT, NDCG, measure, metric_name
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.search.ranking.penalties import is_test_path

SECTIONS = 60
"""Asked for, so that they lie in ten files."""
MODES = ("bm25", "semantic", "semantic_rerank", "hybrid")
WHOLE_FILES, RRF = "rank-bm25, whole files", "RRF of bm25 and semantic"
DECIDING = ("commit, non-leaky", "doc", "ident", ANNOTATED)
LEAKY = "commit, leaky"
_MS = 1000


@dataclass(frozen=True, slots=True)
class Answer:
    """What one ranking gave for one question: nDCG@10 with all files and without those of tests. `seconds` is of the
    whole search; 0 for a floor."""

    system: str
    question: str
    set: str
    group: str
    repository: str
    ndcg: float
    ndcg_without_tests: float
    seconds: float
    files: tuple[str, ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=Path, required=True, help="folder of question sets")
    parser.add_argument("--cache", type=Path, required=True, help="folder to keep snapshots and indexes in")
    parser.add_argument("--mirrors", type=Path, default=None, help="folder of repositories; default: GitHub")
    parser.add_argument("--modes", default=",".join(MODES), help="comma-separated modes of the search")
    parser.add_argument("--fusion", choices=get_args(Fusion), default=DEFAULT_POLICY.fusion, help="of mode hybrid")
    parser.add_argument("--no-floors", action="store_true", help="leave the simpler rankings out")
    parser.add_argument("--only", default="", help="comma-separated repositories (OWNER/NAME); default: all")
    parser.add_argument("--peer-python", type=Path, default=None, help="a Python that has semble, to rank with it too")
    parser.add_argument("--peer-model", default="", help="its model; default: static vectors of the local one")
    parser.add_argument("--embedder", choices=EMBEDDERS, default="static-code", help="what the indexes are made with")
    parser.add_argument("--json", action="store_true", help="one JSON object per answer instead of tables")
    arguments = parser.parse_args()
    settings = benchmark_settings(arguments.embedder, arguments.fusion)
    modes = ["bm25"] if arguments.embedder == "lexical-only" else arguments.modes.split(",")
    questions = load_questions(arguments.questions)
    only = arguments.only.split(",") if arguments.only else []
    answers: list[Answer] = []
    try:
        peer = Semble(arguments.peer_python, arguments.peer_model, arguments.cache) if arguments.peer_python else None
        for snapshot in load_snapshots(arguments.questions):
            if only and snapshot.repository not in only:
                continue
            asked = [question for question in questions if question.repository == snapshot.repository]
            with open_snapshot(snapshot, arguments.mirrors, arguments.cache, settings) as index:
                answers += answered(index, asked, modes, floors=not arguments.no_floors)
                answers += by_peer(index, asked, peer) if peer is not None else []
    except PeerError as error:
        sys.exit(f"error: {error}")
    if arguments.json:
        for answer in answers:
            print(json.dumps(asdict(answer), sort_keys=True))
    else:
        report(answers)


def answered(index: Index, questions: Sequence[Question], modes: Sequence[str], *, floors: bool) -> list[Answer]:
    """Every question to every mode, and to the floors."""
    made: list[Answer] = []
    whole = whole_file_bm25(index, _suffix(questions[0])) if floors else None
    for mode in modes:
        index.search("warm up", mode=mode)
    for question in questions:
        rankings: dict[str, tuple[Sequence[str], float]] = {}
        for mode in modes:
            result = index.search(
                question.text, mode=mode, filters=_ranked_files(question), limit=SECTIONS, literal=True
            )
            rankings[mode] = (distinct(hit.path for hit in result), result.timings["total"])
        if floors and {"bm25", "semantic"} <= rankings.keys():
            rankings[RRF] = (fused([rankings["bm25"][0], rankings["semantic"][0]]), 0.0)
        if whole is not None:
            rankings[WHOLE_FILES] = (whole(question.text), 0.0)
        made += [_answer(system, question, files, seconds) for system, (files, seconds) in rankings.items()]
    return made


def _ranked_files(question: Question) -> SearchFilters:
    """C# files, or all of a repository in another language, documents among them."""
    return SearchFilters() if question.set == ANNOTATED_OTHERS else SearchFilters(languages=("csharp",))


def _suffix(question: Question) -> str:
    """How the paths end that are ranked; the questions of one repository agree on it."""
    return "" if question.set == ANNOTATED_OTHERS else ".cs"


def by_peer(index: Index, questions: Sequence[Question], peer: Semble) -> list[Answer]:
    """Every question to the peer; as many of its chunks as there are sections of ours."""
    found = peer.rankings(index, _suffix(questions[0]), [question.text for question in questions], SECTIONS)
    pairs = zip(questions, found, strict=True)
    return [_answer(peer.name, question, ranking.files, ranking.seconds) for question, ranking in pairs]


def distinct(paths: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(paths))


def _answer(system: str, question: Question, files: Sequence[str], seconds: float) -> Answer:
    others = [path for path in files if not is_test_path(path)]
    return Answer(
        system=system,
        question=question.id,
        set=question.set,
        group=question.group,
        repository=question.repository,
        ndcg=ndcg(files, question),
        ndcg_without_tests=ndcg(others, question),
        seconds=seconds,
        files=tuple(files[:CUT]),
    )


def ndcg(files: Sequence[str], question: Question) -> float:
    return measure([frozenset((path,)) for path in files[:CUT]], question.relevant, CUT)[metric_name(NDCG, CUT)]


def report(answers: Sequence[Answer]) -> None:
    """Prints the means over all repositories, of the parts of each set, per repository, and what searching costs."""
    by_system = grouped(answers, lambda answer: answer.system)
    for title, without_tests in (("nDCG@10", False), ("nDCG@10, test files removed", True)):
        means = {name: set_means(found, without_tests=without_tests) for name, found in by_system.items()}
        print_means(title, means, [*DECIDING, ANNOTATED_OTHERS, LEAKY], total=True)
    means = {name: set_means(found) for name, found in by_system.items()}
    parts = sorted({column for found in means.values() for column in found} - {*DECIDING, ANNOTATED_OTHERS, LEAKY})
    print_means("nDCG@10 of parts", means, parts)
    for system, own in by_system.items():
        per = {name: set_means(found) for name, found in grouped(own, lambda answer: answer.repository).items()}
        print_means(f"nDCG@10 of {system}", per, [*DECIDING, ANNOTATED_OTHERS, LEAKY])
    timed = {name: [answer.seconds * _MS for answer in found] for name, found in by_system.items()}
    rows = [
        (name, f"{statistics.median(found):.1f}", f"{statistics.quantiles(found, n=20)[-1]:.1f}")
        for name, found in timed.items()
        if any(found)
    ]
    table((f"search of {SECTIONS} sections", "p50 ms", "p95 ms"), rows)


def print_means(
    title: str, means: Mapping[str, Mapping[str, float]], columns: Sequence[str], *, total: bool = False
) -> None:
    """One row for each name; with `total` the mean of the deciding columns at its end."""
    shown = [column for column in columns if any(column in found for found in means.values())]
    rows = [
        (
            name,
            *(f"{found[column]:.3f}" if column in found else "" for column in shown),
            *([f"{decided(found):.3f}"] if total else []),
        )
        for name, found in means.items()
    ]
    table((title, *shown, *(["mean of the first four"] if total else [])), rows)


def grouped(answers: Iterable[Answer], key: Callable[[Answer], str]) -> dict[str, list[Answer]]:
    """Key → its answers, in the order of first use."""
    found: dict[str, list[Answer]] = {}
    for answer in answers:
        found.setdefault(key(answer), []).append(answer)
    return found


def set_means(answers: Iterable[Answer], *, without_tests: bool = False) -> dict[str, float]:
    """Column → mean. An annotated column is the mean of its repositories, every other one that of its questions."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for answer in answers:
        value = answer.ndcg_without_tests if without_tests else answer.ndcg
        for column in _columns(answer):
            found[column][answer.repository if answer.set.startswith(ANNOTATED) else ""].append(value)
    return {
        column: statistics.fmean(statistics.fmean(values) for values in parts.values())
        for column, parts in sorted(found.items())
    }


def _columns(answer: Answer) -> tuple[str, ...]:
    if answer.set == "commit":
        return (f"commit, {answer.group}",)
    if answer.set == "doc":
        return ("doc",)
    return (answer.set, f"{answer.set}: {answer.group}")


def decided(means: Mapping[str, float]) -> float:
    return statistics.fmean(means[name] for name in DECIDING if name in means)


if __name__ == "__main__":
    main()
