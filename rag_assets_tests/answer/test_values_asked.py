"""The values that something may have or do are those of the enumeration whose words a question says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index, open_index
from rag_assets.answer.question_analysis import Intent
from rag_assets.index.layout import IndexHome
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import index_without_dagster, new_repository

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
    "src/TypeOfOther.java": "package post;\n\npublic class Letter {\n"
    "    public enum DataType {\n        TEXT\n    }\n}\n",
}


@pytest.fixture(scope="module")
def post(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    base = tmp_path_factory.mktemp("values")
    home = IndexHome(base / "home")
    index_without_dagster(home, new_repository(base / "post", {**FILES}), "post")
    with open_index("post@main", home=home.root) as index:
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


@pytest.mark.parametrize("question", ["which actions are there?", "which types of letters are there?"])
def test_an_enumeration_that_says_more_than_a_question_is_not_meant(post: Index, question: str) -> None:
    assert post.ask(question, options=AskOptions()).intent is Intent.LIST


def test_enumerations_of_python_are_listed(post: Index) -> None:
    assert "**RuleActionType** in post/models.py:" in post.ask("which enums are there?", options=AskOptions()).text
