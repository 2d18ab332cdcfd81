"""The component RepositoryIndex in the folder `defs` of a project: its settings, its names, its errors."""

from __future__ import annotations

import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from dagster import (
    AssetKey,
    ComponentTree,
    DagsterInstance,
    DefaultSensorStatus,
    Definitions,
    ExecuteInProcessResult,
    SensorResult,
    build_schedule_context,
    build_sensor_context,
    evaluate_automation_conditions,
)

from rag_assets import RagIndexResource
from rag_assets.index.generations import GenerationError
from rag_assets.index.labels import register_label
from rag_assets.index.layout import IndexHome, LabelError
from rag_assets.pipeline.checks.generation_checks import CHECKS
from rag_assets.pipeline.versions import STAGES
from rag_assets.settings import RepositorySettings
from rag_assets.settings.config_file import ConfigError
from rag_assets_tests.defs.conftest import FILES, failure_text
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.models.embedding_server import embedding, inputs
from rag_assets_tests.models.llm.model_server import ModelServer

TOKEN = "ghp_Kq7vT2mZx9LwB4nRyC8sJd3fHg6pUe1aVo5Q"


@dataclass
class Project:
    """What `create-dagster project demo` makes, as far as components need it."""

    root: Path
    instance: DagsterInstance
    repositories: dict[str, Repository] = field(default_factory=dict)

    @property
    def home(self) -> IndexHome:
        return IndexHome(self.root / ".rag_assets")

    def repository(self, name: str, files: dict[str, str] = FILES) -> str:
        made = Repository.new(self.root.parent / name, files)
        self.repositories[name] = made
        return str(made.path)

    def component(self, name: str, **attributes: Any) -> Path:
        file = self.root / "src" / "demo" / "defs" / name / "defs.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        written = {"type": "rag_assets.RepositoryIndex", "attributes": attributes}
        file.write_text(yaml.safe_dump(written, sort_keys=False), encoding="utf-8")
        return file

    def definitions(self) -> Definitions:
        made = ComponentTree.for_project(self.root).build_defs()
        Definitions.validate_loadable(made)
        return made

    def run(self, name: str, **options: Any) -> ExecuteInProcessResult:
        job = self.definitions().resolve_job_def(f"index_{name}")
        return job.execute_in_process(instance=self.instance, raise_on_error=False, **options)

    def refusal(self) -> str:
        """Why the definitions cannot be built."""
        with pytest.raises(Exception) as caught:
            self.definitions()
        error: BaseException | None = caught.value
        while error is not None and not isinstance(error, ConfigError):
            error = error.__cause__
        assert error is not None, repr(caught.value)
        return str(error)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    root = tmp_path / "demo"
    (root / "src" / "demo" / "defs").mkdir(parents=True)
    for package in ("demo", "demo/defs"):
        (root / "src" / package / "__init__.py").touch()
    settings = '[tool.dg]\ndirectory_type = "project"\n\n[tool.dg.project]\nroot_module = "demo"\n'
    (root / "pyproject.toml").write_text(settings, encoding="utf-8")
    monkeypatch.syspath_prepend(str(root / "src"))
    monkeypatch.delenv("RAG_ASSETS__HOME")
    with DagsterInstance.ephemeral() as instance:
        yield Project(root, instance)
    for name in [name for name in sys.modules if name.partition(".")[0] == "demo"]:
        del sys.modules[name]


def resource(definitions: Definitions, name: str) -> RagIndexResource:
    found = (definitions.resources or {})[name]
    assert isinstance(found, RagIndexResource)
    return found


def test_three_lines_are_an_index_with_schedule_sensor_gate_and_checks(project: Project) -> None:
    project.component("shop", repository=project.repository("shop"))
    made = project.definitions()
    graph = made.resolve_asset_graph()
    keys = {AssetKey(["rag", "shop", stage]) for stage in STAGES}
    assert keys <= graph.get_all_asset_keys()
    assert {key.name for key in graph.asset_check_keys} == set(CHECKS)
    assert not any(graph.get(key).is_partitioned for key in keys)
    assert made.resolve_schedule_def("nightly_shop").cron_schedule == "0 2 * * *"
    assert made.resolve_sensor_def("commits_shop").default_status is DefaultSensorStatus.STOPPED
    assert graph.get(AssetKey(["rag", "shop", "active_index"])).freshness_policy is not None
    assert project.run("shop").success
    assert project.home.known_labels() == ["shop@main"]
    assert stat.S_IMODE(project.home.root.stat().st_mode) == 0o700


