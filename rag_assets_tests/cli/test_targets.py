"""What the words after `rag-assets index` mean, and what a label remembers of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from rag_assets.cli.console import CommandError
from rag_assets.cli.index.targets import chosen_repositories, moved, repository_above, repository_named
from rag_assets.errors import LocationError
from rag_assets.index.labels import register_label
from rag_assets.index.layout import IndexHome, LabelError, index_label, label_named
from rag_assets.settings import RepositorySettings, Settings
from rag_assets.sources.locations import location_of
from rag_assets_tests.git_repository import Repository

CONFIGURED = (
    RepositorySettings(id="shop", location="/srv/shop", ref="main", project="retail"),
    RepositorySettings(id="tools", location="https://host.invalid/team/tools.git"),
)


@pytest.fixture
def home(tmp_path: Path) -> IndexHome:
    return IndexHome(tmp_path / "home")


@pytest.fixture
def settings(home: IndexHome) -> Settings:
    return Settings(home=home.root, repositories=CONFIGURED)


@pytest.mark.parametrize(
    ("word", "identifier", "location"),
    [
        pytest.param("shop", "shop", "/srv/shop", id="configured id"),
        pytest.param("https://host.invalid/team/tools.git", "tools", CONFIGURED[1].location, id="configured URL"),
        pytest.param("https://host.invalid/x/Other.git", "other", "https://host.invalid/x/Other.git", id="URL"),
        pytest.param("git@host.invalid:x/other.git", "other", "git@host.invalid:x/other.git", id="scp-like address"),
    ],
)
def test_words_that_need_no_file(
    settings: Settings, home: IndexHome, word: str, identifier: str, location: str
) -> None:
    found = repository_named(settings, home, word)
    assert (found.id, found.location) == (identifier, location)


@pytest.mark.parametrize(
    ("name", "identifier"),
    [
        pytest.param("Fernhill.Shop", "fernhill-shop", id="directory"),
        pytest.param("pythonnet-3.2.1.tar.gz", "pythonnet", id="archive without its version"),
    ],
)
def test_paths_become_absolute(
    settings: Settings, home: IndexHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, identifier: str
) -> None:
    (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    found = repository_named(settings, home, f"./{name}")
    assert (found.id, found.location) == (identifier, str((tmp_path / name).resolve()))


def test_a_configured_id_is_stronger_than_a_folder_of_that_name(
    settings: Settings, home: IndexHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop").mkdir()
    monkeypatch.chdir(tmp_path)
    assert repository_named(settings, home, "shop").location == "/srv/shop"


def test_a_name_of_its_own_keeps_two_sources_apart(settings: Settings, home: IndexHome, tmp_path: Path) -> None:
    path = tmp_path / "shop"
    path.mkdir()
    with pytest.raises(CommandError, match=r"'shop' is configured for another repository; .* --id NAME"):
        repository_named(settings, home, str(path))
    assert repository_named(settings, home, str(path), "shop-fork").id == "shop-fork"


def test_a_label_is_its_repository_and_the_configuration_wins(settings: Settings, home: IndexHome) -> None:
    register_label(home, "shop@release", CONFIGURED[0], "release")
    found = repository_named(settings, home, "shop@release")
    assert (found.project, found.ref) == ("retail", "release")


WRITTEN = "a/b@c d"


@pytest.mark.parametrize("word", ["a/b@c d@Feature/X", "a/b@c d", "a-b-c-d~fcd2b6", "a-b-c-d~fcd2b6@feature-x~9cf0bf"])
def test_a_label_may_be_written_as_its_repository_and_ref_are(word: str) -> None:
    known = [index_label(WRITTEN, "Feature/X"), "shop@main"]
    assert known[0].startswith("a-b-c-d~fcd2b6@feature-x~")
    assert label_named(known, word.replace("feature-x~9cf0bf", known[0].partition("@")[2])) == known[0]


@pytest.mark.parametrize("word", ["a/b@c d@main", "a-b-c-d", "a/b", "@"])
def test_a_name_that_is_spelt_otherwise_is_none(word: str) -> None:
    with pytest.raises(LabelError, match="no label"):
        label_named([index_label(WRITTEN, "Feature/X"), "shop@main"], word)


def test_a_written_label_is_its_repository(settings: Settings, home: IndexHome) -> None:
    other = RepositorySettings(id=WRITTEN, location="/srv/other", ref="Feature/X")
    register_label(home, index_label(WRITTEN, "Feature/X"), other, "Feature/X")
    assert repository_named(settings, home, f"{WRITTEN}@Feature/X").location == "/srv/other"


def test_without_words_all_configured_ones_with_the_ref_that_was_asked_for(settings: Settings, home: IndexHome) -> None:
    assert chosen_repositories(settings, home, []) == list(CONFIGURED)
    assert {found.ref for found in chosen_repositories(settings, home, [], ref="v1")} == {"v1"}


def test_a_configuration_without_repositories_is_named(
    home: IndexHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "rag_assets.yaml"
    config.write_text("repositories:\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommandError, match=f"{re.escape(str(config))} lists no repository"):
        chosen_repositories(Settings(home=home.root), home, [])


def test_an_indexed_repository_is_named_by_its_id_alone(settings: Settings, home: IndexHome) -> None:
    register_label(home, "copy@main", RepositorySettings(id="copy", location="/srv/gone", ref="main"), "main")
    assert repository_named(settings, home, "copy").location == "/srv/gone"
    register_label(home, "copy@dev", RepositorySettings(id="copy", location="/srv/gone", ref="dev"), "dev")
    with pytest.raises(LabelError, match="several labels; choose one of: copy@dev, copy@main"):
        repository_named(settings, home, "copy")


def test_what_helps_is_said_where_an_indexed_repository_has_gone(settings: Settings, tmp_path: Path) -> None:
    gone = RepositorySettings(id="copy", location=str(tmp_path / "gone"))
    with pytest.raises(LocationError) as raised:
        location_of(gone.location)
    assert moved(settings, gone, raised.value) == "; if it has moved: rag-assets index PATH --id copy"
    assert moved(settings, CONFIGURED[0], raised.value) == ""


def test_an_unknown_word_is_answered_with_the_near_one(settings: Settings, home: IndexHome) -> None:
    with pytest.raises(CommandError, match=r"'shpo' is neither .*; did you mean 'shop'\?"):
        repository_named(settings, home, "shpo")


@pytest.mark.parametrize("below", [".", "src", "src/Orders"])
def test_the_top_of_a_working_tree(repository: Repository, below: str) -> None:
    assert repository_above((repository.path / below).resolve()) == repository.path.resolve()


def test_a_bare_repository_is_its_own_top(repository: Repository, tmp_path: Path) -> None:
    repository.git("clone", "--quiet", "--bare", str(repository.path), str(tmp_path / "bare.git"))
    assert repository_above(tmp_path / "bare.git") == tmp_path / "bare.git"


@pytest.mark.parametrize(
    ("location", "kept"),
    [
        pytest.param("https://user:s3cr3t@host.invalid/a.git", "https://host.invalid/a.git", id="user and password"),
        pytest.param("https://t0ken@host.invalid/a.git", "https://host.invalid/a.git", id="token"),
        pytest.param("git@host.invalid:a.git", "git@host.invalid:a.git", id="service account"),
        pytest.param("/srv/a", "/srv/a", id="path"),
    ],
)
def test_a_label_remembers_no_credentials(home: IndexHome, location: str, kept: str) -> None:
    register_label(home, "a@main", RepositorySettings(id="a", location=location), "main")
    assert json.loads((home.label("a@main") / "label.json").read_bytes())["location"] == kept
