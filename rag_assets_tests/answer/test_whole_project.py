"""Questions about a project as a whole, and those about something in it that sound like them."""

from __future__ import annotations

import pytest

from rag_assets.answer.question_analysis import Intent, intent_of
from rag_assets.answer.structure.listed_questions import listed_of_whole
from rag_assets.search.query_parser import understand
from rag_assets_tests.effort import ends_within

WHOLE = (
    "What are the parts of this application and what is it meant to show?",
    "What is this project meant to solve, and what is a transport in its terms?",
    "how is this project structured?",
    "how is the code organized",
    "how is the repository laid out?",
    "what's the architecture of this system?",
    "what does the architecture look like",
    "give me a tour of the code base",
    "where do I start reading the code?",
    "what problem does this solve?",
    "what problem does this library solve",
    "tell me about this project",
    "tell me what this project does",
    "purpose of this repo",
    "what is the purpose of this project?",
    "I'm new here, what does this code base do",
    "high-level architecture",
    "what technologies does it use?",
    "which tech stack is this built on",
    "what are the main components of this system?",
    "which projects are in this solution?",
    "what are the modules of this repository",
    "what is in this repo",
    "summarize the project",
    "summarise this codebase for me",
    "can you explain what this repo is about?",
    "what can I use this for at home and what is it built with?",
    "how does this project work",
    "how does it all fit together?",
    "why would I use this library?",
    "who is this project for?",
    "what are the features of this app",
    "what features does it have?",
    "what does it do",
    "what is the main idea of this project",
    "why should I use this instead of writing it myself",
    "what do I gain with this over simply sending to RabbitMQ myself?",
    "what is the advantage of using this over writing SQL by hand?",
    "what is the point of this project?",
    "what are the benefits of this library",
    "which use cases is it meant for?",
    "what makes it better than others?",
    "what does this tool do for a team like ours?",
    "what does the software do, roughly?",
    "walk me through the project",
    "is this a library or an application?",
    "I'm new here, where do I begin reading?",
    "Where should I start?",
    "when would I need this?",
    "when should I use this library",
    "what's the big picture?",
    "what are the main parts",
)
PART = (
    "What does this do: SftpClient.Connect?",
    "How does this work (SftpClient.DownloadFile)?",
    "What is this: SshConnectionException",
    "what is it, SftpClient?",
    'explain this: throw new SshConnectionException("x")',
    "explain this code: `_keyExchange.Start(session, message);`",
    "what does the library service do?",
    "what does the project service do?",
    "how does the project overview work?",
    "how does the package service work?",
    "what does the template do?",
    "what does the service layer do?",
    "how is the application layer organized?",
    "what does the application package contain?",
    "how does the application service work?",
    "what does the service do?",
    "how do I build the package?",
    "what is the code for?",
    "what is the template for?",
    "how does the template engine work?",
    "what is the key of the product?",
    "how does the application use the library?",
    "what is a tour?",
    "how is the summary built?",
    "what is the summary for?",
    "what does the summary contain?",
    "who made the summary?",
    "where is the summary used?",
    "where is the overview?",
    "give me an overview of the server",
    "give me an overview of the gateway",
    "when is it started?",
    "is it good?",
    "when is it used?",
    "where is it used?",
    "How do I set it?",
    "What do I do with this?",
    "which services does it use?",
    "how do I run it with docker compose?",
    "There is an order. What does it do?",
    "what is the point of the cache?",
    "what are the benefits of the outbox",
    "what are the main parts of the order page?",
    "when would I need a lock?",
    "when should I use this lock?",
    "what makes the cache faster than the database?",
    "where do I start the worker?",
    "where should I start the transaction?",
    "what is the advantage of the bulk insert over single inserts?",
    "is this a service or a repository?",
    "which users does it have?",
    "what makes it fail?",
    "walk me through the checkout",
    "Explain this to me please: how are the fees worked out?",
)
LISTED = (
    "where is the main entry point?",
    "where does the program start?",
    "what are the entry points of this system",
    "where does the application start up?",
    "where is the main function?",
    "what are the most important classes?",
    "which are the core types here?",
    "which classes are the most important?",
    "what are the main classes of this project?",
    "entry points?",
    "which npm scripts are there?",
    "what make targets can I run",
    "list the yarn scripts",
)
NOT_LISTED = (
    "where does the scan process start?",
    "where does the statistics service start?",
    "what is the entry point for pub/sub?",
    "what is the main entry point of the API?",
    "where is the main function of the parser?",
    "which key types are there?",
    "what is the key type of a hash?",
    "what is the main class for connecting to a cluster?",
    "what are the core interfaces for pub/sub?",
    "what are the core classes for restore?",
    "which core models are there?",
)


@pytest.mark.parametrize("question", WHOLE)
def test_a_whole_is_asked_for(question: str) -> None:
    assert intent_of(understand(question)).intent is Intent.OVERVIEW


@pytest.mark.parametrize("question", PART)
def test_something_in_it_is_asked_for(question: str) -> None:
    assert intent_of(understand(question)).intent is not Intent.OVERVIEW


@pytest.mark.parametrize("question", LISTED)
def test_a_list_of_the_whole_is_asked_for(question: str) -> None:
    assert listed_of_whole(question) is not None


@pytest.mark.parametrize("question", NOT_LISTED)
def test_no_list_of_the_whole_is_asked_for(question: str) -> None:
    assert listed_of_whole(question) is None


@pytest.mark.parametrize(
    "question",
    ["what does the sample " + "java " * 3_900, "a; " * 6_600, "and, " * 4_000, "what does it " + "it " * 6_600],
)
def test_the_longest_question_is_read_at_once(question: str) -> None:
    """20,000 characters, with as many words that may be those of a whole, or clauses."""
    with ends_within(1):
        assert intent_of(understand(question)).intent is not Intent.OVERVIEW
