"""Many conversations at once on one process: does any turn get lost or read another's, and what does the engine take?

    python benchmarks/sessions.py --home HOME --label shop@main [--sessions 200] [--turns 3]
        [--model-seconds 5] [--reading-seconds 20]

Every session asks mined questions of its own, each with a word that nobody else has. The model is scripted: it takes
its time, routes by the question and cites the first piece of evidence. Conversations go into a temporary folder. Prints
turns, lost turns, cross-talk, and per turn the CPU time and the engine time (without the model): alone, one turn after
the other, and with all sessions at once. Ends with code 1 where something was lost or mixed.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from rag_assets import open_index
from rag_assets.contracts.result import InvokeResult
from rag_assets.evaluation.answer_mining import Minable
from rag_assets.history.conversations import Conversations, open_conversations
from rag_assets.index.layout import IndexHome
from rag_assets.qa.answering import QuestionAnswerer
from rag_assets.qa.ask_options import AskOptions
from rag_assets.qa.engine import TurnResult
from rag_assets.qa.services import Generated, ModelCall

_ID = re.compile(r'<evidence id="(\w+)"')
_MARK = re.compile(r"mark\d+x")
_ALONE = 30  # turns that are asked one after the other, after as many to warm up
_USER = "bench"


class Model:
    """Scripted; remembers which marks the prompts of each thread had."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.read: dict[int, set[str]] = {}

    def __call__(self, call: ModelCall) -> InvokeResult[Generated]:
        time.sleep(self.seconds)
        text = call.messages[1].content
        self.read.setdefault(threading.get_ident(), set()).update(_MARK.findall(text))
        if call.purpose == "router":
            question = text.rpartition("The question:\n")[2].split("\n")[1]
            return InvokeResult.create(Generated(f"[HYBRID:] {question}", "scripted"))
        found = _ID.search(text)
        return InvokeResult.create(Generated(f"[Answer:] It is so [chunk: {found[1] if found else 0}].", "scripted"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", required=True)
    parser.add_argument("--label", required=True)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--model-seconds", type=float, default=5.0, help="of each call; models are asked twice a turn")
    parser.add_argument("--reading-seconds", type=float, default=20.0, help="between an answer and the next question")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, open_index(options.label, home=options.home) as index:
        questions = [asked.text for asked in Minable(index).answerable(40)]
        points = index.manifest.counts.get("points", 0)
        with open_conversations(IndexHome(Path(folder))) as history:
            model = Model(0.0)
            with QuestionAnswerer(index, AskOptions(model=model), history=history) as asker:
                alone = [asker.ask(questions[at % len(questions)]) for at in range(2 * _ALONE)][_ALONE:]
                print(f"{options.label}, {points:,} points, {len(questions)} questions")
                _tell("alone", alone)
                model.seconds = options.model_seconds
                model.read.clear()
                talks = [
                    [
                        f"{questions[(number * options.turns + turn) % len(questions)]} mark{number}x"
                        for turn in range(options.turns)
                    ]
                    for number in range(options.sessions)
                ]
                made, errors, spent = _at_once(asker, talks, options.model_seconds * 2, options.reading_seconds)
        _tell(f"{options.sessions} at once", made, spent)
        with open_conversations(IndexHome(Path(folder))) as history:
            lost = _lost(history, options.sessions, options.turns)
    mixed = sum(len(marks) > 1 for marks in model.read.values())
    print(f"{len(made):,} turns answered, {lost} lost, {mixed} sessions read another's words, {len(errors)} errors")
    for error in errors[:3]:
        print(f"  {type(error).__name__}: {error}")
    return int(bool(lost or mixed or errors))


def _at_once(
    asker: QuestionAnswerer, talks: Sequence[Sequence[str]], model_seconds: float, reading_seconds: float
) -> tuple[list[TurnResult], list[BaseException], float]:
    """(the turns, what went wrong, CPU seconds a turn)."""
    made: list[TurnResult] = []
    errors: list[BaseException] = []

    def talk(number: int) -> None:
        # People do not press enter in one moment: the first questions are spread over a turn.
        time.sleep((model_seconds + reading_seconds) * number / len(talks))
        try:
            for question in talks[number]:
                made.append(asker.ask(question, session=f"s{number}", user=_USER))
                time.sleep(reading_seconds)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=talk, args=(number,)) for number in range(len(talks))]
    begun = time.process_time()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return made, errors, (time.process_time() - begun) / max(1, len(made))


def _tell(name: str, results: Sequence[TurnResult], spent: float | None = None) -> None:
    engine = sorted(
        result.seconds - sum(call.seconds for record in result.records for call in record.calls) for result in results
    )
    if engine:
        p50, p95 = engine[len(engine) // 2], engine[int(len(engine) * 0.95)]
        cpu = "" if spent is None else f", {spent * 1_000:.0f} ms CPU a turn"
        print(f"{name}: engine p50 {p50 * 1_000:.0f} ms, p95 {p95 * 1_000:.0f} ms{cpu}")


def _lost(history: Conversations, sessions: int, turns: int) -> int:
    kept = {one.name: one.turns for one in history.sessions(_USER)}
    return sum(turns - kept.get(f"s{number}", 0) for number in range(sessions))


if __name__ == "__main__":
    sys.exit(main())
