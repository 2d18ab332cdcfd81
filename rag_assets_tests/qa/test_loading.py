"""Pipelines from files: what a file may hold, `extends`, and messages that name file and line (D29–D33, R10)."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_assets.qa.definition.loader import PipelineLibrary
from rag_assets.qa.definition.steps import Pipeline, as_object
from rag_assets.qa.errors import PipelineError, UnknownPipeline
from rag_assets.settings.yaml_loader import MAX_FILE_BYTES

SHIPPED = (
    "artifact_generation",
    "artifact_generation_offline",
    "code_question_answering",
    "code_question_answering_assessed",
    "code_question_answering_offline",
    "document_question_answering",
    "snapshot_comparison",
)
ROOT = """\
pipeline:
  name: root
  settings:
    entry_step_id: guard
    max_turn_loops: 3
    graph_edge_allowlist: [Calls, FK]
  steps:
    - id: guard
      action: loop_guard
      on_allow: end
      on_deny: end
    - id: end
      action: persist_turn_and_finalize
"""


def written(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder / f"{next(reversed(files))}.yaml"


def load(folder: Path, **files: str) -> Pipeline:
    return PipelineLibrary().load(written(folder, **files))


def said(folder: Path, **files: str) -> str:
    with pytest.raises(PipelineError) as raised:
        load(folder, **files)
    return str(raised.value).replace(f"{folder}/", "")


@pytest.mark.rule("D29")
@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_pipelines_are_sound(name: str) -> None:
    pipeline = PipelineLibrary().load(name)
    assert pipeline.name == name and pipeline.warnings == ()
    assert set(SHIPPED) == set(PipelineLibrary().names())


@pytest.mark.rule("D29", "D32")
def test_a_file_is_a_pipeline(tmp_path: Path) -> None:
    pipeline = load(tmp_path, root=ROOT)
    assert (pipeline.name, pipeline.lineage, pipeline.entry.id) == ("root", ("root",), "guard")
    assert pipeline.settings.max_turn_loops == 3
    assert [step.relation.value for step in pipeline.walk] == ["Calls", "ForeignKey"]


@pytest.mark.rule("D30", "D31", "D32", "R10")
def test_settings_are_merged_and_steps_replaced_over_several_levels(tmp_path: Path) -> None:
    middle = """\
pipeline:
  name: middle
  extends: root
  settings: {max_turn_loops: 5, repository: shop}
  steps:
    - {id: end, action: finalize, profile: premium, next: last}
    - {id: last, action: persist_turn_and_finalize}
"""
    child = """\
pipeline:
  name: child
  extends: middle
  settings: {repository: mall}
  steps:
    - {id: end, action: finalize, next: last}
