"""What people say around a question, and the usual question behind it (`rag_assets.search.wording`)."""

from __future__ import annotations

import pytest

from rag_assets.answer.question_kinds import list_asked, relation_asked
from rag_assets.search.pasted_text import LONG
from rag_assets.search.query_parser import understand

_TOTAL = "how is the total calculated?"
_WORK = "how does the night run work?"


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("can you tell me how the total is calculated?", _TOTAL),
        ("Could you please explain to me how the total is calculated in this project?", _TOTAL),
        ("I'd like to know how the total is calculated", _TOTAL),
        ("do you know how the total is calculated?", _TOTAL),
        ("I was wondering how the total is calculated", _TOTAL),
        ("Question: how is the total calculated?", _TOTAL),
        ("so, how exactly is the total calculated?", _TOTAL),
        ("how is the total calculated right now?", "how is the total calculated?"),
        ("how the total is calculated", _TOTAL),
        ("Which tables exist in the DB?", "Which tables exist in the database?"),
        ("how many db tables are there?", "how many database tables are there?"),
        ("who is permitted to delete a comment?", "who is allowed to delete a comment?"),
        ("how do I obtain a token?", "how do I get a token?"),
        ("where is the clock utilized?", "where is the clock used?"),
        ("which handlers are invoked?", "which handlers are called?"),
        ("how frequently does the job run?", "how often does the job run?"),
        ("what occurs when the total is wrong?", "what happens when the total is wrong?"),
        ("how do I execute the tests?", "how do I run the tests?"),
        ("does it use DI?", "does it use dependency injection?"),
        ("what background jobs are there?", "which background jobs are there?"),
        ("explain how the night run works", _WORK),
        ("I don't understand how the night run works", _WORK),
        ("I want to know if the order has a number", "does the order have a number?"),
        ("can you check whether there is a rate limit", "is there a rate limit?"),
        ("help me understand what CatalogItem is", "what is CatalogItem?"),
        ("show me which services use the cache", "which services use the cache"),
        ("please list the endpoints", "list the endpoints"),
        ("I'm looking for the place where orders are saved", "where are orders saved?"),
        ("where can I find the code that validates the token?", "where is the token validated?"),
        ("which class is responsible for sending emails?", "where are emails sent?"),
        ("what part of the code deals with paging?", "where is paging done?"),
        ("find the code that maps the rows", "where are the rows mapped?"),
        ("how does the system calculate the total?", _TOTAL),
        ("where do we send emails?", "where are emails sent?"),
        ("can you explain what this repo is about?", "what is this repo about?"),
        ("how login is done", "how is login done?"),
        ("how does the application export invoices to the bank?", "how are invoices to the bank exported?"),
        ("how to add a new endpoint?", "how do I add a new endpoint?"),
        ("I want to add a payment method", "how do I add a payment method?"),
        ("how do emails get sent?", "how are emails sent?"),
        ("how is the total being calculated?", _TOTAL),
        ("what is the process for copying files?", "how are files copied?"),
        ("what mechanism is used to match the rows?", "how are the rows matched?"),
        ("what part of the system processes orders?", "where are orders processed?"),
        ("how does validating tokens work?", "how are tokens validated?"),
        ("in which file is the order saved?", "where is the order saved?"),
        ("where in the code are emails sent?", "where are emails sent?"),
        ("where is defined the total?", "where is the total defined?"),
        ("which file contains the checkout logic?", "where is checkout done?"),
    ],
)
def test_what_is_said_around_a_question_is_no_part_of_it(typed: str, asked: str) -> None:
    question = understand(typed)
    assert (question.typed, question.text, question.asking) == (asked, asked, asked)


