"""A label with questions: two commits that answer them all, and a third that lost names and comments."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rag_assets.index.layout import IndexHome
from rag_assets.settings import EmbedderSettings, EvaluationSettings, RepositorySettings, Settings
from rag_assets_tests.generation_history import History
from rag_assets_tests.git_repository import Repository

TOPICS = {
    "Refund": "Pays money back for a returned parcel.",
    "Invoice": "Bills a customer at the end of the month.",
    "Voucher": "Lowers the price with a coupon code.",
    "Shipment": "Hands a package over to the carrier.",
    "Stocktake": "Counts what lies in the warehouse.",
    "Newsletter": "Mails campaigns to subscribers.",
    "Login": "Verifies passwords and opens sessions.",
    "Translation": "Shows texts in the language of the visitor.",
    "Backup": "Copies the database at night.",
    "Thumbnail": "Scales pictures of articles down.",
}
QUESTIONS: list[dict[str, Any]] = [
    {"id": f"q-{topic.lower()}", "question": purpose, "relevant": [f"src/{topic}Service.cs"]}
    for topic, purpose in TOPICS.items()
]
SOURCE = """\
namespace Shop;
/// <summary>{purpose}</summary>
public class {name}
{{
    /// <summary>{purpose}</summary>
    public void {name}Run() {{ }}
}}
"""
EMPTIED = "namespace Shop;\npublic class {name} {{ public void Run() {{ }} }}\n"


def good() -> dict[str, str]:
    return {
        f"src/{topic}Service.cs": SOURCE.format(name=f"{topic}Service", purpose=purpose)
        for topic, purpose in TOPICS.items()
    }


def emptied(topics: Sequence[str]) -> dict[str, str]:
    """The same files without names and comments that say what they are for."""
    return {f"src/{topic}Service.cs": EMPTIED.format(name=f"X{number}") for number, topic in enumerate(topics)}


BAD = emptied(("Refund", "Invoice", "Voucher"))


def write_questions(path: Path, questions: Sequence[dict[str, Any]] = QUESTIONS) -> Path:
    path.write_text("".join(json.dumps(question) + "\n" for question in questions), encoding="utf-8")
    return path


def new_graded(folder: Path, *, provider: str = "lexical-only", **evaluation: Any) -> History:
    """A repository with one good commit and its question set, not indexed yet."""
    source = Repository.new(folder / "source", good())
    settings = Settings(
        home=folder / "home",
        embedder=EmbedderSettings(provider=provider),  # type: ignore[arg-type]
        evaluation=EvaluationSettings(**({"k": 3} | evaluation)),
        workers=1,
    )
    questions = write_questions(folder / "questions.jsonl")
    repository = RepositorySettings(id="shop", location=str(source.path), ref="main", eval_set=questions)
    return History(IndexHome(settings.home), source, settings, repository)


def with_rules(history: History, **evaluation: Any) -> History:
    """The same label under other rules of the gate."""
    changed = history.settings.evaluation.model_copy(update=evaluation)
    return replace(history, settings=history.settings.model_copy(update={"evaluation": changed}))
