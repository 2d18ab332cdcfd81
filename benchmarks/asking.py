"""What the engine of `ask` takes of a turn, without the time of the model, step by step; and what it cites.

    python benchmarks/asking.py --home HOME --label shop@main [--questions 200] [--citations]

Mined questions, each asked once, after twenty others that open what is opened once; an index of about 20,000 points is
what the target is for. Without a model, and with a scripted one that answers at once; each alone and in sessions whose
turns are kept. The first table is the engine: elapsed (what a model took is subtracted) and CPU time of all threads.
The second says where the time goes; `everything else` is the pipeline, the checks of a model's reply and the lock. The
index is only read: conversations and the query log go into a temporary home.

`--citations` asks without a model and measures what is cited instead: how many lines a citation has, how many of those
with a symbol have its name on these lines in the text of the commit (must be 1.00), and what `cite check` says of the
answers with their citations written out.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from report import child, table
from sessions import Model

from rag_assets import open_index
from rag_assets.answer.cited_lines import MOST_LINES, rendered
from rag_assets.answer.cited_places import PlaceChecker
from rag_assets.evaluation.answer_mining import Minable, spread
from rag_assets.qa.answering import QuestionAnswerer
from rag_assets.qa.ask_options import AskOptions
from rag_assets.search.source_lines import SourceReader

TARGET_SECONDS = 0.040
_WARMING = 20  # questions
_SESSION_TURNS = 5


@dataclass(slots=True)
class Spent:
    """Seconds of each turn: the engine, its CPU time, and each part of it."""

    engine: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    parts: dict[str, list[float]] = field(default_factory=dict)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", required=True, type=Path)
    parser.add_argument("--label", required=True)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--citations", action="store_true", help="what is cited, and whether it holds; no times")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(mined(options.home, options.label, options.questions + _WARMING)))
        return
    # Mining reads the whole index: a process of its own leaves nothing of it in our caches.
    same = ("--home", options.home, "--label", options.label, "--questions", options.questions)
    asked = child(__file__, *same, "--child")
    print(f"{options.label}: {asked['points']:,} points, {len(asked['questions']) - _WARMING} questions")
    if options.citations:
        show_citations(options.home, options.label, asked["questions"])
        return
    found = {}
    for model in (None, Model(0.0)):
        for turns in (1, _SESSION_TURNS):
            name = "no model" if model is None else "scripted model"
            name += "" if turns == 1 else f", sessions of {turns} turns"
            with beside(options.home) as home:
                found[name] = measured(home, options.label, asked["questions"], AskOptions(model=model), turns)
    show(found)


def mined(home: Path, label: str, count: int) -> dict[str, object]:
    with open_index(label, home=home) as index:
        questions = [one.text for one in Minable(index).answerable(count)]
        return {"points": index.manifest.counts.get("points", 0), "questions": spread(questions, count)}


@contextmanager
def beside(home: Path) -> Iterator[Path]:
    """A home with the indexes of another one and a log of its own."""
    with tempfile.TemporaryDirectory(prefix="rag-assets-asking-", ignore_cleanup_errors=True) as folder:
        for part in home.iterdir():
            if part.is_dir():
                (Path(folder) / part.name).symlink_to(part.resolve(), target_is_directory=True)
        yield Path(folder)


def measured(home: Path, label: str, questions: Sequence[str], options: AskOptions, turns: int) -> Spent:
    spent = Spent()
    with open_index(label, home=home) as index, QuestionAnswerer(index, options) as asker:
        for at, question in enumerate(questions):
            session = f"s{at // turns}" if turns > 1 else ""
            wall, cpu = time.perf_counter(), time.process_time()
            result = asker.ask(question, session=session)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            if at < _WARMING:
                continue
            by_model = sum(call.seconds for record in result.records for call in record.calls)
            assert result.response is not None
            parts = {name: took for name, took in result.response.timings.items() if name not in ("total", "model")}
            parts |= {"before and after the steps": wall - result.seconds}
            for record in result.records:
                if record.step in ("history", "persist"):
                    parts[f"conversation: {record.step}"] = record.seconds
            parts["everything else"] = wall - by_model - sum(parts.values())
            spent.engine.append(wall - by_model)
            spent.cpu.append(cpu)
            for name, took in parts.items():
                spent.parts.setdefault(name, []).append(took)
    return spent


def show_citations(home: Path, label: str, questions: Sequence[str]) -> None:
    """Each citation is looked up again by its rendered place, as a reader of the answer would."""
    sizes: list[int] = []
    named: list[bool] = []
    said: list[str] = []
    with beside(home) as copy, open_index(label, home=copy) as index, QuestionAnswerer(index, AskOptions()) as asker:
        reader, checker = SourceReader(index), PlaceChecker(index)
        for question in questions:
            response = asker.ask(question).response
            if response is None or response.abstained:
                continue
            for one in response.citations:
                if "[source: " in one.rendered:  # a page or a time: no lines to open
                    continue
                lines = reader.read(one.rendered)
                assert (lines.start_line, lines.end_line) == (one.line_start, one.line_end), one.rendered
                sizes.append(one.line_end - one.line_start + 1)
                if one.symbol:
                    named.append(
                        set(re.findall(r"\w+", one.symbol.rpartition(".")[2])) <= set(re.findall(r"\w+", lines.text))
                    )
            written = rendered(response.text, response.citations, lambda one: one.rendered)
            said += [
                f"{known.cited.written}: {known.problem} {known.detail}"
                for known in checker.check(written)
                if known.problem
            ]
    ordered = sorted(sizes)
    table(
        (
            "citations",
            "with a symbol",
            "lines hold the symbol",
            "lines p50",
            "p90",
            "max",
            "over 40 lines",
            "cite check: wrong",
        ),
        [
            (
                str(len(sizes)),
                f"{len(named) / len(sizes):.2f}",
                f"{sum(named) / len(named):.2f}",
                *(str(ordered[int((len(ordered) - 1) * at)]) for at in (0.5, 0.9, 1.0)),
                f"{sum(size > MOST_LINES for size in sizes) / len(sizes):.3f}",
                str(len(said)),
            )
        ],
    )
    print("\n".join(said[:20]))


def show(found: dict[str, Spent]) -> None:
    table(
        ("engine, ms", "p50", "p95", "CPU p50", "CPU p95", "target p50"),
        (
            (name, *_both(spent.engine), *_both(spent.cpu), f"<= {TARGET_SECONDS * 1_000:.0f}")
            for name, spent in found.items()
        ),
    )
    names = list(dict.fromkeys(part for spent in found.values() for part in spent.parts))
    cell: Callable[[Spent, str], str] = lambda spent, part: " / ".join(_both(spent.parts.get(part, [0.0])))  # noqa: E731
    table(
        ("p50 / p95 of a part, ms", *found),
        ((part, *(cell(spent, part) for spent in found.values())) for part in names),
    )


def _both(seconds: Sequence[float]) -> tuple[str, str]:
    ordered = sorted(seconds)
    return f"{ordered[len(ordered) // 2] * 1_000:.1f}", f"{ordered[int(len(ordered) * 0.95)] * 1_000:.1f}"


if __name__ == "__main__":
    main()