"""
    pipeline = load(tmp_path, root=ROOT, middle=middle, child=child)
    assert pipeline.lineage == ("root", "middle", "child")
    assert (pipeline.settings.max_turn_loops, pipeline.settings.repository) == (5, "mall")
    assert pipeline.settings.graph_edge_allowlist == ("Calls", "FK"), "of the root"
    assert pipeline.steps["end"].parameters.profile == "cheap", "replaced, not merged"  # type: ignore[attr-defined]
    assert list(pipeline.steps) == ["guard", "end", "last"]


@pytest.mark.rule("D30")
def test_nested_settings_are_merged_to_the_leaves() -> None:
    from rag_assets.qa.definition.validator import merged_settings
    from rag_assets.settings.yaml_loader import parse_yaml

    parent = parse_yaml(b"a: {b: 1, c: {d: 2, e: 3}}\nf: [1, 2]\ng: {h: 1}", "p").value
    child = parse_yaml(b"a: {c: {e: 4, x: 5}}\nf: [3]\ng: 7", "c").value
    made = {key: entry.plain for key, entry in merged_settings(parent, child).items()}
    assert made == {"a": {"b": 1, "c": {"d": 2, "e": 4, "x": 5}}, "f": [3], "g": 7}


@pytest.mark.rule("D31")
def test_the_order_of_steps_decides_nothing(tmp_path: Path) -> None:
    head, _, steps = ROOT.partition("  steps:\n")
    first, second = steps.split("    - id: end\n")
    turned = f"{head}  steps:\n    - id: end\n{second}{first}"
    one, other = load(tmp_path, root=ROOT), load(tmp_path, root=turned)
    assert list(one.steps) != list(other.steps)
    assert one.digest == other.digest and as_object(one) == as_object(other)


def test_the_digest_is_of_the_result_and_not_of_its_files(tmp_path: Path) -> None:
    commented = load(tmp_path, root="# a comment\n" + ROOT.replace("max_turn_loops: 3", "max_turn_loops: 3  # three"))
    assert load(tmp_path, root=ROOT).digest == commented.digest
    assert load(tmp_path, root=ROOT.replace("loops: 3", "loops: 2")).digest != commented.digest


@pytest.mark.rule("D32")
@pytest.mark.parametrize(
    ("files", "circle"),
    [
        ({"a": "pipeline: {name: a, extends: a}"}, "a → a"),
        ({"b": "pipeline:\n  name: b\n  extends: a", "a": "pipeline:\n  name: a\n  extends: b"}, "a → b → a"),
    ],
    ids=["itself", "two"],
)
def test_a_circle_of_extends_is_refused(tmp_path: Path, files: dict[str, str], circle: str) -> None:
    assert f"extends in a circle: {circle}" in said(tmp_path, **files)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "p.yaml:1: empty"),
        ("a: 1", "p.yaml:1: no pipeline"),
        ("- 1", "p.yaml:1: no pipeline"),
        ("pipeline: 5", "p.yaml:1: `pipeline` must have keys"),
        ("pipeline:\n  name: x\nother: 1", "p.yaml:3: unknown key 'other' beside `pipeline`"),
        ("pipeline:\n  name: x\n  step: []", "p.yaml:3: pipeline: unknown key 'step'; did you mean 'steps'?"),
        ("pipeline:\n  steps: []", "p.yaml:1: pipeline: 'name' is missing"),
        ("pipeline:\n  name: 5", "p.yaml:2: pipeline: name must be a name"),
        ("pipeline:\n  name: x\n  settings: 5", "p.yaml:3: pipeline: settings must be keys"),
        ("pipeline:\n  name: x\n  steps: {a: 1}", "p.yaml:3: pipeline: steps must be a list"),
        ("pipeline:\n  name: x\n  steps:\n    - action: finalize", "p.yaml:4: a step needs an id"),
        ("pipeline:\n  name: x\n  steps:\n    - {id: yes, action: a}", "p.yaml:4: a step needs an id"),
        (
            "pipeline:\n  name: x\n  steps:\n    - id: a\n      action: b\n    - id: a\n      action: c",
            "p.yaml:6: step 'a' is defined twice, first in line 4",
        ),
        ("pipeline:\n  name: x\n  name: y", "p.yaml:3: 'name' is written twice, first in line 2"),
        ("pipeline:\n  name: [", "p.yaml:2: not valid YAML"),
        ("pipeline:\n\tname: x", "p.yaml:2: not valid YAML"),
        ("pipeline: &a\n  name: *a", "p.yaml:2: anchors and aliases are not supported"),
        ("pipeline:\n  ? [a]\n  : 1", "p.yaml:2: a key must be a word"),
        ("pipeline:\n  name: !!python/object:os.system x", "p.yaml:2: not a value"),
        ("pipeline:\n  name: x\n  extends: nobody", "p.yaml:3: extends 'nobody', which is in no pack"),
        (
            "pipeline:\n  name: x\n  extends: code_question_answerin",
            "p.yaml:3: extends 'code_question_answerin', which is in no pack; did you mean 'code_question_answering'?",
        ),
        ("[" * 5_000, "p.yaml:1: nested too deeply"),
    ],
)
def test_what_is_no_pipeline_file_is_said_with_its_line(tmp_path: Path, text: str, problem: str) -> None:
    assert problem in said(tmp_path, p=text)


@pytest.mark.parametrize(
    ("data", "problem"),
    [(b"\xff\xfe\x00", "not UTF-8"), (b"#" * (MAX_FILE_BYTES + 1), "larger than")],
    ids=["not-utf-8", "huge"],
)
def test_files_that_cannot_be_read(tmp_path: Path, data: bytes, problem: str) -> None:
    (tmp_path / "p.yaml").write_bytes(data)
    with pytest.raises(PipelineError, match=problem):
        PipelineLibrary().load(tmp_path / "p.yaml")
    with pytest.raises(PipelineError, match="cannot be read"):
        PipelineLibrary().load(tmp_path / "nobody.yaml")


def test_all_problems_are_said_at_once_by_line(tmp_path: Path) -> None:
    text = ROOT.replace("max_turn_loops: 3", "max_turn_loop: 3").replace("on_deny: end", "on_deny: ende")
    lines = said(tmp_path, root=text).splitlines()
    assert lines == [
        "root.yaml:5: settings: unknown key 'max_turn_loop'; did you mean 'max_turn_loops'?",
        "root.yaml:11: step 'guard': on_deny: no step 'ende'; did you mean 'end'?",
    ]


def test_a_problem_of_a_parent_names_the_file_of_the_parent(tmp_path: Path) -> None:
    broken = ROOT.replace("action: loop_guard", "action: loop_gard")
    text = said(tmp_path, root=broken, child="pipeline:\n  name: child\n  extends: root")
    assert text.startswith("root.yaml:9: step 'guard': unknown action 'loop_gard'; did you mean 'loop_guard'?")


class TestPacks:
    def test_names_of_own_packs_come_before_shipped_ones(self, tmp_path: Path) -> None:
        written(tmp_path, mine=ROOT.replace("name: root", "name: snapshot_comparison"))
        library = PipelineLibrary([tmp_path])
        assert library.names()["snapshot_comparison"] == str(tmp_path / "mine.yaml")
        assert library.load("snapshot_comparison").entry.id == "guard"

    def test_a_parent_may_be_in_another_pack(self, tmp_path: Path) -> None:
        (tmp_path / "a").mkdir()
        (tmp_path / "b").mkdir()
        written(tmp_path / "a", root=ROOT)
        written(tmp_path / "b", child="pipeline:\n  name: child\n  extends: root")
        assert PipelineLibrary([tmp_path / "b", tmp_path / "a"]).load("child").lineage == ("root", "child")

    def test_one_name_twice_in_a_pack_is_refused(self, tmp_path: Path) -> None:
        written(tmp_path, a=ROOT, b=ROOT)
        with pytest.raises(PipelineError, match=r"b.yaml:1: pipeline 'root' is also in .*a.yaml:1"):
            PipelineLibrary([tmp_path]).load("root")

    def test_other_yaml_files_are_left_alone(self, tmp_path: Path) -> None:
        written(tmp_path, root=ROOT, rag_assets="home: x\n")
        assert PipelineLibrary([tmp_path]).load("root").name == "root"

    def test_an_unknown_name_names_near_ones_and_files_that_could_not_be_read(self, tmp_path: Path) -> None:
        written(tmp_path, broken="pipeline: [")
        with pytest.raises(
            UnknownPipeline, match=r"(?s)'snapshot_compare'; did you mean.*broken.yaml:1: not valid YAML"
        ):
            PipelineLibrary([tmp_path]).load("snapshot_compare")

    def test_prompts_of_the_child_are_taken_before_those_of_its_parents(self, tmp_path: Path) -> None:
        (tmp_path / "prompts").mkdir()
        (tmp_path / "prompts" / "router.md").write_text("# system\nMine.\n# user\n{question}\n", encoding="utf-8")
        pipeline = load(tmp_path, child="pipeline:\n  name: child\n  extends: code_question_answering")
        shipped = PipelineLibrary().load("code_question_answering")
        assert pipeline.prompts["router"].system == "Mine."
        assert pipeline.prompts["answer"] == shipped.prompts["answer"]
