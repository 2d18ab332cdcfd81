"""What code checks before it does something is told in the order of its lines."""

from __future__ import annotations

import pytest

from rag_assets.answer.passages import passages_of
from rag_assets.answer.plans.validation import checks_of
from rag_assets.answer.question_kinds import asks_checks
from rag_assets_tests.answer.pieces import piece

CSHARP = """\
public Result Stamp(Letter letter, Clerk clerk)
{
    await AuthorizeAsync(letter, clerk);
    // if (old) return Result.Old;
    if (letter == null)
    {
        return Result.Failed("no letter");
    }

    if (letter.Weight > Limits.Heaviest
        || letter.Weight <= 0)
    {
        _log.Trace("too heavy");
        throw new WeightException(letter.Weight);
    }

    if (String.IsNullOrEmpty(letter.Zip)) errors.Add("A zip code is required.");
    if (letter.IsUrgent)
    {
        letter.Mark();
    }
    return Print(letter);
}
"""
PYTHON = """\
def stamp(letter, clerk):
    if not letter:
        raise ValueError("no letter")
    if letter.weight > HEAVIEST: return None
    if letter.urgent:
        mark(letter)
    return letter
"""
GO = """\
func Stamp(letter *Letter) error {
	if err := letter.Check(); err != nil {
		return err
	}
	if letter.Weight > heaviest {
		return ErrWeight
	}
	return nil
}
"""


@pytest.mark.parametrize(
    ("language", "code", "told"),
    [
        (
            "csharp",
            CSHARP,
            [
                ("AuthorizeAsync", 3),
                ("letter == null", 7),
                ("letter.Weight > Limits.Heaviest || letter.Weight <= 0", 14),
                ("String.IsNullOrEmpty(letter.Zip)", 17),
            ],
        ),
        ("python", PYTHON, [("not letter", 3), ("letter.weight > HEAVIEST", 4)]),
        ("go", GO, [("err := letter.Check(); err != nil", 3), ("letter.Weight > heaviest", 6)]),
    ],
    ids=["csharp", "python", "go"],
)
def test_a_check_is_a_condition_under_which_a_member_leaves_or_a_call_that_checks(
    language: str, code: str, told: list[tuple[str, int]]
) -> None:
    evidence = piece(code, language=language, line_start=1, line_end=code.count("\n"), path="src/stamp")
    member = next(one for one in passages_of(evidence) if one.name)
    facts = checks_of(member)
    assert [(fact.source, fact.line) for fact in facts.facts] == told
    assert facts.heading.endswith("tamp checks, in this order:**") and facts.leads


def test_a_member_that_checks_nothing_has_no_such_list() -> None:
    evidence = piece("public int Sum()\n{\n    if (_last > 0)\n    {\n        return 1;\n    }\n    return 0;\n}\n")
    assert checks_of(passages_of(evidence)[0]).facts == ()


@pytest.mark.parametrize(
    ("question", "is_meant"),
    [
        ("in what order is a callback checked before it is applied?", True),
        ("what is checked before an order is accepted?", True),
        ("which conditions must be met before a letter is sent?", True),
        ("what does the importer check first?", True),
        ("which checks does the signing of a letter make?", True),
        ("which clerk voice checks are made before a letter is sent?", True),
        ("which health checks are there?", False),
        ("how do I check out the code?", False),
        ("what is a check constraint?", False),
    ],
)
def test_questions_for_checks_are_told_from_others(question: str, is_meant: bool) -> None:
    assert asks_checks(question) is is_meant
