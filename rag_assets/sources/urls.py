"""Tells URLs from paths, writes URLs without their credentials, and checks which paths of a source are safe to use."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from rag_assets.contracts.identity import slug
from rag_assets.errors import LocationError

SCHEMES = frozenset({"https", "http", "ssh", "git", "git+ssh", "ssh+git", "file"})
"""The protocols that git may use. `ext::`, `fd::` and other helpers run programs and are refused."""

ARCHIVE_SUFFIXES = (".tar.gz", ".tar.bz2", ".tar.xz", ".tgz", ".tbz2", ".txz", ".tar", ".zip")

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_HELPER = re.compile(r"[A-Za-z0-9+.-]+::")
# `host:path` or `user@host:path`; a host of one letter is a Windows drive.
_SCP = re.compile(
    r"(?:(?P<user>[^@/\\:\s]+)(?::[^@/\\\s]*)?@)?(?P<host>[^@/\\:\s-][^@/\\:\s]+|\[[0-9A-Fa-f:]+\]):(?P<path>(?![/\\]{2}).+)"
)
_SERVICE_ACCOUNT = "git"  # the user of every forge's ssh address: part of the address, not of a person
_VERSION = re.compile(r"^(?P<name>.+?)[-_](?P<version>v?\d+(?:\.\d+)+[0-9A-Za-z]*(?:[-.+_][0-9A-Za-z]+)*|v?\d+)$")
_SHORTEST_SECRET = 4  # masking shorter ones would hide ordinary words; git never gets any of them to print
_URL_IN_TEXT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"<>]+")


@dataclass(frozen=True, slots=True)
class Credentials:
    """User and password of a URL; kept out of every repr."""

    username: str = field(repr=False)
    password: str | None = field(repr=False)


def is_remote(location: str) -> bool:
    """True for a URL or scp-like address, false for a path."""
    return bool(_URL.match(location) or _HELPER.match(location) or (_SCP.fullmatch(location)))


def check_location(location: str) -> None:
    """Raises LocationError for a location that must not reach a git command line."""
    if not location.strip():
        raise LocationError("the location of a repository is empty; give a git URL, a path or a source archive")
    if location.startswith("-"):
        raise LocationError(f"{location!r}: a location must not start with '-'; write ./{location} for a path")
    if any(ord(character) < 32 for character in location):
        raise LocationError(f"{strip_credentials(location)!r}: a location must not contain control characters")
    if _HELPER.match(location):
        raise LocationError(f"{location.split('::', 1)[0]}:: transports run programs and are refused; use https or ssh")
    if _URL.match(location):
        _check_url(location)


def _check_url(location: str) -> None:
    clean = strip_credentials(location)
    scheme, _, rest = location.partition("://")
    if scheme.lower() not in SCHEMES:
        raise LocationError(f"{clean}: scheme {scheme!r} is not supported; use one of {', '.join(sorted(SCHEMES))}")
    try:
        host = urlsplit(location).hostname or ""
    except ValueError as error:
        raise LocationError(f"{clean}: not a valid URL") from (None if "@" in rest else error)
    if not host and scheme.lower() != "file":
        raise LocationError(f"{clean}: the URL has no host")
    if host.startswith("-"):
        raise LocationError(f"{clean}: a host must not start with '-'")
    if "?" in rest and scheme.lower() != "file":
        raise LocationError(
            # No whole URL as an example: in a log, its user would be masked as a credential.
            f"{clean}: git does not send query parameters; write user:token@ before the host, "
            "or use a git credential helper"
        )


def strip_credentials(url: str) -> str:
    """A git URL or scp-like address as it may be shown and stored: no password, user, query or fragment.

    Only the user `git` of ssh addresses stays, because it is part of the address. Paths are returned unchanged.
    """
    if _URL.match(url):
        scheme, _, rest = url.partition("://")
        authority, slash, path = _authority(rest)
        user, _, host = authority.rpartition("@")
        kept = f"{_SERVICE_ACCOUNT}@" if user.split(":", 1)[0] == _SERVICE_ACCOUNT and "ssh" in scheme.lower() else ""
        return f"{scheme}://{kept}{host}{slash}{path}"
    scp = _SCP.fullmatch(url)
    if scp is None:
        return url
    kept = f"{_SERVICE_ACCOUNT}@" if scp["user"] == _SERVICE_ACCOUNT else ""
    return f"{kept}{scp['host']}:{scp['path']}"


def _authority(rest: str) -> tuple[str, str, str]:
    """(authority, `/`, path) of what follows `://`, without query and fragment.

    A `/`, `?` or `#` in a password should be quoted. If one is not, the "port" before it is no number. Then everything
    up to the last `@` counts as user information, because showing too little does less harm.
    """
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    port = authority.rpartition(":")[2] if ":" in authority else ""
    if "@" not in authority and "@" in rest and port and not port.isdigit():
        authority = rest.rpartition("@")[0] + "@" + re.split(r"[/?#]", rest.rpartition("@")[2], maxsplit=1)[0]
    path = re.split(r"[?#]", rest[len(authority) :], maxsplit=1)[0]
    return authority, path[:1], path[1:]


def without_credentials(location: str) -> tuple[str, Credentials | None]:
    """(the URL for git, its credentials). Only http and https carry any.

    ssh keeps its user, which it needs and which is no secret, and loses a password, which it never uses.
    """
    if not _URL.match(location):
        return location, None
    parts = urlsplit(location)
    if parts.username is None:
        return location, None
    host = parts.netloc.rpartition("@")[2]
    if parts.scheme.lower() in ("http", "https"):
        password = None if parts.password is None else unquote(parts.password)
        return urlunsplit(parts._replace(netloc=host)), Credentials(unquote(parts.username), password)
    return urlunsplit(parts._replace(netloc=f"{parts.username}@{host}")), None


def scrubbed(text: str, location: str) -> str:
    """`text`, as a program printed it, without the credentials of `location` or of any URL in it."""
    clean = _URL_IN_TEXT.sub(lambda match: strip_credentials(match.group()), text)
    if not is_remote(location) or not _URL.match(location):
        return clean
    user = _authority(location.partition("://")[2])[0].rpartition("@")[0]
    secrets = {form for part in (user, *user.split(":", 1)) for form in (part, unquote(part))}
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            clean = clean.replace(secret, "***")
    return clean


def archive_stem(location: str) -> str | None:
    """`/a/pythonnet-3.2.1.tar.gz` → `pythonnet-3.2.1`; None for anything but a source archive's name."""
    name = re.split(r"[/\\]", location)[-1]
    for suffix in ARCHIVE_SUFFIXES:
        if name.lower().endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return None


