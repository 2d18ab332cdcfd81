"""What somebody who watches an answer in the making sees of it."""

from __future__ import annotations

import pytest

from rag_assets.contracts.llm import ASKED_AGAIN
from rag_assets.qa.turn import AnswerStream


def seen(*parts: str) -> str:
    made: list[str] = []
    stream = AnswerStream(made.append)
    for part in parts:
        stream(part)
    stream.end()
    return "".join(made)


@pytest.mark.rule("D10")
@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        (["[Answer:] It is so."], "It is so."),
        (["[An", "swer", ":]", " It", " is."], "It is."),
        (list("[ANSWER:] It."), "It."),
        (["\n[Answer:]", "x\n", "y"], "x\ny"),
        (["[Requesting data on:] more", " of it"], ""),
        (["Sure! ", "[Answer:] x"], ""),
        (["[Answer:] half", ASKED_AGAIN, "[Answer:] whole"], "half\nwhole"),
        (["[Requesting data on:] x", ASKED_AGAIN, "[Answer:] y"], "y"),
        (["[Answer:] x", "\n", "y"], "x\ny"),
        (["[Answer:] x [Reques", "ting data on:] y", "\nz"], "x"),
        (["<thi", "nk>[Answer:] no", "t yet</think>", "\n\n[Answer:] It."], "It."),
        ([], ""),
    ],
    ids=[
        "at-once",
        "in-parts",
        "by-letter",
        "lines",
        "request",
        "no-prefix",
        "asked-again",
        "then-answered",
        "line-end-alone",
        "marker-inside",
        "thoughts",
        "nothing",
    ],
)
def test_prefixes_and_requests_are_not_shown(parts: list[str], shown: str) -> None:
    assert seen(*parts) == shown


@pytest.mark.rule("D10", "R11")
def test_another_reply_begins_on_a_line_of_its_own() -> None:
    made: list[str] = []
    stream = AnswerStream(made.append)
    for part in ("It is ", "so."):
        stream(part)
    stream.begin_again()
    stream("[Answer:] It is so.")
    stream.end()
    assert "".join(made) == "It is so.", "what had no prefix is not shown beside what has"
    stream.begin_again()
    stream("[Answer:] Or not.")
    stream.end()
    assert "".join(made) == "It is so.\nOr not."
