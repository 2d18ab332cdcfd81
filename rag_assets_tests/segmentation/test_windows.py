"""Windows of lines: the form every text falls back to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.contracts.segment import LineIndex, ParseHealth, SegmentedFile
from rag_assets.languages.sliding_window import MAX_CHARS, MAX_LINES, cut_windows, statement_members, window_segment
from rag_assets_tests.segmentation.outline import check_covers_text, check_invariants, texts

ANY_LINES = st.lists(st.sampled_from(["", "a", "  b", "\t}", "é" * 40, "x " * 4000]), max_size=250).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n", "\r"]).map(lambda end: end.join(lines))
)


def _cut(text: str) -> list[str]:
    return [text[start:end] for start, end in cut_windows(text, LineIndex(text))]


@given(ANY_LINES)
def test_windows_tile_the_text_and_stay_in_their_bounds(text: str) -> None:
    windows = _cut(text)
    assert "".join(windows) == text
    for window in windows:
        assert 0 < len(window) <= MAX_CHARS
        assert LineIndex(window).line_of(len(window) - 1) <= MAX_LINES


def test_a_short_text_is_one_window() -> None:
    assert _cut("a\n\nb\n") == ["a\n\nb\n"]


def test_an_empty_text_has_none() -> None:
    assert _cut("") == []


def test_a_cut_goes_before_the_outermost_line_near_the_target() -> None:
    method = "    def f():\n" + "        pass\n" * 17 + "\n"
    text = "class A:\n" + method * 3 + "class B:\n" + method * 3
    assert [window.splitlines()[0] for window in _cut(text)] == ["class A:", "class B:"]


def test_a_cut_goes_after_a_blank_line_rather_than_inside_a_paragraph() -> None:
    text = ("one\n" * 9 + "\n") * 20
    assert all(window.endswith("one\n\n") for window in _cut(text))


def test_no_window_begins_with_a_closing_brace() -> None:
    text = ("{\n" + "  a\n" * 28 + "}\n") * 10
    assert not [window for window in _cut(text) if window.startswith("}")]


@pytest.mark.parametrize("line", ["a" * 2_000_000, '{"a":1,' * 280_000, "é, " * 600_000], ids=["word", "json", "wide"])
def test_a_single_line_of_megabytes_is_cut_inside(line: str) -> None:
    windows = _cut(line)
    assert "".join(windows) == line
    assert max(map(len, windows)) <= MAX_CHARS
    assert len(windows) < len(line) / MAX_CHARS * 1.2


def test_a_cut_inside_a_line_goes_after_a_separator_where_there_is_one() -> None:
    assert all(window.endswith(",") for window in _cut("name=value," * 2_000))


def test_a_window_segment_is_the_whole_file_with_windows_as_members() -> None:
    text = "first line\n" + "x\n" * 200
    segment = window_segment(text, "conf/app.ini", "ini", ParseHealth.NO_GRAMMAR, kind="config")
    file = SegmentedFile((segment,), ParseHealth.NO_GRAMMAR)
    check_invariants(text, file)
    check_covers_text(text, file)
    assert (segment.name, segment.symbol, segment.kind) == ("app", "conf/app.ini", "config")
    assert segment.span.slice(text) == text
    assert segment.members[0].name == "lines 1-60"
    assert segment.members[0].signature == "first line"


def test_names_of_windows_inside_one_line_differ() -> None:
    text = "x" * 20_000
    names = [member.name for member in window_segment(text, "a", "json", ParseHealth.NO_GRAMMAR).members]
    assert names == [
        "line 1 characters 0-6000",
        "line 1 characters 6000-12000",
        "line 1 characters 12000-18000",
        "line 1 characters 18000-20000",
    ]


def test_blank_windows_are_left_out() -> None:
    text = "a\n" + "\n" * 300 + "b\n"
    segment = window_segment(text, "a.txt", "text", ParseHealth.OK)
    assert [content.strip() for content in texts(text, segment)] == ["a", "b"]


def test_statements_are_one_member_until_they_are_long() -> None:
    short, long = "x = 1\n", "x = 1\n" * 2_000
    assert len(statement_members(short, LineIndex(short), 0, len(short))) == 1
    assert len(statement_members(long, LineIndex(long), 0, len(long))) > 1
    assert statement_members(" \n", LineIndex(" \n"), 0, 2) == ()
