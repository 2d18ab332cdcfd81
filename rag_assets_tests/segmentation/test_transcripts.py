"""Cues with their time and speaker, pages with their number."""

from __future__ import annotations

import pytest

from rag_assets.contracts.segment import MemberKind, ParseHealth, SegmentedFile
from rag_assets.contracts.time_codes import begins_at, spoken, spoken_by
from rag_assets.segmentation import segment_file
from rag_assets_tests.documents import vtt

TALK = vtt(
    ("00:00", "<v Anna>Good morning."), ("00:10", "<v.loud Bob Lee>Hello."), ("12:34", "We begin."), title="Talk"
)


def cues(found: SegmentedFile) -> list[tuple[str, str, str]]:
    return [(member.name, member.value, member.signature) for member in found.segments[0].members]


@pytest.mark.rule("E03")
def test_a_webvtt_file() -> None:
    found = segment_file(TALK, "talks/talk.vtt", "vtt")
    (segment,) = found.segments
    assert (segment.name, segment.kind, segment.symbol, found.health) == ("Talk", "transcript", "talks/talk.vtt", "ok")
    assert cues(found) == [
        ("Anna", "0-9", "Good morning."), ("Bob Lee", "10-19", "Hello."), ("Bob Lee", "754-763", "We begin.")
    ]  # fmt: skip
    slices = [member.span.slice(TALK) for member in segment.members]
    assert "\n\n".join(slices) == TALK, "nothing is lost"
    assert slices[2] == "00:12:34.000 --> 00:12:43.000\nWe begin.\n"
    assert {member.kind for member in segment.members} == {MemberKind.CUE}


@pytest.mark.rule("E03")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_subrip_file(end: str) -> None:
    text = "1\n00:00:01,500 --> 00:00:04,000\nHello\neverybody.\n\n2\n01:02:03,000 --> 01:02:09,500 X1:0\n\nlate\n"
    found = segment_file(text.replace("\n", end), "old.srt", "srt")
    assert cues(found) == [("", "1.5-4", "Hello")], "a cue ends at the first blank line"
    assert found.segments[0].name == "old"


@pytest.mark.rule("E03")
@pytest.mark.parametrize(
    ("said", "speakers"),
    [
        (["Anna: Hi.", "and", "Bob: Yes.", "Anna: No.", "Bob: Ok."], ["Anna", "Anna", "Bob", "Anna", "Bob"]),
        (["Note: this", "Step one: that", "Then"], ["", "", ""]),
        ([">> ANNA: Hi.", ">> ANNA: Ho."], ["ANNA", "ANNA"]),
        (["at 10:30: hello", "at 10:30: bye"], ["", ""]),
    ],
)
def test_who_speaks(said: list[str], speakers: list[str]) -> None:
    text = vtt(*((f"00:{10 * at:02d}", words) for at, words in enumerate(said)))
    assert [speaker for speaker, _, _ in cues(segment_file(text, "a.vtt", "vtt"))] == speakers


def test_what_is_no_cue() -> None:
    text = (
        "WEBVTT\n\nNOTE a note\n\nSTYLE\n::cue {}\n\nintro\n00:01.000 --> 00:02.000 align:start\nHello.\n\n"
        "00:03.000 --> 00:04.000\n\n00:xx --> 00:05.000\nlost\n"
    )
    assert cues(segment_file(text, "a.vtt", "vtt")) == [("", "1-2", "Hello.")]


@pytest.mark.parametrize("text", ["WEBVTT\n", "just words", "-->", "00:01.000 --> 00:02.000"])
def test_a_file_without_a_cue_is_windows(text: str) -> None:
    found = segment_file(text, "a.vtt", "vtt")
    assert found.health is ParseHealth.TEXT_FALLBACK and found.segments[0].kind == "transcript"


def test_the_words_alone() -> None:
    part = "7\n00:00:01,000 --> 00:00:02,000\n<v Anna>So <c.x>it</c> <00:00:01.500>is.\n\nSay List<int> twice.\n"
    assert spoken(part) == "So it is.\nSay List<int> twice."
    assert spoken_by(part) == "Anna: So it is.\nSay List<int> twice."
    assert spoken("7\n8\nnine") == "7\n8\nnine"


@pytest.mark.parametrize(
    ("words", "seconds"), [("Good morning.", 0), ("Hello.", 10), ("We begin.", 754), ("WEBVTT", 99)]
)
def test_when_something_is_said(words: str, seconds: int) -> None:
    assert begins_at(TALK, TALK.find(words), 99) == seconds
    assert begins_at(TALK, TALK.find("00:12:34"), 99) == 754, "a passage that begins with its timing line"


@pytest.mark.rule("E02")
def test_pages() -> None:
    text = "One\nmore\n\f\n\fThree\n"
    (segment,) = segment_file(text, "docs/guide.pdf", "pdf").segments
    assert (segment.name, segment.kind) == ("guide", "document")
    assert [(page.value, page.kind, page.span.slice(text)) for page in segment.members] == [
        ("1", MemberKind.PAGE, "One\nmore\n"), ("3", MemberKind.PAGE, "Three\n")
    ]  # fmt: skip
