"""What descriptions know of the other files of their label, on the real path."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest

from rag_assets.index.parquet_parts import read_rows
from rag_assets.pipeline.segments import read_segments
from rag_assets.pipeline.symbol_tables import walled_surveys
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.pipeline.conftest import Built, built, lexical

BuildOf = Callable[[Mapping[str, str | bytes]], Built]
RESX = """\
<?xml version="1.0" encoding="utf-8"?>
<root>
  <data name="Welcome" xml:space="preserve"><value>{0}</value></data>
</root>
"""
FILES: dict[str, str | bytes] = {
    "src/Orders.cs": "namespace Shop;\n/// <summary>Takes orders.</summary>\n"
    "public partial class Orders : IOrderService\n{\n    public void Take() { }\n}\n",
    "src/Orders.Audit.cs": "namespace Shop;\npartial class Orders\n{\n    void Log() { }\n}\n",
    "src/Orders.Designer.cs": "namespace Shop;\npartial class Orders { }\n",
    "src/IOrderService.cs": "namespace Shop;\npublic interface IOrderService { }\n",
    "src/Page.cs": "namespace Shop;\nclass Page\n{\n    string Title => Texts.Welcome;\n}\n",
    "src/Texts.resx": RESX.replace("{0}", "Welcome"),
    "src/Texts.de.resx": RESX.replace("{0}", "Willkommen"),
}


@pytest.fixture(scope="module")
def label(tmp_path_factory: pytest.TempPathFactory) -> Built:
    base = tmp_path_factory.mktemp("survey")
    source = Repository.new(base / "source", FILES)
    return built(source, lexical(base / "home"))


def described(label: Built, path: str) -> list[dict[str, Any]]:
    rows = (row for bucket in label.build.buckets for row in read_rows(label.build.directory, "descriptions", bucket))
    return [row for row in rows if row["path"] == path and row["outcome"] == "described"]


@pytest.mark.rule("A09", "R1")
def test_every_part_of_a_partial_type_has_its_kind_and_a_symbol_of_its_own(label: Built) -> None:
    rows = [row for path in ("src/Orders.cs", "src/Orders.Audit.cs") for row in described(label, path)]
    assert {row["kind"] for row in rows} == {"Service"}
    assert all(row["symbol"].startswith("Shop.Orders~") for row in rows)
    assert len({row["symbol"] for row in rows}) == 2
    assert label.reports["descriptions"].counts["partial_types"] == 1


def test_each_part_knows_the_others_and_what_was_skipped(label: Built) -> None:
    (row,) = described(label, "src/Orders.Audit.cs")
    found = msgspec.json.decode(row["description"])
    assert found["summary"] == "Takes orders."
    assert [(part["path"], part["skipped"]) for part in found["other_parts"]] == [
        ("src/Orders.cs", ""),
        ("src/Orders.Designer.cs", "generated"),
    ]


def test_builders_are_offered_the_types_and_the_usages_of_the_label(label: Built) -> None:
    survey = walled_surveys(label.build).whole
    knowledge = survey.knowledge
    assert [found.path for found in knowledge.declared_types.named("IOrderService")] == ["src/IOrderService.cs"]
    assert [found.symbol for found in knowledge.declared_types.implementers("IOrderService")] == ["Shop.Orders"]
    (family,) = survey.resources.families["Texts"]
    assert knowledge.resource_usages.of(family, "Welcome") == ("src/Page.cs:4",)
    assert survey.resources.text("Texts", "Welcome", "de") == "Willkommen"


def test_the_survey_can_be_sent_to_worker_processes(label: Built) -> None:
    survey = pickle.loads(pickle.dumps(walled_surveys(label.build).whole))
    assert len(survey.partial_types) == 1
    assert survey.knowledge.declared_types.named("Page")
    assert survey.processor(label.build.repository).registry.fallbacks


def test_the_texts_of_other_parts_can_be_read_in_worker_processes(label: Built) -> None:
    survey = pickle.loads(pickle.dumps(walled_surveys(label.build).whole))
    segments = {
        path: found for bucket in label.build.buckets for path, found in read_segments(label.build, bucket).items()
    }
    (own,) = segments["src/Orders.cs"]
    others = survey.partial_types.symbol_text("src/Orders.cs", own, "").others
    assert [(path, text.splitlines()[2]) for path, text in others] == [("src/Orders.Audit.cs", "    void Log() { }")]


def test_an_empty_label_has_an_empty_survey(build_of: BuildOf) -> None:
    survey = walled_surveys(build_of({}).build).whole
    assert (len(survey.partial_types), len(survey.knowledge.declared_types), survey.problems) == (0, 0, [])
