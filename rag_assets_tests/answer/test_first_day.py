"""What a newcomer asks on the first day: how to log in, which tables are left, what happens without something."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets.answer.citations import Support
from rag_assets.answer.plans.marked import Marked, marked_asked
from rag_assets.answer.question_analysis import asks_about_broken_rule, asks_about_failure
from rag_assets.answer.question_form import asked_alone
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "README.md": "# Club\n\nKeeps members.\n\n## Start\n\nThe first start makes all tables. It also makes an account"
    " for whoever looks after the members of the club, with the username **boss** and the password **paddle**.\n\n"
    "Each member chooses a username and a password on the first visit.\n",
    "store/migration/0.5/01__boats.sql": "CREATE TABLE `boat` (\n  id INT\n);\n\nCREATE TABLE `oar` (\n  id INT\n);\n",
    "store/migration/0.9/01__crews.sql": "CREATE TABLE crew (\n  id INT\n);\n",
    "store/migration/0.9/02__crews.sql": "CREATE TABLE crew_new (\n  id INT\n);\nDROP TABLE crew;\n"
    "ALTER TABLE crew_new RENAME TO crew;\n",
    "store/migration/0.10/01__oars.sql": "DROP TABLE IF EXISTS `oar`;\n",
    "store/migration/0.10/02__lanes.sql": "CREATE TABLE lane (\n  id INT\n);\n",
    "store/migration/0.10/02__lanes.down.sql": "DROP TABLE lane;\n",
    "club/cli.py": """\
import click


@click.group()
def club(): ...


@club.group()
def boats(): ...


def shared_options(fn):
    return click.option("--limit", help="How many at most")(fn)


@boats.command(name="hire")
@click.option("--colour", help="Only of this colour")
@shared_options
@click.option("--json", "as_json", is_flag=True)
def boats_hire(colour, limit, as_json): ...


@boats.command(name="sell")
@click.option("--price")
def boats_sell(price): ...


@club.command(name="open")
def open_club(): ...
""",
    "src/main/java/club/MemberPermission.java": "package club;\n\n@Entity\n@SQLDelete(\n"
    '    sql = "UPDATE Member SET Gone = 1")\npublic class MemberPermission {\n  private int id;\n}\n',
    "src/main/java/club/BoatPermission.java": "package club;\n\npublic class BoatPermission {\n  private int id;\n}\n",
    "web/member.ts": """\
import { badRequest, json } from './response';

export async function createMember(request: Request) {
  const member = await findMember(request.name);
  if (member) {
    member.exists = true;
    return json({ member, exists: true, message: 'what exists is the member' });
  }
  return json(await insertMember(request));
}

export async function showMember(request: Request) {
  const member = await findMember(request.id);
  if (!member) {
    return badRequest({ message: 'Unknown member.' });
  }
  return json(member);
}
""",
}


@pytest.fixture(scope="module")
def club(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("first-day"), FILES, "club") as index:
        yield index


def named(club: Index, question: str) -> list[str]:
    found = club.ask(question, options=AskOptions())
    assert {one.support for one in found.checks} == {Support.SUPPORTED}
    return re.findall(r"(?m)^- \*\*(\S+?)\*\* in", found.text)


def test_the_first_login_is_the_sentence_that_says_it(club: Index) -> None:
    told = club.ask("what is the name and the password of the first user?", options=AskOptions()).text
    assert told.startswith("README.md:") and "**boss** and the password **paddle**" in told


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("what is the default login?", True),
        ("how do I log in for the first time?", True),
        ("with which password can I sign in as the initial admin?", True),
        ("what is the default length of a password of a user?", False),
        ("which password does the database need?", False),
    ],
)
def test_what_asks_for_the_first_login(question: str, asks: bool) -> None:
    assert (marked_asked(question) is Marked.LOGINS) is asks


def test_tables_that_a_later_migration_drops_are_not_there(club: Index) -> None:
    """One that is made again by another name is, so is one that only its own way back drops, and one that an entity is
    kept in."""
    assert named(club, "which tables are there?") == ["MemberPermission", "lane", "boat", "crew"]


def test_a_line_with_backticks_is_shown_whole(club: Index) -> None:
    assert ": `` CREATE TABLE `boat` ( `` [" in club.ask("which tables are there?", options=AskOptions()).text


def test_the_commands_of_a_group_are_those_that_it_declares(club: Index) -> None:
    assert named(club, "which subcommands does the boats group have?") == ["hire", "sell"]


def test_options_that_a_decorator_shares_are_among_those_of_a_command(club: Index) -> None:
    assert named(club, "which options does the hire command take?") == ["--limit", "--colour", "--json"]


STORY = "We took this over last week and my boss handed me a ticket. "


@pytest.mark.parametrize("question", ["Which tables are there?", "Which commands does boats have?"])
def test_a_question_that_says_what_it_asks_is_answered_as_without_its_story(club: Index, question: str) -> None:
    assert club.ask(f"{STORY}{question} The wiki is silent.").text == club.ask(question).text


def test_what_a_story_tells_is_no_proof_of_what_is_asked(club: Index) -> None:
    told = club.ask("Each member chooses a username and a password on the first visit. Where are penguins fed?")
    assert told.abstained or told.unsure


@pytest.mark.parametrize(
    ("typed", "alone"),
    [
        (f"{STORY}Where is it decided how long a boat stays out?", "Where is it decided how long a boat stays out?"),
        ("Boats leak. What happens to a boat when it sinks?", "What happens to a boat when it sinks?"),
        ("How is a boat stored, and who may delete it?", ""),
        ("We have boats. How is that stored?", ""),
        ("We have boats. Where are they kept?", ""),
        ("We have boats. What did I forget?", ""),
        ("We have boats. Where do I add a new one?", ""),
    ],
)
def test_the_sentences_that_ask_alone(typed: str, alone: str) -> None:
    assert asked_alone(typed) == alone


def test_what_happens_without_something_is_where_its_absence_is_answered(club: Index) -> None:
    told = club.ask("what happens when the member does not exist?", options=AskOptions()).text
    assert "`showMember` in web/member.ts:" in told.partition("```")[0]


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("what is returned when the website is unknown?", True),
        ("what happens when a name is too long?", True),
        ("what happens when an alias isn't there?", True),
        ("what happens when a name is changed?", False),
    ],
)
def test_what_is_about_a_failure(question: str, asks: bool) -> None:
    assert asks_about_failure(question) is asks


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("what happens when a batch has more bound values than the database allows?", True),
        ("what happens if the same order is sent twice?", True),
        ("what happens when a member without a boat hires one?", True),
        ("what happens when an order has more lines than another?", False),
        ("what happens when a name is changed?", False),
    ],
)
def test_what_is_about_something_that_no_rule_allows(question: str, asks: bool) -> None:
    assert asks_about_broken_rule(question) is asks


def test_a_type_below_an_annotation_of_several_lines_is_told_by_its_own(club: Index) -> None:
    told = club.ask("which permissions are there?", options=AskOptions()).text
    assert "MemberPermission.java:6: `public class MemberPermission {`" in told
