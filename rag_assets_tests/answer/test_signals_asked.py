"""Who gets a signal of Django or Celery is told by the lines that connect it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_assets.answer.question_kinds import asks_handler
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "post/signals.py": "letter_sent = Signal()\nletter_lost = Signal()\n",
    "post/apps.py": """\
class PostConfig(AppConfig):
    def ready(self):
        from post.signals import letter_sent

        letter_sent.connect(count_stamps)
        letter_sent.connect(tell_sender)
        letter_lost.connect(tell_sender)
""",
    "post/handlers.py": "@receiver(letter_sent, sender=Letter)\ndef burn(sender, **kwargs):\n    sender.burn()\n",
}


@pytest.mark.parametrize("question", ["who handles the letter_sent signal?", "what is connected to letter_sent?"])
def test_each_line_that_connects_a_signal_is_told(tmp_path: Path, question: str) -> None:
    with opened_index(tmp_path, FILES, "post") as index:
        told = index.ask(question, options=AskOptions()).text
    assert "post/apps.py:5: `letter_sent.connect(count_stamps)`" in told
    assert "post/apps.py:6: `letter_sent.connect(tell_sender)`" in told
    assert "post/handlers.py:1: `@receiver(letter_sent, sender=Letter)`" in told
    assert "receives **letter_lost**" not in told


@pytest.mark.parametrize(
    ("question", "is_asked"),
    [
        ("which receivers does the signal letter_sent have?", True),
        ("which handlers are connected to letter_sent?", True),
        ("what is connected to the database when it starts?", False),
    ],
)
def test_questions_for_receivers_of_signals(question: str, is_asked: bool) -> None:
    assert asks_handler(question) is is_asked