@pytest.mark.parametrize(
    "typed",
    [
        "what happens when an order is paid?",
        "where is the DB context registered?",
        "where is DB used?",
        "what does process do?",
        "what does the list of the class do?",
        "when the cart is empty what happens",
        "which endpoints are in this repo?",
        "what is in the project?",
        "how long is a token valid?",
        "how many users can an account have?",
        'where is "can you tell me how" written?',
        "who calls it?",
        "find the zip code",
        "which classes implement IStore?",
        "retry policy of the order queue",
        "why is the order rejected when the stock is missing?",
        "which code is platform-specific?",
        "when do I get ErrLocked?",
        "when do we get paid?",
        "I want to change the price, where is it?",
        "which files do I have to change?",
        "how does the app start locally?",
        "how does the application service work?",
        "why does the app service plan have four instances by default?",
        "how big is the code base?",
        "how fast must an incident be reported?",
        "how gracefully are old orders dropped?",
        "where do we check whether an order is late?",
        "which module is dealing with old orders?",
        "how does the application use the library?",
        "how do we close a connection?",
        "how does it store the basket?",
        "how does the system communicate with the bank?",
        "how does string matching work?",
        "in which file is Order defined?",
        "how does the tool know which files changed?",
        "what must a password look like?",
        "how late may a letter be before it is late?",
        "does the order have a number?",
        "which part takes care of it when it fails",
    ],
)
def test_other_questions_stay_as_they_were_typed(typed: str) -> None:
    assert understand(typed).typed == typed


def test_a_text_of_several_lines_is_not_shortened() -> None:
    typed = "can you tell me how it is done\nin this project"
    assert understand(typed).typed == typed
    assert understand(f"please tell me how {'x' * LONG} is done").typed.startswith("please")


@pytest.mark.parametrize(
    "typed",
    [
        "which value objects are there?",
        "what value objects exist?",
        "list all value objects",
        "can you list the value objects?",
        "I need a list of all the value objects",
        "show me the value objects",
        "are there any value objects?",
        "do we have value objects?",
        "how many value objects are there?",
        "where are the value objects defined?",
        "which value objects does this project define?",
        "what value objects are in the code?",
        "value objects",
        "value objects?",
        "tell me all value objects in this solution",
    ],
)
def test_a_list_is_wanted_in_many_ways(typed: str) -> None:
    assert list_asked(typed) == "which value objects are there?"


@pytest.mark.parametrize(
    "typed",
    [
        "what are locks?",
        "what kinds of value objects are there?",
        "where are orders stored?",
        "which handlers handle events?",
        "which tests cover Order?",
        "Orders",
        "how are errors handled?",
        "show me the classes of the shop",
        "what happens",
        "list of " * 14,
    ],
)
def test_a_question_for_something_else_wants_no_list(typed: str) -> None:
    assert list_asked(typed) == ""


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("callers of Clock.Now", "who calls Clock.Now?"),
        ("Clock.Now callers", "who calls Clock.Now?"),
        ("what is calling Now?", "who calls Now?"),
        ("IClock implementations", "what implements IClock?"),
        ("dependencies of Clock", "what does Clock depend on?"),
        ("Clock's methods", "which methods does Clock have?"),
        ("tests of the clock", ""),
        ("Now is called by whom?", ""),
        ("what is calling the shop?", ""),
    ],
)
def test_what_is_related_to_a_name_is_asked_in_few_words(typed: str, asked: str) -> None:
    assert relation_asked(typed) == asked


@pytest.mark.parametrize("typed", ["value objects", "are there any value objects?", "where are the value objects?"])
def test_what_may_mean_more_is_no_plain_list(typed: str) -> None:
    assert list_asked(typed, plainly=True) == ""


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("under which exact conditions is a berth free?", "when is a berth free?"),
        ("at what point is a ship moored?", "when is a ship moored?"),
        ("for what reason is a pilot refused?", "why is a pilot refused?"),
        ("based on what is a pilot chosen?", "how is a pilot chosen?"),
        ("what does the app do when the tide is missing?", "what happens when the tide is missing?"),
        ("how come the tide is late?", "why is the tide late?"),
        ("which piece of code moors ships?", "which code moors ships?"),
        ("in which situations of the game is a ship lost?", "in which situations of the game is a ship lost?"),
        ('where is "in which place" shown?', 'where is "in which place" shown?'),
    ],
)
def test_more_words_for_one_question_word_are_read_as_that(typed: str, read: str) -> None:
    assert understand(typed).typed == read