def test_two_components_have_nothing_in_common_but_the_home(project: Project) -> None:
    project.component("shop", repository=project.repository("shop"))
    bills = project.repository("bills", {"README.md": "# Bills\n\nA bill is due after thirty days.\n"})
    project.component("team/bills", repository=bills, automation={"cron": "5 4 * * *"})
    made = project.definitions()
    assert made.resolve_schedule_def("nightly_shop").cron_schedule == "0 2 * * *"
    assert made.resolve_schedule_def("nightly_team_bills").cron_schedule == "5 4 * * *"
    assert project.run("shop").success and project.run("team_bills").success
    assert project.home.known_labels() == ["bills@main", "shop@main"]
    for name, path in (("shop", "src/Order.cs"), ("team_bills", "README.md")):
        index = resource(project.definitions(), name)
        assert index.search("order or bill").hits[0].path == path


def test_one_run_can_have_the_assets_of_several_components(project: Project) -> None:
    """Both take the label of their own repository, though the tag of the run has room for one."""
    project.component("shop", repository=project.repository("shop"))
    project.component("bills", repository=project.repository("bills"))
    job = project.definitions().resolve_implicit_global_asset_job_def()
    assert job.execute_in_process(instance=project.instance).success
    assert project.home.known_labels() == ["bills@main", "shop@main"]


def test_attributes_are_the_settings_of_the_package(project: Project) -> None:
    """Over the file of the project, and under the environment (here: no embedding model)."""
    (project.root / "rag_assets.yaml").write_text(
        "workers: 1\nretention: {keep: 1}\nsources: {max_line_length: 9, max_file_bytes: 50}\n", encoding="utf-8"
    )
    project.component(
        "shop",
        repository={"location": project.repository("shop"), "id": "store", "ref": "main", "exclude": ["src/"]},
        sources={"max_file_bytes": 100},
        embedder={"provider": "minilm"},
        home="../kept",
    )
    assert project.run("shop").success
    home = IndexHome(project.root / "src" / "demo" / "defs" / "kept")
    assert home.known_labels() == ["store@main"]
    told = project.instance.get_latest_materialization_event(AssetKey(["rag", "shop", "discovered_files"]))
    assert told is not None and told.asset_materialization is not None
    metadata = {name: value.value for name, value in told.asset_materialization.metadata.items()}
    assert metadata["label"] == "store@main"
    assert "machine-made" in str(metadata) or metadata["skipped"]


