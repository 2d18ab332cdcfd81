"""Pages of a forge about commits, from the address that git fetches from. Credentials never get into them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import quote, urlsplit

from rag_assets.sources.urls import strip_credentials

_SCP = re.compile(r"(?:git@)?(?P<host>[^:/@]+):(?P<path>[^/].*)")
_UNQUOTED = "/%~!$&'()*+,;=:@"


@dataclass(frozen=True, slots=True)
class ForgePages:
    """What comes after the address of a repository in those of its pages."""

    commit: str
    diff: str


FORGES: Mapping[str, ForgePages] = MappingProxyType(
    {
        "github": ForgePages("/commit/{commit}", "/compare/{old}...{commit}"),
        "gitlab": ForgePages("/-/commit/{commit}", "/-/compare/{old}...{commit}"),
        "bitbucket": ForgePages("/commits/{commit}", "/branches/compare/{commit}..{old}"),
        "codeberg": ForgePages("/commit/{commit}", "/compare/{old}...{commit}"),
        "forgejo": ForgePages("/commit/{commit}", "/compare/{old}...{commit}"),
        "gitea": ForgePages("/commit/{commit}", "/compare/{old}...{commit}"),
        "azure": ForgePages("/commit/{commit}", "/branchCompare?baseVersion=GC{old}&targetVersion=GC{commit}&_a=files"),
        "visualstudio": ForgePages(
            "/commit/{commit}", "/branchCompare?baseVersion=GC{old}&targetVersion=GC{commit}&_a=files"
        ),
    }
)
"""By a part of the host name between dots or hyphens. Where none fits, nobody knows how pages are called."""


def commit_page(remote_url: str, commit: str) -> str:
    """The page of a commit; '' where the forge is not known."""
    pages, base = _forge_of(remote_url)
    return base + pages.commit.format(commit=commit) if pages and commit else ""


def diff_page(remote_url: str, old: str, commit: str) -> str:
    """The page of what changed from `old` to `commit`; '' where the forge is not known, or for equal commits."""
    pages, base = _forge_of(remote_url)
    return base + pages.diff.format(old=old, commit=commit) if pages and old and commit and old != commit else ""


def _forge_of(remote_url: str) -> tuple[ForgePages | None, str]:
    scheme, host, path = _parts(strip_credentials(remote_url.strip()))
    name = host.partition(":")[0].lower()
    pages = next((FORGES[part] for part in re.split(r"[.-]", name) if part in FORGES), None)
    if pages is None:
        return None, ""
    if name == "ssh.dev.azure.com" and path.count("/") == 3:  # v3/organisation/project/repository
        host, (_, organisation, project, repository) = "dev.azure.com", path.split("/")
        path = f"{organisation}/{project}/_git/{repository}"
    return pages, f"{scheme}://{host}/{quote(path, safe=_UNQUOTED)}"


def _parts(url: str) -> tuple[str, str, str]:
    """Scheme, host with the port of a web server, and path; empty where it is no address."""
    if "://" not in url:
        scp = _SCP.fullmatch(url)
        return ("https", scp["host"], _repository(scp["path"])) if scp else ("", "", "")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "", "", ""
    if parts.scheme in ("http", "https"):
        return parts.scheme, f"{host}:{port}" if port else host, _repository(parts.path)
    return ("https", host, _repository(parts.path)) if "ssh" in parts.scheme else ("", "", "")


def _repository(path: str) -> str:
    return path.strip("/").removesuffix(".git")
