"""What the engine of `ask` takes of a turn, without the time of the model, step by step.

    python benchmarks/asking.py --home HOME --label shop@main [--questions 200]

Mined questions, each asked once, after twenty others that open what is opened once; an index of about 20,000 points is
what the target is for. Without a model, and with a scripted one that answers at once; each alone and in sessions whose
turns are kept. The first table is the engine: elapsed (what a model took is subtracted) and CPU time of all threads.
The second says where the time goes; `everything else` is the pipeline, the checks of a model's reply and the lock. The
index is only read: conversations and the query log go into a temporary home.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from report import child, table
from sessions import Model

from rag_assets import open_index
from rag_assets.evaluation.answer_mining import Minable, spread
from rag_assets.qa.answering import QuestionAnswerer
from rag_assets.qa.ask_options import AskOptions

TARGET_SECONDS = 0.060
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
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(mined(options.home, options.label, options.questions + _WARMING)))
        return
    # Mining reads the whole index: a process of its own leaves nothing of it in our caches.
    same = ("--home", options.home, "--label", options.label, "--questions", options.questions)
    asked = child(__file__, *same, "--child")
    print(f"{options.label}: {asked['points']:,} points, {len(asked['questions']) - _WARMING} questions")
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