def test_the_resource_searches_and_asks_with_the_attributes(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of models and of the search too, which no file has."""
    monkeypatch.delenv("RAG_ASSETS__EMBEDDER__PROVIDER")
    with ModelServer() as server:
        server.respond = embedding
        monkeypatch.setenv("MODEL_SERVER", server.url)
        project.component(
            "shop",
            repository=project.repository("shop"),
            embedder={"provider": "openai-compatible", "base_url": "{{ env.MODEL_SERVER }}", "model": "m"},
            search={"limit": 1},
            answer={"threshold": 1.0},
        )
        assert project.run("shop").success
        index = resource(project.definitions(), "shop")
        found = index.search("which class is ordered")
        assert len(found.hits) == 1
        assert "which class is ordered" in [text for asked in server.asked for text in inputs(asked)]
        assert not found.warnings
        without_attributes = RagIndexResource(label="shop", home=str(project.home.root))
        assert not without_attributes.ask("what is the class Order?").abstained
        assert index.ask("what is the class Order?").abstained


def test_the_gate_refuses_a_build_that_answers_too_little(project: Project) -> None:
    file = project.component(
        "shop",
        repository={"location": project.repository("shop"), "eval_set": "questions.jsonl"},
        evaluation={"minimum": {"recall": 1.0}},
    )
    question = '{"id": "none", "question": "who wins the race?", "relevant": ["src/Race.cs"]}\n'
    (file.parent / "questions.jsonl").write_text(question, encoding="utf-8")
    result = project.run("shop")
    assert not result.success
    assert "quality_holds" in failure_text(result)
    question = question.replace("src/Race.cs", "src/Order.cs").replace("who wins the race?", "order")
    (file.parent / "questions.jsonl").write_text(question, encoding="utf-8")
    assert project.run("shop").success


def test_the_sensor_asks_for_a_run_of_each_new_commit(project: Project) -> None:
    project.component("shop", repository=project.repository("shop"))
    definitions = project.definitions()
    context = build_sensor_context(instance=project.instance, definitions=definitions)
    found = definitions.resolve_sensor_def("commits_shop")(context)
    assert isinstance(found, SensorResult) and found.run_requests
    (request,) = found.run_requests
    head = project.repositories["shop"].git("rev-parse", "HEAD")
    assert request.tags["rag/commit"] == head and request.tags["rag/label"] == "shop@main"
    assert project.run("shop", run_config=request.run_config, tags=request.tags).success
    context = build_sensor_context(instance=project.instance, definitions=definitions, cursor=found.cursor)
    again = definitions.resolve_sensor_def("commits_shop")(context)
    assert isinstance(again, SensorResult) and not again.run_requests
    assert "no new commit of shop@main" in str(again.skip_reason)


def test_a_new_commit_that_the_sensor_has_seen_is_due_up_to_the_active_index(project: Project) -> None:
    """Without the job too: whoever turns on the automation of the project gets one run for a commit."""
    project.component("shop", repository=project.repository("shop"))
    definitions = project.definitions()
    assert project.run("shop").success
    first = evaluate_automation_conditions(definitions, project.instance)
    again = evaluate_automation_conditions(definitions, project.instance, cursor=first.cursor)
    assert again.total_requested == 0
    project.repositories["shop"].commit({"new.md": "# New\n"})
    context = build_sensor_context(instance=project.instance, definitions=definitions)
    found = definitions.resolve_sensor_def("commits_shop")(context)
    assert isinstance(found, SensorResult)
    (seen,) = found.asset_events
    assert seen.asset_key == AssetKey(["rag", "shop", "repository"]) and seen.partition is None
    project.instance.report_runless_asset_event(seen)  # type: ignore[arg-type]
    due = evaluate_automation_conditions(definitions, project.instance, cursor=again.cursor)
    assert {
        key.path[-1] for key in (AssetKey(["rag", "shop", one]) for one in STAGES) if due.get_num_requested(key)
    } == {*STAGES}


def test_the_schedule_asks_for_a_run_each_night(project: Project) -> None:
    project.component("shop", repository=project.repository("shop"))
    schedule = project.definitions().resolve_schedule_def("nightly_shop")
    (request,) = schedule.evaluate_tick(build_schedule_context(project.instance)).run_requests or ()
    assert request.tags["rag/trigger"] == "nightly" and request.partition_key is None
    assert project.run("shop", run_config=request.run_config, tags=request.tags).success


@pytest.mark.parametrize(
    ("attributes", "line", "text"),
    [
        ({}, 0, "repository: is missing; name a git URL, a path or a source archive"),
        ({"repositry": "x"}, 3, "unknown attribute 'repositry'; did you mean 'repository'?"),
        ({"repository": "x", "repositories": []}, 4, "repositories: a component has one `repository`"),
        ({"repository": 3}, 3, "repository: must be text or a mapping with location, found 3"),
        ({"repository": {"location": "x", "reff": "main"}}, 5, "repository: unknown key 'reff'; did you mean 'ref'?"),
        ({"repository": {"ref": "main"}}, 3, "repository: location: is missing"),
        ({"repository": "x", "automation": {"cron": "61 * * * *"}}, 5, "automation.cron: '61 * * * *' is not a cron"),
        ({"repository": "x", "embedder": {"provder": "minilm"}}, 5, "unknown key 'embedder.provder'; did you mean"),
        ({"repository": "x", "workers": "many"}, 4, "workers: must be a whole number, found text"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_used_is_named_with_its_place_and_the_next_command(
    project: Project, attributes: dict[str, Any], line: int, text: str
) -> None:
    file = project.component("shop", **attributes)
    said = project.refusal()
    assert said.startswith(f"component shop: {file}")
    assert said.endswith("; correct it, then run: dg check defs")
    assert text in said
    if line:
        assert f"{file}:{line}: " in said


def test_two_components_of_one_label_are_refused(project: Project) -> None:
    location = project.repository("shop")
    first, second = project.component("a", repository=location), project.component("b", repository=location)
    said = project.refusal()
    assert str(first) in said and str(second) in said
    assert "indexes shop into the same home; write another `id` or `ref` into one of them" in said
    project.component("b", repository={"location": location, "id": "other"})
    assert project.definitions()


def test_a_label_of_another_repository_in_the_home_is_not_taken(project: Project) -> None:
    project.component("a", repository=project.repository("shop"))
    assert project.run("a").success
    (project.root / "other").mkdir()
    other = Repository.new(project.root / "other" / "shop", FILES)
    project.component("a", repository=str(other.path))
    said = failure_text(project.run("a"))
    assert f"shop@main in {project.home.root} already stands for" in said
    assert "name another `id` in the `repository` of the component" in said


@pytest.mark.parametrize("ref", [None, "release"])
def test_a_run_says_which_repository_is_not_there_and_what_to_do(project: Project, ref: str | None) -> None:
    location = project.repository("shop") if ref else str(project.root / "nowhere")
    file = project.component("shop", repository={"location": location, "ref": ref})
    said = failure_text(project.run("shop"))
    assert "component shop: repository: " in said
    assert ("no branch or tag 'release'" if ref else "nowhere") in said
    assert f"correct {file}:3, then run: dg launch --job index_shop" in said
    if ref is None:
        observing = project.definitions().resolve_implicit_global_asset_job_def()
        repository = [AssetKey(["rag", "shop", "repository"])]
        result = observing.execute_in_process(
            instance=project.instance, asset_selection=repository, raise_on_error=False
        )
        assert "component shop: repository: " in failure_text(result)


def test_credentials_of_a_template_are_in_no_event_and_no_error(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TOKEN", TOKEN)
    monkeypatch.setattr("rag_assets.defs.retries.DELAYS_SECONDS", ())
    url = "https://user:{{ env.GIT_TOKEN }}@127.0.0.1:9/shop.git"
    project.component("shop", repository=url)
    said = failure_text(project.run("shop"))
    assert "component shop: repository: https://127.0.0.1:9/shop.git" in said
    runs = project.instance.get_runs()
    stored = [str(event) for run in runs for event in project.instance.all_logs(run.run_id)]
    assert stored and not any(TOKEN in text for text in stored)
    project.component("shop", repository=url, automation={"cron": "x"})
    assert TOKEN not in project.refusal()


def test_a_token_in_the_query_of_a_url_is_refused_with_the_place_where_git_takes_one(project: Project) -> None:
    project.component("shop", repository=f"https://{TOKEN}@127.0.0.1:9/shop.git?private_token={TOKEN}")
    said = failure_text(project.run("shop"))
    assert "git does not send query parameters; write user:token@ before the host" in said
    assert TOKEN not in said


def test_several_components_of_one_file_have_names_of_their_own(project: Project) -> None:
    file = project.component("both", repository=project.repository("shop"))
    second = yaml.safe_dump(
        {"type": "rag_assets.RepositoryIndex", "attributes": {"repository": project.repository("bills")}}
    )
    file.write_text(f"{file.read_text('utf-8')}---\n{second}", encoding="utf-8")
    assert {job.name for job in project.definitions().resolve_all_job_defs()} >= {"index_both", "index_both_bills"}


def test_a_resource_of_any_project_reads_a_label_of_any_home(project: Project) -> None:
    project.component("shop", repository=project.repository("shop"))
    assert project.run("shop").success
    index = RagIndexResource(label="shop", home=str(project.home.root))
    assert index.search("order").hits[0].path == "src/Order.cs"
    with pytest.raises(LabelError, match="no label 'bills'; there are: shop@main"):
        RagIndexResource(label="bills", home=str(project.home.root)).search("order")


def test_a_resource_says_how_to_make_the_index_that_is_not_there(project: Project) -> None:
    file = project.component("shop", repository=project.repository("shop"))
    index = resource(project.definitions(), "shop")
    with pytest.raises(GenerationError, match=r"component shop: no label 'shop'.*; run: dg launch --job index_shop"):
        index.search("order")
    for ref in ("main", "old"):
        register_label(project.home, f"shop@{ref}", RepositorySettings(id="shop", location="x"), ref)
    with pytest.raises(GenerationError, match=f"shop@main, shop@old; name the `ref` in {file}"):
        index.search("order")
    project.component("shop", repository={"location": str(project.repositories["shop"].path), "ref": "main"})
    with pytest.raises(GenerationError, match="in this project: dg launch --job index_shop"):
        resource(project.definitions(), "shop").search("order")


def test_a_component_in_python_is_the_same(project: Project) -> None:
    file = project.root / "src" / "demo" / "defs" / "shop" / "component.py"
    file.parent.mkdir()
    location = project.repository("shop")
    file.write_text(
        "import dagster as dg\nfrom rag_assets import RepositoryIndex\n\n\n@dg.component_instance\n"
        f"def load(context: dg.ComponentLoadContext) -> RepositoryIndex:\n    return RepositoryIndex({location!r})\n",
        encoding="utf-8",
    )
    assert project.run("shop").success
    assert resource(project.definitions(), "shop").search("order").hits
