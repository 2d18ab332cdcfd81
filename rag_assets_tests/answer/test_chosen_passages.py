"""Which passages are quoted, and in which order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.answer.passage_ranking import _AGAIN, _SAID, RankedPassages, ranked, same_place
from rag_assets.answer.passages import passages_of
from rag_assets.answer.question_analysis import QueryTerm, root
from rag_assets.contracts.outline import SectionMember
from rag_assets_tests.answer.pieces import piece

WORDS = (QueryTerm("refund", "refund", 2.0, True), QueryTerm("order", "order", 1.0, True))
PASSAGES = [
    passage
    for at, path in enumerate(("a.md", "b.md", "c.md"))
    for passage in passages_of(
        piece(
            "\n\n".join(f"# Part {number} of {path}\n\n{'says much ' * 70}" for number in range(4)),
            f"{at:08x}",
            path=path,
            language="markdown",
            line_start=1,
            line_end=20,
        )
    )
]
ASKED = st.lists(
    st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.3, 0.9]), st.floats(-2, 2, width=16)),
    min_size=len(PASSAGES),
    max_size=len(PASSAGES),
)


def by_looking_at_all(ranked: RankedPassages, most: int, paths: set[str]) -> list[int]:
    """The obvious way: of all that are left the best one, again and again; those of its file lose."""
    says = [at for at in range(len(ranked.passages)) if (ranked.credit[at] >= _SAID).any()]
    left = {at: float(ranked.scores[at]) for at in says if ranked.passages[at].evidence.path in paths}
    taken: list[int] = []
    while left and len(taken) < most:
        best = max(left, key=lambda at: (left[at], -at))
        del left[best]
        if any(same_place(ranked.passages[best], ranked.passages[other]) for other in taken):
            continue
        taken.append(best)
        for at in left:
            left[at] -= _AGAIN * (ranked.passages[at].evidence.path == ranked.passages[best].evidence.path)
    return taken


@given(ASKED, st.integers(1, 9), st.sets(st.sampled_from(["a.md", "b.md", "c.md"])))
def test_the_best_passages_of_different_files_come_first(
    asked: list[tuple[float, float, float]], most: int, paths: set[str]
) -> None:
    assert len(PASSAGES) == 12
    rows = sorted(asked, key=lambda row: -row[2])
    credit = np.array([row[:2] for row in rows], np.float32)
    scores = np.array([row[2] for row in rows], np.float32)
    ranked = RankedPassages(
        tuple(PASSAGES), scores, WORDS, credit, credit @ np.array([2 / 3, 1 / 3], np.float32), np.zeros((12, 1))
    )
    within = {one.evidence for one in PASSAGES if one.evidence.path in paths}
    assert ranked.chosen(most, within) == by_looking_at_all(ranked, most, paths)


@pytest.mark.parametrize(
    ("text", "is_page"),
    [
        ("<h1>Refunds</h1>\n<p>An order is refunded within ten days.</p>", False),
        ("<form method='post'>\n<button>Refund the order</button>\n</form>", True),
        ("<p>{% if order.refunded %}The order is refunded.{% endif %}</p>", True),
    ],
)
def test_a_page_of_an_application_is_no_text_about_it(text: str, is_page: bool) -> None:
    words = (QueryTerm("order", "order", 1.0, True), QueryTerm("refund", "refund", 1.0, True))
    found = ranked("when is an order refunded", words, [piece(text, language="html", path="orders.html")], None)
    assert any("configuration" in found.parts_of(at) for at in range(len(found.passages))) is is_page


@pytest.mark.parametrize(
    ("code", "is_amount"),
    [
        ("int Limit => 25;", True),
        ("int Limit => 7;", True),
        ("int Limit => rows[0];", False),
        ("int A1 => V2.B;", False),
    ],
)
def test_an_amount_is_more_than_nothing_or_one(code: str, is_amount: bool) -> None:
    words = (QueryTerm("limit", "limit", 2.0, True),)
    found = ranked("how many may be in the limit", words, [piece(code, path="a.cs")], None)
    assert ("amount" in found.parts_of(0)) == is_amount


LICENCES = {
    "mit": """\
Permission is hereby granted, free of charge, to any person obtaining a copy
// of this software, to deal in it without restriction.
//
// THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, AND NO AUTHOR
// NEEDS ANY PERMISSION FOR DEALINGS IN THE
// SOFTWARE.""",
    "apache": """\
Licensed under the Apache License, Version 2.0. You need no permission beyond it;
// see it for the specific language governing permissions and
// limitations under the License.""",
}


@pytest.mark.parametrize("terms", LICENCES.values(), ids=LICENCES)
def test_the_terms_of_a_licence_grant_no_permission_of_a_program(terms: str) -> None:
    words = (QueryTerm("permission", root("permission"), 2.0, True), QueryTerm("need", "need", 1.0, True))
    licensed = piece(
        f"// {terms}\npublic class Drawer\n{{\n    int Depth => 3;\n}}\n", "bbbb2222", path="src/Drawer.cs"
    )
    found = ranked("which permission do I need", words, [licensed], None)
    assert not found.credit[:, 0].any()
    granting = piece("bool Permission => Needs(role);\n", path="src/Door.cs")
    assert ranked("which permission do I need", words, [granting], None).credit[:, 0].any()


def test_an_excerpt_that_prints_a_licence_is_not_quoted() -> None:
    lines = "\n".join(f"    SELECT Drawer{at} FROM Kitchen;\n" for at in range(20))
    script = f"CREATE PROCEDURE Show AS\nBEGIN\n{lines}\n    PRINT '\n{LICENCES['mit'] * 4}';\n\n{lines}END\n"
    found = ranked("which drawer is shown", (), [piece(script, language="sql", path="db/Show.sql")], None)
    assert len(found.passages) > 1
    assert not any("AS IS" in one.code and "Kitchen" not in one.code for one in found.passages)


def test_a_member_says_nothing_of_what_the_description_of_its_type_does() -> None:
    """The sections of a long type are described as it is, and begin with any member."""
    text = "public string Country { get; set; }\n\npublic string Colour { get; set; }\n"
    members = tuple(SectionMember(name, "property", line, line) for name, line in (("Country", 3), ("Colour", 5)))
    words = (QueryTerm("variant", root("variant"), 2.0, True),)
    of_type = piece(text, members=members, description="Purpose: keeps all variants of a thing")
    assert not ranked("can it have variants", words, [of_type], None).credit.any()
    alone = piece("public string Country { get; set; }\n", description=of_type.description)
    assert ranked("can it have variants", words, [alone], None).credit.any()
