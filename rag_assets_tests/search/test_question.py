"""What a typed question is understood as: words, filters, phrases, names, places."""

from __future__ import annotations

import pytest

from rag_assets.errors import QueryError
from rag_assets.index.vectors.filters import ALWAYS, NO_FILTERS, Period, SearchFilters, moment
from rag_assets.search import CodePlace, QuestionKind
from rag_assets.search.query_parser import plain_question, understand


@pytest.mark.parametrize(
    ("typed", "kind"),
    [
        ("where are refunds limited", "prose"),
        ("order", "prose"),
        ("what does version 2.0 do, e.g. in e-mails?", "prose"),
        ("how does OrderService cancel an order", "prose"),
        ("foo (see below)", "prose"),
        ("the is of", "prose"),
        ("Order", "symbol"),
        ("OrderService", "symbol"),
        ("IOrder", "symbol"),
        ("max_retries", "symbol"),
        ("Shop.Orders.OrderService", "symbol"),
        ("OrderService.Cancel()", "symbol"),
        ("Repo<T>", "symbol"),
        ("GetHTTPResponse, max_retries", "symbol"),
        ("src/Orders/OrderService.cs", "path"),
        ("src\\Orders\\OrderService.cs", "path"),
        ("OrderService.cs", "path"),
        ("OrderService.cs:42", "path"),
        ("README.md appsettings.json", "path"),
        ("System.InvalidOperationException: The limit is exceeded", "error"),
        ("src/A.cs(12,5): error CS0246: The type 'B' could not be found", "error"),
        ("   at Shop.Orders.Refund(Int32 id) in C:\\src\\Orders.cs:line 42", "error"),
    ],
)
def test_what_a_question_looks_like(typed: str, kind: str) -> None:
    assert understand(typed).kind == QuestionKind(kind)


@pytest.mark.parametrize(
    ("typed", "text", "wanted"),
    [
        ("refund kind:Service", "refund", {"kinds": ("Service",)}),
        ("refund KIND:Service kind:Test", "refund", {"kinds": ("Service", "Test")}),
        ("path:src/**/*Service.cs refund", "refund", {"paths": ("src/**/*Service.cs",)}),
        ("file:src refund", "refund", {"paths": ("src",)}),
        ('path:"my folder/" refund', "refund", {"paths": ("my folder/",)}),
        ("lang:c# language:sql refund", "refund", {"languages": ("c#", "sql")}),
        ("source_type:config retry", "retry", {"source_types": ("config",)}),
        ("symbol:OrderService cancel", "cancel", {"symbols": ("OrderService",)}),
        ("symbol:OrderService", "OrderService", {"symbols": ("OrderService",)}),
        ("symbol:*Service", "", {"symbols": ("*Service",)}),
        ("kind:Controller path:src", "", {"kinds": ("Controller",), "paths": ("src",)}),
    ],
)
def test_filters_are_no_words(typed: str, text: str, wanted: dict[str, tuple[str, ...]]) -> None:
    found = understand(typed)
    assert (found.text, found.wanted, found.excluded) == (text, SearchFilters(**wanted), NO_FILTERS)


def test_a_filter_with_a_minus_excludes() -> None:
    found = understand("refund -path:tests/ -kind:Test -kind:Model lang:sql")
    assert found.excluded == SearchFilters(paths=("tests/",), kinds=("Test", "Model"))
    assert found.wanted == SearchFilters(languages=("sql",))


@pytest.mark.parametrize(
    "typed",
    [
        "std::sort",
        "https://example.org/a",
        "what is Kind: Service",
        "mailto:somebody",
        "key:value",
        "id:5",
        "king:x math:y long:z",
        "a - b",
        "--verbose -v",
        "C:\\src\\a",
        "注文: 😀",
        "\ud800",
        '"',
        "x" * 100_000,
    ],
)
def test_what_is_no_filter_stays_as_it_is_typed(typed: str) -> None:
    found = understand(typed)
    assert (found.text, found.wanted, found.excluded, found.phrases) == (typed, NO_FILTERS, NO_FILTERS, ())


def test_a_text_without_filters_is_searched_as_it_is() -> None:
    """A pasted snippet keeps its lines, so that it is embedded as it was indexed."""
    assert understand("Kind: Model\nArtifact: Order\n\nPurpose: An order.").text.count("\n") == 3


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("knd:Service x", "did you mean kind:"),
        ("x -pth:src", "did you mean path:"),
        ("langs:sql x", "did you mean lang:"),
        ('symbols:"A B" x', 'write "symbols:A B"'),
        ('path:"" x', "the filter is empty"),
        ('-"not this" x', "a phrase cannot be excluded"),
        ("-kind:Test", "nothing to search for"),
        (" \n", "the query is empty"),
    ],
)
def test_a_slip_is_explained(typed: str, says: str) -> None:
    with pytest.raises(QueryError, match=says):
        understand(typed)


