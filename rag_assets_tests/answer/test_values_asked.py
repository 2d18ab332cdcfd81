"""The values that something may have or do are those of the enumeration whose words a question says."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets.answer.question_analysis import Intent
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "README.md": "# Post\n\nDelivers letters.\n",
    "post/models.py": '''\
from django.db import models


class Rule(models.Model):
    """What is done with a letter."""

    class RuleActionType(models.IntegerChoices):
'''
    + "".join(f'        VALUE_{at} = {at}, _("The value of a long name with the number {at}")\n' for at in range(30))
    + """\
        LAST = 99, _("Burn the letter")

    action = models.IntegerField(choices=RuleActionType.choices)
""",
    "post/actions.py": "class RuleAction(models.Model):\n    name = models.CharField()\n\n\n"
    "class MailAction(models.Model):\n    name = models.CharField()\n",
    "src/circuitbreaker/CircuitBreaker.java": "package post;\n\npublic interface CircuitBreaker {\n"
    "    enum State {\n        OPEN,\n        CLOSED\n    }\n}\n",
    "src/ParcelStatus.cs": "namespace Post;\n\npublic enum ParcelStatus\n{\n"
    + "".join(f'    [Label("Status{at}", typeof(Texts))]\n    Status{at},\n\n' for at in range(20))
    + "}\n",
    "src/PostageKind.cs": "namespace Post;\n\npublic enum PostageKind\n{\n    Paper,\n    Digital\n}\n",
    "src/ParcelReturnScanStage.cs": "namespace Post;\n\npublic enum ParcelReturnScanStage\n{\n    Sorted\n}\n",
    "src/LetterSealColourKind.cs": "namespace Post;\n\npublic enum LetterSealColourKind\n{\n    Red\n}\n",
    "src/ParcelSortingMode.cs": "namespace Post;\n\npublic enum ParcelSortingMode\n{\n    ByHand\n}\n",
    "src/WaxSeal.cs": "namespace Post;\n\npublic enum WaxSeal\n{\n    Red\n}\n",
    "src/StampPrinters.cs": "namespace Post;\n\npublic interface IStampPrinter { }\n\n"
    "public class StampPrinter : IStampPrinter { }\n\npublic interface IInkStampPrinter { }\n\n"
    "public class InkStampPrinter : IInkStampPrinter { }\n\npublic abstract class WaxStampPrinterBase { }\n\n"
    "public class WaxStampPrinter : WaxStampPrinterBase { }\n",
    "src/Weights.cs": "namespace Post;\n\npublic class Weights\n{\n"
    '    static readonly string[] WeightUnits = { "kg", "lb", "st" };\n'
    '    static readonly string[] LetterWeightUnits = { "g", "oz" };\n}\n',
    "src/TypeOfOther.java": "package post;\n\npublic class Letter {\n"
    "    public enum DataType {\n        TEXT\n    }\n}\n",
}


@pytest.fixture(scope="module")
def post(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("values"), FILES, "post") as index:
        yield index


def test_what_something_can_do_is_the_enumeration_that_is_called_so(post: Index) -> None:
    found = post.ask("which actions can a rule perform?", options=AskOptions())
    assert found.intent is Intent.DEFINITION and found.text.startswith("`RuleActionType` in post/models.py:")


def test_an_enumeration_of_two_sections_is_shown_with_the_values_of_both(post: Index) -> None:
    paths = post.parts.shard().places(list(post.parts.shard().ids(post.scope())), post.scope()).values()
    assert sum(place.path == "post/models.py" for place in paths) > 1
    told = post.ask("what does RuleActionType hold?", options=AskOptions()).text
    assert told.startswith("`RuleActionType` in post/models.py:7-38 ") and "LAST = 99" in told


def test_the_states_of_something_may_be_an_enumeration_inside_of_it(post: Index) -> None:
    told = post.ask("which states does a circuit breaker have?", options=AskOptions()).text
    assert told.startswith("`State` in src/circuitbreaker/CircuitBreaker.java:4") and "CLOSED" in told


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("which parcel sorting modes exist for a depot?", "ParcelSortingMode"),
        ("which sorting modes can be used at night?", "ParcelSortingMode"),
        ("which return scan stages are there?", "ParcelReturnScanStage"),
        ("which wax seal modes are there?", "WaxSeal"),
    ],
)
def test_an_enumeration_may_be_called_by_three_words_or_by_the_last_ones_of_its_name(
    post: Index, question: str, name: str
) -> None:
    found = post.ask(question)
    assert found.intent is Intent.DEFINITION and found.text.startswith(f"`{name}` in src/{name}.cs:3")


@pytest.mark.parametrize("question", ["which actions are there?", "which types of letters are there?"])
def test_an_enumeration_that_says_more_than_a_question_is_not_meant(post: Index, question: str) -> None:
    assert post.ask(question, options=AskOptions()).intent is Intent.LIST


def test_a_long_enumeration_is_shown_with_all_of_its_values_and_without_their_attributes(post: Index) -> None:
    told = post.ask("what can the status of a parcel be?", options=AskOptions()).text
    assert told.startswith("`ParcelStatus` in src/ParcelStatus.cs:3-63 ") and "Label" not in told
    assert all(f"    Status{at}," in told for at in range(20))


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("which kinds of postage are there?", "PostageKind"),
        ("which stages does a scanned parcel go through?", "ParcelReturnScanStage"),
        ("which letter seal colour kinds are there?", "LetterSealColourKind"),
        ("which sorting modes are there for a parcel?", "ParcelSortingMode"),
    ],
)
def test_an_enumeration_is_meant_that_says_all_that_a_question_says(post: Index, question: str, name: str) -> None:
    found = post.ask(question, options=AskOptions())
    assert found.intent is Intent.DEFINITION and found.text.startswith(f"`{name}` in src/{name}.cs:3")


def test_of_the_collections_that_are_called_so_that_is_meant_which_says_more_of_the_question(post: Index) -> None:
    told = post.ask("which weight units may be used for a letter?", options=AskOptions()).text
    assert told.startswith("**2 weight units:**\n- **g, oz** in src/Weights.cs:6")
    told = post.ask("which weight units are allowed?", options=AskOptions()).text
    assert told.startswith("**3 weight units:**\n- **kg, lb, st** in src/Weights.cs:5")


def test_what_alone_implements_a_contract_of_its_name_is_one_of_a_sort(post: Index) -> None:
    told = post.ask("which stamp printers are there?", options=AskOptions()).text
    assert re.findall(r"- \*\*(\w+)\*\*", told) == ["StampPrinter", "InkStampPrinter", "WaxStampPrinter"]


def test_enumerations_of_python_are_listed(post: Index) -> None:
    assert "**RuleActionType** in post/models.py:" in post.ask("which enums are there?", options=AskOptions()).text


SCHOOL = {
    "README.md": "# School\n\nKeeps marks.\n",
    "src/main/java/school/PermissionType.java": "package school;\n\npublic interface PermissionType {\n\n"
    '  /** of pupils */\n  String READ_MARKS = "ReadMarks";\n\n  String GIVE_MARKS = "GiveMarks";\n}\n',
    "src/main/java/school/Permission.java": "package school;\n\npublic class Permission {\n  private String type;\n}\n",
    "src/main/java/school/RolePermission.java": "package school;\n\npublic class RolePermission {\n"
    "  private String role;\n}\n",
    "web/package.json": '{\n  "name": "school",\n  "scripts": {\n'
    + ",\n".join(f'    "lesson-{at}": "node scripts/a-long-name-of-what-is-run-for-lesson-{at}.js"' for at in range(60))
    + "\n  }\n}\n",
    "web/src/errors.ts": "export class MarkError extends Error {}\n\nexport class PupilError extends Error {}\n",
    "web/src/constants.ts": "export const ROLES = {\n  head: 'head',\n  pupil: 'pupil',\n} as const;\n\n"
    "export const ROLE_PERMISSIONS = {\n  [ROLES.head]: [\n"
    + "".join(f"    PERMISSIONS.mayChangeTheMarksOfYear{year},\n" for year in range(1, 25))
    + "  ],\n  [ROLES.pupil]: [],\n} as const;\n\nexport const EVENT_TYPE = {\n  late: 1,\n  ill: 2,\n} as const;\n",
    "api/acl.go": "package api\n\n// PublicMethods need no login.\nvar PublicMethods = map[string]struct{}{\n"
    + "\n".join(
        f'\t// what the page of week {week} needs\n\t"/school.v1.Plan/Week{week}": {{}},\n' for week in range(1, 9)
    )
    + "}\n\nfunc IsPublic(name string) bool {\n\t_, ok := PublicMethods[name]\n\treturn ok\n}\n",
}


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("school"), SCHOOL, "school") as index:
        yield index


def test_the_fields_of_an_interface_of_java_are_the_permissions_of_an_app(school: Index) -> None:
    told = school.ask("which permissions exist in the portal?", options=AskOptions()).text
    assert told.startswith("`PermissionType` in ") and "READ_MARKS" in told and "GIVE_MARKS" in told


def test_what_each_role_may_do_is_told_whole_with_the_roles(school: Index) -> None:
    told = school.ask("which roles exist and what may each of them do?", options=AskOptions()).text
    assert told.startswith("`ROLES` in web/src/constants.ts:1-4 ")
    assert "`ROLE_PERMISSIONS` in web/src/constants.ts:6-34 " in told and "[ROLES.pupil]: []," in told


def test_the_types_of_events_are_the_constant_that_is_called_so(school: Index) -> None:
    told = school.ask("which types of events are there?", options=AskOptions()).text
    assert told.startswith("`EVENT_TYPE` in web/src/constants.ts:")


def test_what_needs_no_login_is_the_constant_that_holds_it_with_all_sections_of_it(school: Index) -> None:
    found = school.ask("which endpoints can be called without logging in?", options=AskOptions())
    assert "PublicMethods` in api/acl.go:3-28" in found.text.partition("\n")[0]
    assert all(f"Week{week}" in found.text for week in range(1, 9))


def test_a_line_between_two_sections_is_not_lost(school: Index) -> None:
    told = school.ask("which npm scripts are there?", options=AskOptions()).text
    assert {f"**lesson-{at}**" for at in range(40)} <= set(told.split())


def test_what_the_package_defines_is_all_that_there_is(school: Index) -> None:
    assert school.ask("which errors does the package define?", options=AskOptions()).text.startswith("**2 errors:**")
