"""Reports: what is in them, and that nothing of a question can become markup."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from rag_assets.evaluation.comparison import difference
from rag_assets.evaluation.report import NothingMeasured, Report, make_report, markdown
from rag_assets.evaluation.summary import record_of
from rag_assets.index.eval_records import EvalRecord, EvalRun, write_run
from rag_assets.index.generations import Generation
from rag_assets.serving.page.eval_report import html
from rag_assets_tests.evaluation.made_runs import manifest, result, run

pytestmark = pytest.mark.rule("E24")
EVIL = '</td><script>alert("1")</script> | `x` & <img src=//a.b onerror=c> \n# no_heading *'


class Elements(HTMLParser):
    """Every element that a browser would make, and whether they are closed as they were opened."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.values: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.values += [value or "" for _, value in attrs]
        if tag not in ("meta", "line", "circle", "polygon", "polyline"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.values += [value or "" for _, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        if tag != "circle":
            assert self.open.pop() == tag


def asked(generation: str, ranks: tuple[int, ...], **changes: object) -> EvalRun:
    made = [result(f"q{n}", rank, tags=("x",) if n % 2 else (EVIL,)) for n, rank in enumerate(ranks)]
    made[0] = replace(made[0], question=EVIL, absent=(EVIL,))
    return run(made, generation, **changes)


def record(generation: str, day: int, made: EvalRun) -> EvalRecord:
    known = manifest(generation, commit_sha=f"{day:040x}", commit_date=f"2026-01-{day:02d}T00:00:00Z")
    return record_of(made, known)


@pytest.fixture
def report(tmp_path: Path) -> Report:
    old, new = asked("old", (1, 1, 2, 1)), asked("new", (0, 1, 1, 3))
    write_run(tmp_path, replace(new, against=difference(old, new)))
    records = [record("first", 1, asked("first", (0, 0, 1, 1), fingerprint="g")), record("old", 2, old)]
    return make_report(Generation(tmp_path, manifest("new")), [*records, record("new", 3, new)])


def test_markdown_has_generations_categories_and_lost_questions(report: Report) -> None:
    said = markdown(report)
    for part in (
        "# Answers of shop@main",
        "## questions",
        "| commit | date | generation | questions | search | ranking |",
        "| 0000000000 | 2026-01-01 | first | 4 | bm25 | 1 |",
        "### Against old: 1 lost, 1 down, 1 up, 1 the same",
        "| lost | q0: ",
        "| all | 4 |",
        "| x | 2 |",
        "### Not answered first",
    ):
        assert part in said, part
    assert said.count("| no |") == 1, "the first run asked other questions"
    columns = {line.count(" | ") for line in said.splitlines() if line.startswith("| lost")}
    assert columns == {3}, "no cell was made by a question"


def test_no_text_becomes_markup(report: Report) -> None:
    page = html(report)
    found = Elements(page)
    assert not found.open, "everything is closed"
    assert {"script", "img", "link", "iframe", "a", "object"}.isdisjoint(found.names)
    assert "&lt;script&gt;" in page
    said = markdown(report)
    assert "<script" not in re.sub(r"\\<", "", said) and "\n# no" not in said


def test_the_page_loads_nothing(report: Report) -> None:
    values = Elements(html(report)).values
    assert [value for value in values if "//" in value] == ["http://www.w3.org/2000/svg"] * 2, "the name of SVG only"
    assert "default-src &#x27;none&#x27;" in html(report)


def test_the_plot_has_the_runs_of_the_same_questions(report: Report) -> None:
    page = html(report)
    assert page.count("<polyline") == 4 and page.count("<title>mrr@10") == 2
    assert "1 earlier runs asked other questions" in page
    assert "ndcg@10 by category" in page


def test_the_same_numbers_give_the_same_bytes(report: Report) -> None:
    assert html(report) == html(report) and markdown(report) == markdown(report)


def test_one_generation_is_enough_for_a_report(tmp_path: Path) -> None:
    made = asked("new", (1,))
    found = make_report(Generation(tmp_path, manifest("new")), [record("new", 1, made)])
    assert found.sets[0].run is None, "it was pruned from the generation, or another one was asked"
    assert not Elements(html(found)).open
    write_run(tmp_path, made)
    assert not Elements(html(make_report(Generation(tmp_path, manifest("new")), []))).open


def test_without_a_run_the_report_says_how_to_make_one(tmp_path: Path) -> None:
    generation = Generation(tmp_path, manifest("new"))
    with pytest.raises(NothingMeasured, match=r"nothing was ever asked of shop@main; .*rag-assets eval run shop@main"):
        make_report(generation, [])
    write_run(tmp_path, asked("new", (1,)))
    with pytest.raises(NothingMeasured, match="set 'other' was never asked of shop@main; there are: questions"):
        make_report(generation, [], "other")
