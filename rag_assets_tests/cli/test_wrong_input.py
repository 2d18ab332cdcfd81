"""What is typed wrongly is answered with the object, the cause and the next command; never with a number of the system
alone, the words of a library, or a trace."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rag_assets_tests.cli.conftest import Indexed

RAW = re.compile(
    r"Errno|Traceback|Value error|Input should be|unexpected [A-Z]\w+|File exists|Not a directory|No such file or"
)


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Paths that somebody may type, by what they are."""
    folder = tmp_path_factory.mktemp("typed")
    file = folder / "file.txt"
    file.write_text("text", encoding="utf-8")
    broken = folder / "broken.yaml"
    broken.write_text("a: [", encoding="utf-8")
    (folder / "folder").mkdir()
    return {
        "MISSING": folder / "absent" / "x",
        "FOLDER": folder / "folder",
        "FILE": file,
        "BELOW_A_FILE": file / "x",
        "BROKEN": broken,
    }


WRONG = [
    ("index MISSING", "neither a configured repository nor a label, a path that exists or a URL"),
    ("index FILE", "not a source archive"),
    ("index FOLDER", "contains no file to index"),
    ("index --id= .", "it is empty"),
    ("eval run --set MISSING", "cannot be read: there is no such file; make a question set with: rag-assets eval mine"),
    ("eval run --set FOLDER", "cannot be read: it is a folder"),
    ("eval run --set FILE", "a question set is a .jsonl"),
    ("eval run --set BROKEN", "not valid YAML"),
    ("eval run --out FOLDER", "is a folder; name a file in it"),
    ("eval run --out BELOW_A_FILE", "is a file, not a folder"),
    ("eval report --html MISSING", "there is no folder"),
    ("eval report --html BELOW_A_FILE", "is a file, not a folder"),
    ("eval mine shop --out MISSING.jsonl", "there is no folder"),
    ("eval compare MISSING.json", "there is no such file; write a file with: rag-assets eval run --out"),
    ("eval compare FOLDER", "it is a folder"),
    ("eval compare FILE", "no run that this version can read; write one with: rag-assets eval run --out"),
    ("eval compare active active --set MISSING", "there is no such file"),
    ("pipeline show MISSING.yaml", "cannot be read: there is no such file"),
    ("pipeline list --pack FILE", "is a file, not a folder"),
    ("pipeline validate BROKEN", "not valid YAML"),
    ("agent list --agents MISSING", "there is no folder"),
    ("agent validate MISSING.yaml", "cannot be read: there is no such file"),
    ("ask what --agents FILE", "is a file, not a folder"),
    ("ask what --pack FILE", "is a file, not a folder"),
    ("artifact pdr --output FOLDER", "is a folder; name a file in it"),
    ("artifact pdr --output BELOW_A_FILE", "is a file, not a folder"),
    ("show README.md", "show a place in a file with its line, as README.md:1"),
    ("explain=", "it is empty"),
    ("explain src", "is a folder; explain one of its files, such as: rag-assets explain src/"),
    ("explain README.md:99", "line 99 of README.md is in no segment; there are segments at lines 1-"),
    ("graph around=", "a name is empty; see what there is with: rag-assets graph overview"),
    ("search refund --mode fast", "'fast' is not one of 'hybrid'"),
    ("search refund --limit 0", "must be 1 or more"),
    ("ask what --limit 99", "must be 50 or less"),
    ("search refund --role x", "--role stands before the command, as in: rag-assets --role … search"),
    ("status shop", "name an index with --label"),
    ("eval run -l shop", "this command takes the label as a word, without an option"),
    ("eval --label shop", "this command takes the label as a word, without an option"),
    ("ask what --repo shop", "No such option: --repo; name an index with --label"),
    ("session delete nope", "has no session 'nope'; there are"),
    ("search refund --label shop@mian", "did you mean 'shop@main'?"),
]


@pytest.mark.parametrize(("words", "told"), WRONG, ids=[words for words, _ in WRONG])
def test_wrong_words_are_answered_with_what_helps(
    indexed: Indexed, typed: dict[str, Path], words: str, told: str
) -> None:
    arguments = [
        re.sub("|".join(typed), lambda found: str(typed[found[0]]), word) for word in words.replace("=", " ").split(" ")
    ]
    done = indexed.cli.run(*arguments)
    said = " ".join(re.sub(r"[│╭╮╰╯─]", " ", done.out + done.err).split())
    assert done.code in (1, 2)
    assert told in said
    assert not RAW.search(said), said


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("search refund --kind Test", "nothing found; search without kind"),
        ("search zzzqqq --mode bm25", "nothing found; use other words, or search by meaning too with: --mode hybrid"),
    ],
    ids=["filters", "words"],
)
def test_a_search_without_a_hit_says_what_helps(indexed: Indexed, words: str, told: str) -> None:
    done = indexed.cli.run(*words.split())
    assert done.code == 4
    assert told in done.err


def test_pipelines_are_listed_with_what_they_extend_and_their_files(indexed: Indexed) -> None:
    listed = indexed.cli.run("pipeline", "list", "--json").json
    assert not listed["problems"]
    found = {entry["pipeline"]: entry for entry in listed["pipelines"]}
    assert found["code_question_answering"]["extends"] == []
    assert found["artifact_generation"]["extends"] == ["code_question_answering"]
    assert found["artifact_generation"]["file"].endswith("artifact_generation.yaml")
    assert "artifact_generation  extends code_question_answering" in indexed.cli.run("pipeline", "list").out