@pytest.mark.parametrize(
    ("typed", "phrases", "text"),
    [
        ('"limit exceeded"', ("limit exceeded",), "limit exceeded"),
        ('why "limit   exceeded" here', ("limit exceeded",), "why limit exceeded here"),
        ('"a \\"b\\" c"', ('a "b" c',), 'a "b" c'),
        ("“typographic quotes”", ("typographic quotes",), "typographic quotes"),
        ('"one" "two" "one"', ("one", "two"), "one two one"),
        ('"kind:Service"', ("kind:Service",), "kind:Service"),
        ('words like "HR" are never found', (), "words like HR are never found"),
        ('"HR" policy', ("HR",), "HR policy"),
        ('when is "too late" thrown', ("too late",), "when is too late thrown"),
        ('when is it "too late"?', ("too late",), "when is it too late ?"),
        ('"too late", or "too early".', ("too late", "too early"), "too late , or too early ."),
    ],
)
def test_quotes_make_phrases(typed: str, phrases: tuple[str, ...], text: str) -> None:
    found = understand(typed)
    assert (found.phrases, found.text) == (phrases, text)


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("Hello everyone. How does the queue work? Thanks in advance!", " How does the queue work?"),
        ("Hi, how does it stop? Any ideas?\nThanks", " how does it stop?"),
        ("Where are drafts kept? Can someone help? Thank you so much for your help.", "Where are drafts kept?"),
        ("Thanks!", "Thanks!"),
        ("who says hello to thanks.txt?", "who says hello to thanks.txt?"),
        ('where is "Hello." printed?', 'where is "Hello." printed?'),
        ("Thank you pages. Where are they?", "Thank you pages. Where are they?"),
    ],
)
def test_a_sentence_that_greets_thanks_or_begs_is_not_searched_for(typed: str, text: str) -> None:
    assert understand(typed).typed == text


def test_an_open_quote_is_a_word_and_said() -> None:
    found = understand('say "hello world')
    assert (found.phrases, found.text) == ((), 'say "hello world')
    assert "is not closed" in found.notes[0]


def test_a_phrase_without_a_word_is_not_looked_for_and_said() -> None:
    found = understand('"=>" handler')
    assert (found.phrases, found.text) == ((), '"=>" handler')
    assert "has no word" in found.notes[0]


def test_names_and_places_are_found_in_prose() -> None:
    found = understand("why does `OrderService.Cancel` fail at (src/Orders.cs:12), see A.cs#L7 and B.cs(3,4)?")
    assert found.symbols == ("OrderService.Cancel",)
    assert found.places == (CodePlace("src/Orders.cs", 12), CodePlace("A.cs", 7), CodePlace("B.cs", 3))


def test_an_environment_is_no_file() -> None:
    assert understand("where is process.env read?").places == ()
    assert understand("what is in server.env?").places == (CodePlace("server.env", 0),)


def test_a_plain_question_has_no_filters() -> None:
    found = plain_question('kind:Service "x"')
    assert (found.text, found.wanted, found.phrases) == ('kind:Service "x"', NO_FILTERS, ())
    with pytest.raises(QueryError, match="empty"):
        plain_question(" ")


# when files were changed

JANUARY, MARCH = moment("2026-01"), moment("2026-03")


@pytest.mark.rule("E08")
@pytest.mark.parametrize(
    ("typed", "text", "changed"),
    [
        ("refund since:2026-01", "refund", Period(since=JANUARY)),
        ("Before:2026-03-01 refund", "refund", Period(before=MARCH)),
        ("since:2026-01-01T00:00 before:2026-03", "", Period(since=JANUARY, before=MARCH)),
        ('refund since:"2026-01-01 00:00"', "refund", Period(since=JANUARY)),
        ("since:2026-01 since:2025 refund before:2026-03 before:2027", "refund", Period(since=JANUARY, before=MARCH)),
        ("what happens before the refund, since 2026-01", "what happens before the refund, since 2026-01", ALWAYS),
        ("before: refund", "before: refund", ALWAYS),
    ],
)
def test_dates_are_filters(typed: str, text: str, changed: Period) -> None:
    found = understand(typed)
    assert (found.text, found.wanted) == (text, SearchFilters(since=changed.since, before=changed.before))


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (
            "refund since:yesterday",
            "'yesterday' is not a date; write 2026, .*To look for the text, write \"since:yesterday\"",
        ),
        ("refund -since:2026", "-since:2026: a date cannot be excluded; write before:2026"),
        ("refund since:2026 before:2025", "nothing is changed since"),
        ("refund sinse:2026", "did you mean since:"),
        ('refund since:""', "the filter is empty"),
    ],
)
def test_a_wrong_date_is_explained(typed: str, says: str) -> None:
    with pytest.raises(QueryError, match=says):
        understand(typed)


@pytest.mark.parametrize(
    ("typed", "read"),
    [("what's it for", "what is it for"), ("don't inherit the level", "don't inherit the level")],
    ids=["a question", "what is to be done"],
)
def test_contractions_of_questions_alone_are_written_out(typed: str, read: str) -> None:
    assert understand(typed).text == read
