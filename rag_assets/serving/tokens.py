"""Bearer tokens: who may ask a server from another machine. Kept as digests, so that whoever reads the file, or a copy
of it, cannot ask with them.

A token has 256 random bits, so its SHA-256 needs no salt and no slow hash.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import msgspec
from filelock import FileLock

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.errors import RagAssetsError
from rag_assets.index.layout import IndexHome, read_record, write_record
from rag_assets.serving.access import Caller
from rag_assets.settings.config_file import ConfigError
from rag_assets.settings.roles import clearance_of

_FILE = "tokens.json"
_PREFIX = "rag_"
"""So that scanners of secrets know one when they see it."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_BYTES = 32


class TokenError(RagAssetsError):
    """A token that cannot be made or revoked, or tokens that cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRecord:
    """What is kept of a token. Times are ISO 8601 in UTC; `expires_at` is '' for one that does not."""

    name: str
    role: str | None
    org_id: str | None
    sha256: str
    created_at: str
    expires_at: str = ""

    def is_expired(self, now: datetime) -> bool:
        return bool(self.expires_at) and datetime.fromisoformat(self.expires_at) <= now


@dataclass(frozen=True, slots=True)
class _TokenFile:
    tokens: tuple[TokenRecord, ...] = field(default_factory=tuple)


class TokenStore:
    """The tokens of a home. The file is read when it has changed, so a revoked token ends with the next request."""

    def __init__(self, home: IndexHome, roles: Mapping[str, Confidentiality]) -> None:
        self._path = home.root / _FILE
        self._roles = roles
        self._read: tuple[tuple[int, int, int], tuple[TokenRecord, ...]] | None = None

    def all(self) -> tuple[TokenRecord, ...]:
        """In the order they were made. Raises TokenError for a damaged file: nobody is let in by a guess."""
        try:
            about = self._path.stat()
            stamp = (about.st_mtime_ns, about.st_size, about.st_ino)
            if self._read is None or self._read[0] != stamp:
                self._read = (stamp, read_record(self._path, _TokenFile).tokens)
        except FileNotFoundError:
            return ()
        except msgspec.DecodeError as error:
            raise TokenError(f"{self._path} is damaged: {error}; delete it and create the tokens again") from error
        return self._read[1]

    def caller_of(self, token: str) -> Caller | None:
        """Who a token is of; None for one that is unknown, revoked or expired, or whose role is gone. The time it takes
        says nothing about the token."""
        digest = _digest(token)
        now, found = datetime.now(UTC), None
        for known in self.all():
            if hmac.compare_digest(known.sha256, digest) and not known.is_expired(now):
                found = known
        if found is None:
            return None
        try:
            return Caller(name=found.name, clearance=clearance_of(found.role, self._roles), org_id=found.org_id)
        except ConfigError:
            return None

    def create(self, name: str, *, role: str | None, org_id: str | None, days: int | None = None) -> str:
        """A new token, which is shown once. Raises TokenError for an unusable or taken name, ConfigError."""
        if not _NAME.fullmatch(name):
            raise TokenError(f"not a name for a token: {name!r}; use up to 64 letters, digits, and . _ @ -")
        clearance_of(role, self._roles)
        with FileLock(self._path.with_name(f"{_FILE}.lock")):
            known = self.all()
            if any(one.name == name for one in known):
                raise TokenError(f"there is a token {name!r}; revoke it first with: rag-assets token revoke {name}")
            token, now = _PREFIX + secrets.token_urlsafe(_BYTES), datetime.now(UTC)
            made = TokenRecord(
                name=name,
                role=role,
                org_id=org_id,
                sha256=_digest(token),
                created_at=now.isoformat(timespec="seconds"),
                expires_at="" if days is None else (now + timedelta(days=days)).isoformat(timespec="seconds"),
            )
            self._write((*known, made))
        return token

    def revoke(self, name: str) -> None:
        """Raises TokenError naming the tokens there are."""
        with FileLock(self._path.with_name(f"{_FILE}.lock")):
            known = self.all()
            kept = tuple(one for one in known if one.name != name)
            if len(kept) == len(known):
                names = ", ".join(one.name for one in known) or "none"
                raise TokenError(f"no token {name!r}; there are: {names}")
            self._write(kept)

    def _write(self, tokens: Sequence[TokenRecord]) -> None:
        write_record(self._path, _TokenFile(tuple(tokens)))
        self._path.chmod(0o600)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
