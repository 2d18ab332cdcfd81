"""Mode `semantic` from the command line: what only the source says counts, and tests come later."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_assets_tests.cli.conftest import CommandLine, new_repository

_ADDING = "        total += job.Amount;\n" * 30
_RETRYING = "        while (attempts < 3) { try { smtp.Send(mail); break; } catch { attempts++; } }\n" * 4


def _type(name: str, code: str) -> str:
    return f"namespace Mail; public class {name} {{ public void Run(Job job) {{\n{code}\n}} }}\n"


@pytest.mark.rule("D13")
def test_what_only_the_source_of_a_section_says_counts(cli: CommandLine, tmp_path: Path) -> None:
    files = {
        "Alpha.cs": _type("Alpha", _ADDING),
        "Omega.cs": _type("Omega", _ADDING + _RETRYING),
        "tests/OmegaTests.cs": _type("OmegaTests", _RETRYING),
    }
    repository = new_repository(tmp_path / "mailer", files)
    cli.build(repository.path)
    found = cli.run("search", "--mode", "semantic", "--explain", "--json", "send the mail again, smtp attempts").json
    hits = {hit["path"]: hit["scores"] for hit in found["hits"]}
    assert next(iter(hits)) == "Omega.cs"
    assert hits["Omega.cs"]["passage"] > hits["Alpha.cs"]["passage"]
    assert hits["tests/OmegaTests.cs"]["demotion"] < 1
    asked = cli.run("search", "--mode", "semantic", "--json", "tests of sending mail again, smtp attempts").json
    assert asked["hits"][0]["path"] == "tests/OmegaTests.cs"