def archive_version(location: str) -> str | None:
    """The version in an archive's name, `3.2.1` of `pythonnet-3.2.1.tar.gz`; None where there is none."""
    match = _VERSION.match(archive_stem(location) or "")
    return match["version"] if match else None


def default_repository_id(location: str) -> str:
    """A lower-case slug that names the repository: `https://host/org/Repo.git` → `repo`."""
    stem = archive_stem(location)
    if stem is not None and not is_remote(location):
        match = _VERSION.match(stem)
        return _repository_slug(match["name"] if match else stem)
    path = strip_credentials(location) if is_remote(location) else str(Path(location).expanduser().resolve())
    parts = [part for part in re.split(r"[/\\:]", path) if part and part != ".git"]
    return _repository_slug(parts[-1].removesuffix(".git") if parts else "")


def _repository_slug(name: str) -> str:
    """The slug of a name, which is `repository` where no letter or digit of ASCII is left of it."""
    return slug(name) if any(char.isascii() and char.isalnum() for char in name) else "repository"


# --- paths of a source ------------------------------------------------------------------------------------------------

_DRIVE = re.compile(rb"[A-Za-z]:")
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")


def safe_path(raw: bytes) -> tuple[str, str]:
    """(text of a repository path, why it is unsafe or empty).

    Bytes that are not UTF-8 become `\\xNN`, so that every name has one printable, reversible text. A name with a
    backslash of its own is refused: that keeps the text unique, and Windows would read a separator.
    """
    problem = ""
    if _CONTROL.search(raw):
        problem = "control character in the name"
    elif b"\\" in raw:
        problem = "backslash in the name"
    elif raw.startswith(b"/") or _DRIVE.match(raw):
        problem = "absolute path"
    elif any(part in (b"", b".", b"..") for part in raw.split(b"/")):
        problem = "path traversal" if b".." in raw.split(b"/") else "empty path component"
    text = raw.decode("utf-8", "backslashreplace")
    return (_CONTROL_TEXT.sub(_escaped, text) if problem else text), problem


_CONTROL_TEXT = re.compile(r"[\x00-\x1f\x7f]")


def _escaped(match: re.Match[str]) -> str:
    return f"\\x{ord(match.group()):02x}"  # a name must not control the terminal that lists it


def raw_path(text: str) -> bytes:
    """The bytes of a safe path from its text."""
    raw = text.encode()
    return _ESCAPED_BYTE.sub(lambda match: bytes([int(match[1], 16)]), raw) if b"\\" in raw else raw


_ESCAPED_BYTE = re.compile(rb"\\x([0-9a-f]{2})")
