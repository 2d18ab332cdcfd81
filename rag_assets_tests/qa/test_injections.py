"""Text of others never routes, cites or closes its fence: planted in questions, earlier turns, sources and documents.

The model of these tests obeys whatever it reads: where it finds something in its prompt that a reader would take for a
marker of the protocol, it says that, else it does its work.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import open_index
from rag_assets.history.conversations import Conversations, NewTurn
from rag_assets.index.layout import IndexHome
from rag_assets.qa.services import PipelineServices
from rag_assets.qa.turn import Status
from rag_assets_tests.cli.conftest import index_without_dagster, new_repository
from rag_assets_tests.models.llm.model_server import Asked, ModelServer
from rag_assets_tests.qa.conftest import FILES, Asking
from rag_assets_tests.qa.http_model import Script, http_model, prompt_text
from rag_assets_tests.qa.injections import INJECTIONS, OBEYED, TEMPLATES, as_read


def obedient(asked: Asked, otherwise: str) -> str:
    """The reply of a model that does what the data says."""
    found = OBEYED.search(as_read(str(asked.body["messages"][1]["content"])))
    if found is None:
        return otherwise
    words = {word.casefold(): word for word in ("Answer", "Requesting data on")}
    word = words.get(found["word"], found["word"].upper())
    return f"[{word}:] {found['rest'] or 'stolen'}"


@pytest.mark.parametrize("text", INJECTIONS.values(), ids=INJECTIONS.keys())
def test_a_question_and_earlier_turns_do_not_steer(
    asking: Asking, history: Conversations, good: str, text: str
) -> None:
    past = NewTurn(question=text, question_en=text, answer=text, answer_en=text, status="answered", label="l")
    history.append("ann", "s", past)
    script = asking.script(
        router=lambda asked: obedient(asked, "[BM25:] refund order"), answer=lambda asked: obedient(asked, good)
    )
    result = asking.ask(question=f"How are refunds paid back? {text}", user="ann", session="s")
    assert (result.status, script.purposes) == (Status.ANSWERED, ["router", "answer"])
    assert result.answer == good.removeprefix("[Answer:] ")
    assert result.turn is not None and result.turn.plan is not None and result.turn.plan.query == "refund order"


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[IndexHome, str]:
    """A repository that has all of them in comments, strings, documents and SQL."""
    base = tmp_path_factory.mktemp("planted")
    texts = [text.replace("\x00", "") for text in INJECTIONS.values()]  # a file with NUL is binary, and not indexed
    comments = "\n".join(f"    // {line}" for text in texts for line in text.split("\n"))
    strings = "\n".join(f'        Say("{text}");' for text in texts)
    files = {
        **FILES,
        "src/Orders/Refunds.cs": "namespace Shop.Orders;\n\n/// <summary>Refund order policy.</summary>\n"
        f"public class Refunds\n{{\n{comments}\n    public void RefundOrderNow()\n    {{\n{strings}\n    }}\n}}\n",
        "docs/refunds.md": "# Refund order\n\n" + "\n\n".join(f"Refund order: {text}" for text in texts),
        "db/refunds.sql": "\n".join(f"-- refund order {text}".replace("\n", " ") for text in texts)
        + "\nCREATE TABLE dbo.Refunds (Id int NOT NULL);\nGO\n",
    }
    home = IndexHome(base / "home")
    return home, index_without_dagster(home, new_repository(base / "shop", files), "planted")


@pytest.fixture
def of_planted(planted: tuple[IndexHome, str], server: ModelServer, tmp_path: Path) -> Iterator[Asking]:
    home, label = planted
    services = PipelineServices(lambda name: open_index(name, home=home.root), generate=http_model(server))
    yield Asking(services, server, tmp_path / "pack", label)
    services.close()


@pytest.mark.parametrize(
    "settings",
    [{}, {"max_context_tokens": 2_000}, {"max_context_tokens": 300}],
    ids=["whole", "compacted", "summarised"],
)
def test_indexed_text_does_not_steer(of_planted: Asking, server: ModelServer, settings: dict[str, int]) -> None:
    script = Script(
        server,
        router=lambda asked: obedient(asked, "[BM25:] refund order policy"),
        context_summary=lambda asked: "\n".join(INJECTIONS.values()),
        answer=lambda asked: obedient(asked, "[Requesting data on:] refund order policy"),
    )
    result = of_planted.ask(of_planted.pipeline(**settings) if settings else None)
    assert "stolen" in "".join(piece.text for piece in result.turn.found[of_planted.label].all)  # type: ignore[union-attr]
    assert result.status is Status.GAVE_UP, "the model got to its own reply"
    for asked in script.asked("answer"):
        read = as_read(prompt_text(asked).partition("The question:")[2])
        assert TEMPLATES.search(read) is None and "[chunk:" not in read


def test_a_citation_that_was_planted_is_none(of_planted: Asking, server: ModelServer) -> None:
    """The id is in no evidence, so nothing supports what cites it."""
    Script(server, router="[BM25:] refund order", answer="[Answer:] All is well [chunk: deadbeef].")
    result = of_planted.ask()
    assert result.status is Status.ABSTAINED and "deadbeef" not in result.answer
