"""Which errors become which HTTP status is told from code that says both, in the way of each language."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "README.md": "# Ferry\n\nBooks places on ferries.\n",
    "src/Web/ErrorMiddleware.cs": """\
namespace Ferry.Web;

public class ErrorMiddleware
{
    private HttpStatusCode StatusOf(Exception exception)
    {
        var code = HttpStatusCode.InternalServerError;
        switch (exception)
        {
            case FerryValidationException invalid:
                code = HttpStatusCode.BadRequest;
                break;
            case CabinNotFoundException _:
                code = HttpStatusCode.NotFound;
                break;
        }
        return code;
    }

    public void Convert(Exception exception, HttpResponse response)
    {
        if (exception is SeatTakenException)
        {
            response.StatusCode = StatusCodes.Status409Conflict;
        }
    }
}
""",
    "src/Client/PortClient.cs": """\
namespace Ferry.Client;

public class PortClient
{
    public async Task<Port?> Find(string name)
    {
        try
        {
            return await http.GetAsync(name);
        }
        catch (PortRequestException exception) when (exception.StatusCode == HttpStatusCode.NotFound)
        {
            return null;
        }
    }
}
""",
    "src/main/java/ferry/Errors.java": """\
package ferry;

public class Errors {
    @ExceptionHandler(DeckFullException.class)
    @ResponseStatus(HttpStatus.UNPROCESSABLE_ENTITY)
    public void full(DeckFullException exception) {
    }

    void check() {
        throw new DeckFullException();
    }
}
""",
}


@pytest.fixture(scope="module")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("statuses"), FILES, "ferry") as index:
        yield index


def _told(index: Index, question: str) -> list[tuple[str, str, str]]:
    text = index.ask(question).text
    return re.findall(r"- \*\*(\w+)\*\* becomes \*\*([\w ]+)\*\* in [\w/.]+/(\w+\.\w+:\d+)", text)


@pytest.mark.parametrize(
    "question",
    [
        "which exceptions lead to which http status?",
        "how are exceptions turned into HTTP responses?",
        "what error codes does the API answer with?",
    ],
)
def test_all_errors_with_a_status_are_listed(ferry: Index, question: str) -> None:
    assert _told(ferry, question) == [
        ("FerryValidationException", "BadRequest", "ErrorMiddleware.cs:11"),
        ("CabinNotFoundException", "NotFound", "ErrorMiddleware.cs:14"),
        ("SeatTakenException", "409 Conflict", "ErrorMiddleware.cs:24"),
        ("DeckFullException", "UNPROCESSABLE ENTITY", "Errors.java:5"),
    ]


@pytest.mark.parametrize(
    ("question", "errors"),
    [
        ("which http status is returned when the validation fails?", ["FerryValidationException"]),
        ("what status code do I get for a missing cabin?", ["CabinNotFoundException"]),
        ("which status code is sent when a place is already taken?", ["SeatTakenException"]),
        ("which http status means that access is denied?", []),
        ("what is the status of a booking when it fails?", []),
        ("which exceptions return a 404?", ["CabinNotFoundException"]),
        ("which errors become 422?", ["DeckFullException"]),
        ("which error is answered with 410?", []),
        ("how are failed http requests repeated?", []),
        ("what happens if more than 400 cabins are missing?", []),
        ("where is the http client that may fail?", []),
    ],
)
def test_errors_of_the_sort_that_is_asked_for_are_told_alone(ferry: Index, question: str, errors: list[str]) -> None:
    assert [error for error, *_ in _told(ferry, question)] == errors
