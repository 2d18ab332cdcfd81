"""Pages of forges, from the addresses that git fetches from."""

from __future__ import annotations

import pytest

from rag_assets.sources.forge_links import commit_page, diff_page

GITHUB = ("https://github.com/acme/shop/commit/b2", "https://github.com/acme/shop/compare/a1...b2")


@pytest.mark.parametrize(
    ("remote", "commit", "diff"),
    [
        pytest.param("https://github.com/acme/shop.git", *GITHUB, id="https"),
        pytest.param("git@github.com:acme/shop.git", *GITHUB, id="scp"),
        pytest.param("ssh://git@github.com:22/acme/shop.git", *GITHUB, id="ssh with a port"),
        pytest.param("https://anna:t0ken@github.com/acme/shop", *GITHUB, id="credentials"),
        pytest.param(
            "https://git.acme-gitlab.example:8443/team/sub/shop.git",
            "https://git.acme-gitlab.example:8443/team/sub/shop/-/commit/b2",
            "https://git.acme-gitlab.example:8443/team/sub/shop/-/compare/a1...b2",
            id="gitlab of one's own, groups and a port",
        ),
        pytest.param(
            "https://bitbucket.org/acme/shop.git",
            "https://bitbucket.org/acme/shop/commits/b2",
            "https://bitbucket.org/acme/shop/branches/compare/b2..a1",
            id="bitbucket",
        ),
        pytest.param(
            "git@ssh.dev.azure.com:v3/acme/My%20Project/shop",
            "https://dev.azure.com/acme/My%20Project/_git/shop/commit/b2",
            "https://dev.azure.com/acme/My%20Project/_git/shop"
            "/branchCompare?baseVersion=GCa1&targetVersion=GCb2&_a=files",
            id="azure over ssh",
        ),
        pytest.param("https://example.org/acme/shop.git", "", "", id="unknown forge"),
        pytest.param("https://notgithub.com/acme/shop.git", "", "", id="near name"),
        pytest.param("/srv/git/github.com/shop.git", "", "", id="path"),
        pytest.param("file:///srv/github/shop.git", "", "", id="file url"),
        pytest.param("javascript://github.com/%0aalert(1)", "", "", id="no web address"),
        pytest.param("https://github.com:port/acme/shop", "", "", id="no port"),
        pytest.param("", "", "", id="none"),
    ],
)
def test_pages(remote: str, commit: str, diff: str) -> None:
    assert commit_page(remote, "b2") == commit
    assert diff_page(remote, "a1", "b2") == diff


@pytest.mark.parametrize(("old", "new"), [("", "b2"), ("a1", ""), ("b2", "b2")], ids=["first", "no commit", "same"])
def test_no_page_of_no_difference(old: str, new: str) -> None:
    assert diff_page("https://github.com/acme/shop", old, new) == ""
