"""Locations: what is a URL, what is refused, and how one is written down without credentials."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_assets.errors import LocationError
from rag_assets.sources.urls import (
    archive_version,
    check_location,
    default_repository_id,
    is_remote,
    scrubbed,
    strip_credentials,
    without_credentials,
)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://host/org/repo.git", "https://host/org/repo.git"),
        ("https://user:secret@host/org/repo.git", "https://host/org/repo.git"),
        ("https://ghp_abc123@github.com/org/repo", "https://github.com/org/repo"),
        ("https://user:pa%2Fss@host:8443/repo", "https://host:8443/repo"),
        ("https://user:pa/ss@host/repo", "https://host/repo"),
        ("https://user:p@ss@host/repo", "https://host/repo"),
        ("https://host/repo.git?private_token=abc", "https://host/repo.git"),
        ("https://host/repo.git#token=abc", "https://host/repo.git"),
        ("https://host/@scope/repo", "https://host/@scope/repo"),
        ("https://host:8443/@scope/repo", "https://host:8443/@scope/repo"),
        ("ssh://git@host/org/repo.git", "ssh://git@host/org/repo.git"),
        ("ssh://jane:secret@host:2222/repo", "ssh://host:2222/repo"),
        ("ssh://git:secret@host/repo", "ssh://git@host/repo"),
        ("git@github.com:org/repo.git", "git@github.com:org/repo.git"),
        ("jane@host:org/repo.git", "host:org/repo.git"),
        ("jane:secret@host:org/repo.git", "host:org/repo.git"),
        ("file:///srv/repo.git", "file:///srv/repo.git"),
        ("/srv/repo", "/srv/repo"),
        ("C:\\src\\repo", "C:\\src\\repo"),
    ],
)
def test_what_is_shown_and_stored_of_a_url_has_no_credentials(url: str, shown: str) -> None:
    assert strip_credentials(url) == shown


@pytest.mark.parametrize(
    ("location", "remote"),
    [
        ("https://host/repo", True),
        ("git@host:repo", True),
        ("host.example:org/repo", True),
        ("[::1]:repo", True),
        ("C:/src/repo", False),
        ("C:\\src\\repo", False),
        ("c:repo", False),
        ("./a/b", False),
        ("../repo", False),
        ("/srv/a:b", False),
        ("sub/dir:odd", False),
        ("repo-1.0.zip", False),
    ],
)
def test_urls_and_paths_are_told_apart(location: str, remote: bool) -> None:
    assert is_remote(location) is remote


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("", "empty"),
        ("  ", "empty"),
        ("--upload-pack=touch /tmp/owned", "must not start with '-'"),
        ("ext::sh -c touch% /tmp/owned", "transports run programs"),
        ("fd::17", "transports run programs"),
        ("gopher://host/repo", "not supported"),
        ("https:///repo", "no host"),
        ("ssh://-oProxyCommand=touch/repo", "must not start with '-'"),
        ("https://host/repo\nHost: other", "control characters"),
        ("https://host/repo.git?private_token=topsecret", "query"),
    ],
)
def test_dangerous_or_useless_locations_are_refused_with_the_reason(location: str, why: str) -> None:
    with pytest.raises(LocationError, match=why) as raised:
        check_location(location)
    assert "topsecret" not in str(raised.value)


def test_git_is_called_without_the_credentials_of_the_url() -> None:
    url, credentials = without_credentials("https://jane:p%40ss@host:8443/org/repo.git")
    assert url == "https://host:8443/org/repo.git"
    assert credentials is not None
    assert (credentials.username, credentials.password) == ("jane", "p@ss")
    assert "p@ss" not in repr(credentials)


@pytest.mark.parametrize(
    ("url", "called"),
    [("ssh://jane:secret@host/repo", "ssh://jane@host/repo"), ("git@host:repo", "git@host:repo"), ("/srv/r", "/srv/r")],
)
def test_ssh_keeps_the_user_it_needs_and_no_password(url: str, called: str) -> None:
    assert without_credentials(url) == (called, None)


def test_program_output_is_scrubbed_of_urls_and_of_the_bare_secret() -> None:
    said = "fatal: cannot read 'https://jane:hunter22@host/r/': denied for hunter22 (also https://x:y@other/)"
    clean = scrubbed(said, "https://jane:hunter22@host/r")
    assert "hunter22" not in clean
    assert "jane" not in clean
    assert "x:y" not in clean
    assert "https://host/r/" in clean


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("https://host/org/Repo.git", "repo"),
        ("https://host/org/Newtonsoft.Json", "newtonsoft-json"),
        ("https://user:secret@host/org/repo/", "repo"),
        ("git@host:org/My_Repo.git", "my-repo"),
        ("ssh://git@host:22/x/y.git", "y"),
        ("/tmp/pythonnet-3.2.1.tar.gz", "pythonnet"),
        ("C:\\src\\Newtonsoft.Json-13.0.3.zip", "newtonsoft-json"),
        ("repo-master.zip", "repo-master"),
        ("tool_2.0.0rc1.tgz", "tool"),
        ("file:///srv/git/shop.git", "shop"),
        ("/srv/git/漢字", "repository"),
    ],
)
def test_default_repository_id(location: str, expected: str) -> None:
    assert default_repository_id(location) == expected


def test_default_repository_id_of_a_relative_path_is_the_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Shop.Web").mkdir()
    monkeypatch.chdir(tmp_path)
    assert default_repository_id("Shop.Web/.git") == "shop-web"
    monkeypatch.chdir("Shop.Web")
    assert default_repository_id(".") == "shop-web"


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("pythonnet-3.2.1.tar.gz", "3.2.1"),
        ("repo-v1.2.zip", "v1.2"),
        ("lib-1.0.0-beta.2.tar.xz", "1.0.0-beta.2"),
        ("tool_2.0.0rc1.tgz", "2.0.0rc1"),
        ("repo-12.tar.bz2", "12"),
        ("repo-master.zip", None),
        ("repo.tar", None),
        ("notes.txt", None),
    ],
)
def test_version_in_an_archive_name(name: str, version: str | None) -> None:
    assert archive_version(name) == version
