"""`rag-assets init` writes the settings model as a file; `config check` reads one back with its problems."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from rag_assets.index.layout import IndexHome
from rag_assets.settings import RepositorySettings, Settings, load_settings
from rag_assets.settings.config_file import CONFIG_NAME
from rag_assets.settings.template import commented_settings
from rag_assets_tests.cli.conftest import CommandLine
from rag_assets_tests.git_repository import Repository


def at(folder: Path) -> CommandLine:
    return CommandLine(IndexHome(folder / "unused"), folder)


def test_the_written_file_is_the_defaults(cli: CommandLine) -> None:
    """The file is made from the model, so that it cannot drift from it."""
    assert cli.run("init", options=()).code == 0
    written = load_settings(cli.folder / CONFIG_NAME)
    assert written == Settings(home=cli.folder.resolve() / ".rag_assets")


def test_a_git_repository_is_listed_with_default_settings(repository: Repository) -> None:
    here = at(repository.path)
    done = here.run("init", options=())
    assert done.code == 0
    assert "it lists this repository as 'shop'" in done.out
    assert "add .rag_assets/ to .gitignore" in done.out
    (listed,) = load_settings(repository.path / CONFIG_NAME).repositories
    assert listed == RepositorySettings(id="shop", location=str(repository.path.resolve()))


def test_below_the_top_of_a_repository_the_whole_repository_is_listed(repository: Repository) -> None:
    below = at(repository.path / "src")
    assert below.run("init", options=()).code == 0
    (listed,) = load_settings(repository.path / "src" / CONFIG_NAME).repositories
    assert listed.location == str(repository.path.resolve())


def test_an_ignored_home_is_not_mentioned(repository: Repository) -> None:
    (repository.path / ".gitignore").write_text("bin/\n/.rag_assets/\n", encoding="utf-8")
    assert ".gitignore" not in at(repository.path).run("init", options=()).out


def uncommented(text: str, wanted: Collection[int]) -> str:
    """The file without the "# " of the wanted lines, counted from 0."""
    lines = enumerate(text.splitlines())
    return "\n".join(line.removeprefix("# ") if number in wanted else line for number, line in lines)


def settings_in(text: str) -> Iterator[list[int]]:
    """For each commented setting its line, counted from 0, and those of the groups around it."""
    around: list[tuple[int, int]] = []  # (indentation, line)
    for at, line in enumerate(text.splitlines()):
        setting = re.fullmatch(r"# ( *)[a-z_]+:( .*)?", line)
        if setting and not line.startswith(f"# {CONFIG_NAME}"):
            around = [group for group in around if group[0] < len(setting[1])]
            yield [line for _, line in around] + [at]
            around.append((len(setting[1]), at))


@pytest.mark.parametrize("every", [False, True], ids=["usual", "all"])
def test_a_setting_has_its_default_when_its_comment_is_removed(tmp_path: Path, every: bool) -> None:
    text = commented_settings({"id": "shop", "location": str(tmp_path)}, every=every)
    file = tmp_path / CONFIG_NAME
    file.write_text(text, encoding="utf-8")
    expected = load_settings(file)
    assert [entry.id for entry in expected.repositories] == ["shop"]
    found = list(settings_in(text))
    assert len(found) > (130 if every else 30)
    for wanted in (*found, [line for lines in found for line in lines]):
        file.write_text(uncommented(text, wanted), encoding="utf-8")
        assert load_settings(file) == expected


def test_the_example_of_a_repository_is_a_valid_entry(tmp_path: Path) -> None:
    text = commented_settings(None)
    example = [at for at, line in enumerate(text.splitlines()) if re.match(r"#   (- id|  location):", line)]
    file = tmp_path / CONFIG_NAME
    file.write_text(uncommented(text, example), encoding="utf-8")
    (entry,) = load_settings(file).repositories
    assert entry == RepositorySettings(id="shop", location=entry.location)


def test_the_written_file_is_short_and_names_the_command_that_shows_the_rest(cli: CommandLine) -> None:
    assert cli.run("init", options=()).code == 0
    lines = (cli.folder / CONFIG_NAME).read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 60
    assert lines[-1].endswith("rag-assets config settings")
    assert [line for line in lines if line and not line.startswith("#")] == ["repositories:  # what to index"]


def test_every_setting_is_listed_with_its_default_and_meaning(cli: CommandLine) -> None:
    done = cli.run("config", "settings", "--json", options=())
    listed = {entry["name"]: entry for entry in json.loads(done.out)["settings"]}
    assert all(entry["description"] for entry in listed.values())
    assert listed["embedder.precision"]["default"] == "int8"
    assert listed["repositories[].location"]["required"]
    assert listed["answer.balanced.max_tokens"]["default"] == 3000
    assert "#   precision: int8  # of minilm" in cli.run("config", "settings", options=()).out


def settings_of(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, str | None]]:
    for name, field in model.model_fields.items():
        yield prefix + name, field.description
        for inner in (field.annotation, *getattr(field.annotation, "__args__", ())):
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                yield from settings_of(inner, f"{prefix}{name}.")


SETTINGS = list(settings_of(Settings))


@pytest.mark.parametrize(("name", "description"), SETTINGS, ids=[name for name, _ in SETTINGS])
def test_every_setting_explains_itself(name: str, description: str | None) -> None:
    assert description
    assert name.rpartition(".")[2] in commented_settings({"id": "shop", "location": "."}, every=True)


def test_a_file_is_not_overwritten_without_force(cli: CommandLine) -> None:
    path = cli.folder / CONFIG_NAME
    path.write_text("home: mine\n", encoding="utf-8")
    done = cli.run("init", options=())
    assert (done.code, path.read_text(encoding="utf-8")) == (1, "home: mine\n")
    assert "rag-assets init --force" in done.err
    assert cli.run("init", "--force", options=()).code == 0
    assert path.read_text(encoding="utf-8") != "home: mine\n"


def test_without_a_file_the_defaults_are_valid(cli: CommandLine) -> None:
    found = cli.run("config", "check", "--json", options=()).json
    assert found == {
        "valid": True,
        "file": None,
        "environment": [],
        "home": str(cli.folder / ".rag_assets"),
        "repositories": [],
        "problems": [],
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("embeder: {}\n", "unknown key 'embeder'; did you mean 'embedder'?", id="unknown key"),
        pytest.param("embedder: {precison: int8}\n", "did you mean 'precision'?", id="unknown key inside"),
        pytest.param(
            "repositories: [{id: a, location: b, exlude: []}]\n", "did you mean 'exclude'?", id="unknown key in a list"
        ),
        pytest.param("embedder: {precision: int4}\n", "embedder.precision", id="wrong value"),
        pytest.param("sources: {max_file_bytes: -1}\n", "sources.max_file_bytes", id="out of range"),
        pytest.param("- a\n", ":1: expected a mapping at the top, found a list", id="not a mapping"),
        pytest.param("a: [\n", "not valid YAML", id="not YAML"),
        pytest.param("home: [1]\n", "home", id="home is no path"),
        pytest.param("repositories: [{id: a, location: ./nowhere}]\n", "does not exist", id="missing location"),
        pytest.param(
            "repositories: [{id: a, location: .}, {id: a, location: .}]\n", "'a' is used twice", id="id used twice"
        ),
        pytest.param(
            "packs: [nope]\n", "nope is no folder of pipelines; ask and chat cannot", id="no folder of pipelines"
        ),
        pytest.param(
            "answer: {pipeline: nope}\n", "answer.pipeline: no pipeline 'nope'; valid: ", id="no such pipeline"
        ),
        pytest.param(
            "answer: {pipeline: nope.yaml}\n",
            "nope.yaml: cannot be read: there is no such file",
            id="no such pipeline file",
        ),
        pytest.param("embedder: {table: nope.npz}\n", "embedder.table: there is no file ", id="no such table"),
        pytest.param("evaluation: {judge_rubric: a.md}\n", "judge_rubric: there is no file ", id="no such rubric"),
    ],
)
def test_problems_are_named_with_the_file_and_the_nearest_valid_name(cli: CommandLine, text: str, problem: str) -> None:
    path = cli.folder / CONFIG_NAME
    path.write_text(text, encoding="utf-8")
    done = cli.run("config", "check", options=())
    assert done.code == 1
    assert str(path) in done.out and problem in done.out
    found = cli.run("config", "check", "--json", options=()).json
    assert (found["valid"], len(found["problems"])) == (False, 1)


def test_several_problems_are_all_shown(cli: CommandLine) -> None:
    (cli.folder / CONFIG_NAME).write_text("embeder: {}\nsourcs: {}\n", encoding="utf-8")
    assert len(cli.run("config", "check", "--json", options=()).json["problems"]) == 2


def test_variables_that_apply_are_named_without_their_values(cli: CommandLine) -> None:
    value = json.dumps([{"id": "a", "location": "https://user:s3cr3t@host.invalid/a.git"}])
    with_variables = CommandLine(cli.home, cli.folder, {"RAG_ASSETS__REPOSITORIES": value})
    done = with_variables.run("config", "check", options=())
    assert done.code == 0
    assert "RAG_ASSETS__REPOSITORIES" in done.out
    assert "s3cr3t" not in done.out + done.err


def test_a_misspelled_variable_is_a_problem(cli: CommandLine) -> None:
    with_variable = CommandLine(cli.home, cli.folder, {"RAG_ASSETS__EMBEDER__PRECISION": "fp32"})
    done = with_variable.run("config", "check", options=())
    assert done.code == 1
    assert "unknown variable RAG_ASSETS__EMBEDER__PRECISION: no setting 'embeder'; did you mean 'embedder'?" in done.out


@pytest.mark.parametrize(
    ("variable", "problem"),
    [
        ("RAG_ASSETS_HOME", "environment: RAG_ASSETS_HOME is read by nothing; write RAG_ASSETS__HOME"),
        ("RAG_ASSETS_SEARCH__LIMIT", "environment: RAG_ASSETS_SEARCH__LIMIT is read by nothing; write RAG_ASSETS__S"),
        (
            "RAG_ASSETS_SEARCH_LIMIT",
            "environment: RAG_ASSETS_SEARCH_LIMIT is read by nothing; write RAG_ASSETS__SEARCH__L",
        ),
        ("RAG_ASSETS_REPOSITORIES", "RAG_ASSETS_REPOSITORIES is read by nothing; write RAG_ASSETS__REPOSITORIES"),
        ("RAG_ASSETS_ANSWER_API_KEY", ""),
    ],
)
def test_a_variable_without_its_double_underscores_is_a_problem(cli: CommandLine, variable: str, problem: str) -> None:
    """It would be ignored, and the index would be elsewhere."""
    with_variable = CommandLine(cli.home, cli.folder, {variable: "/somewhere"})
    done = with_variable.run("config", "check", options=())
    assert done.code == bool(problem)
    assert problem in done.out


def test_a_file_can_be_named(cli: CommandLine, tmp_path: Path) -> None:
    other = tmp_path / "other" / "settings.yaml"
    other.parent.mkdir()
    other.write_text("home: there\n", encoding="utf-8")
    found = cli.run("config", "check", "--json", options=("--config", str(other))).json
    assert (found["file"], found["home"]) == (str(other), str(other.parent.resolve() / "there"))


@pytest.mark.parametrize("options", [("--config", CONFIG_NAME), ()])
def test_a_file_that_cannot_be_read_is_still_named(cli: CommandLine, options: tuple[str, ...]) -> None:
    """It does not say that there is none and that defaults apply."""
    (cli.folder / CONFIG_NAME).write_bytes(b"\xff\xfe")
    done = cli.run("config", "check", options=options)
    assert done.code == 1
    assert (CONFIG_NAME in done.out.splitlines()[0], "defaults apply" in done.out) == (True, False)


def test_a_named_file_must_exist(cli: CommandLine) -> None:
    done = cli.run("config", "check", options=("--config", "nowhere.yaml"))
    assert done.code == 1
    assert "nowhere.yaml" in done.out
