"""How confidential a file is, by its path."""

from __future__ import annotations

import pytest

from rag_assets.contracts.confidentiality import Confidentiality, known_level, levels_up_to
from rag_assets.index.vectors.filters import PathClearance

LEVELS = PathClearance(
    Confidentiality.INTERNAL,
    {
        "src/Payroll": Confidentiality.RESTRICTED,
        "src/**/*Secret.cs": Confidentiality.CONFIDENTIAL,
        "docs/": Confidentiality.PUBLIC,
        "docs/plans/**": Confidentiality.CONFIDENTIAL,
        "*.pem": Confidentiality.RESTRICTED,
    },
)


@pytest.mark.rule("E12")
@pytest.mark.parametrize(
    ("path", "level"),
    [
        ("src/Order.cs", "internal"),
        ("src/Payroll/Salary.cs", "restricted"),
        ("src/payroll/deep/Salary.cs", "restricted"),
        ("src/Payrolls/Other.cs", "internal"),
        ("src/Api/MySecret.cs", "confidential"),
        ("src/Payroll/MySecret.cs", "restricted"),
        ("docs/readme.md", "public"),
        ("docs/plans/next.md", "confidential"),
        ("keys/a.PEM", "restricted"),
    ],
)
def test_the_highest_level_that_matches_holds(path: str, level: str) -> None:
    assert LEVELS.of(path) == level
    assert LEVELS.visible(path, Confidentiality(level))
    assert LEVELS.visible(path, Confidentiality.PUBLIC) == (level == "public")


def test_without_rules_everything_has_the_default() -> None:
    assert PathClearance(Confidentiality.RESTRICTED).of("any/path") == "restricted"


def test_a_clearance_reaches_all_lower_levels() -> None:
    assert levels_up_to(Confidentiality.CONFIDENTIAL) == ("public", "internal", "confidential")
    assert known_level(" Public ") is Confidentiality.PUBLIC
    with pytest.raises(ValueError, match="valid: public, internal, confidential, restricted"):
        known_level("secret")
