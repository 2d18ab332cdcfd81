"""What a build noticed, in words of people."""

from __future__ import annotations

from typing import Any

import pytest

from rag_assets.cli.index.summary import check_remark, rule_remarks


def check(name: str, numbers: dict[str, int], *examples: str) -> dict[str, Any]:
    return {"name": name, "numbers": numbers, "examples": list(examples)}


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            check("kinds_are_recognised", {"csharp_segments": 1203, "other": 493, "percent": 41}, "choose other packs"),
            "41 % of 1,203 C# types have no known role and are of the kind Other; choose other packs",
        ),
        (
            check("builders_succeeded", {"failed": 5}, "a\n  b", "c", "d", "e", "f"),
            "5 descriptions could not be made; a b; c; d; and 2 more",
        ),
        (check("every_file_has_an_outcome", {"files": 9, "without_sections": 1}), "1 file without a section"),
        (check("is_new", {"lost": 3, "kept": 0}, "x"), "is_new: lost 3; x"),
        (check("is_new", {}), "is_new"),
    ],
    ids=["kinds", "many examples", "one", "without words of its own", "without numbers"],
)
def test_a_check_that_warns_says_what_it_found(found: dict[str, Any], said: str) -> None:
    assert check_remark(found) == said


@pytest.mark.parametrize(
    ("warnings", "said"),
    [
        ({}, []),
        (
            {"PAYLOAD.business-domain-key": 12},
            ["12 of 900 sections are of no domain; widen the paths or namespaces of domains"],
        ),
        (
            {"RESX.missing-key": 2},
            ["2 texts are used that the resource file does not have; its key is shown (RESX.missing-key)"],
        ),
        ({"REFINE.link": 1}, ["1 summary of the model not used, the derived one is kept (REFINE.link)"]),
        ({"LLM.timeout": 2}, ["2 summaries not written by the model (LLM.timeout)"]),
        ({"ACME.own": 3}, ["3 warnings of ACME.own"]),
    ],
    ids=["nothing", "some domains", "a rule", "refused", "unanswered", "of a plugin"],
)
def test_a_rule_that_warned_says_what_it_means(warnings: dict[str, int], said: list[str]) -> None:
    assert list(rule_remarks(warnings, 900)) == said
