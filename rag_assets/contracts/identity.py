"""Deterministic identities: semantic ids, point ids, slugs, and the URIs of backing artifacts (A31, A32, B04, B05,
B19–B21, C01–C06, C13; R1–R3).

``rag://{label}/{path}`` names the full document; every asset of the file shares it, and indexing the file
again does not change it. Slices and descriptions are that URI plus a lower-case derived suffix.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote, unquote

POINT_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://rag-assets.dev/point")
"""The fixed project namespace of every PointId (R2). Changing it re-creates every point."""

DEFAULT_SECTION = "body"
_SLUG_SEPARATORS = re.compile(r"[\s\-_./]+")
_SLUG_DROPPED = re.compile(r"[^a-z0-9-]")
_DASHES = re.compile(r"-{2,}")
_COLONS = re.compile(r":{2,}")
_DECORATION = re.compile(r"[`<(\[]")  # arity, type arguments, parameters
_SUFFIXES = re.compile(r"~[0-9a-f]{8}(?=[.~]|$)|~\d+$")

GENERAL_DOMAIN = "General"
"""What the snippets call the domain of everything that belongs to none (domain reference §3)."""


@dataclass(frozen=True, slots=True)
class DocumentIdentity:
    """The isolation boundary of B02 and the names a point carries (A02, A27)."""

    org_id: str
    org_namespace: str
    project_id: str
    repo_id: str
    doc_id: str


def slug(text: str) -> str:
    """IDX-025 §7.3 (B21): lower case, `a-z0-9` kept, blanks and ``- _ . /`` become one `-`; empty → `body`."""
    dashed = _SLUG_SEPARATORS.sub("-", text.lower())
    kept = _DASHES.sub("-", _SLUG_DROPPED.sub("", dashed)).strip("-")
    return kept or DEFAULT_SECTION


def unique_slugs(texts: list[str]) -> list[str]:
    """Slugs of the sections of one document; a short hash of the original text separates collisions (R1).

    Equal texts keep equal slugs; only different texts with one slug (`Foo<T>`, `Foot`) get a suffix.
    """
    slugs = [slug(text) for text in texts]
    owners: dict[str, set[str]] = {}
    for text, made in zip(texts, slugs, strict=True):
        owners.setdefault(made, set()).add(text)
    return [
        f"{made}-{hashlib.sha256(text.encode()).hexdigest()[:8]}" if len(owners[made]) > 1 else made
        for text, made in zip(texts, slugs, strict=True)
    ]


def build_semantic_id(doc_id: str, section_key: str = "", part_index: int = 1) -> str:
    """``{DocId}:sec:{slug(SectionKey)}#p{PartIndex}`` (B05, B19). Raises ValueError on an empty `doc_id`."""
    if not doc_id.strip():
        raise ValueError("build_semantic_id needs a doc_id")
    return f"{doc_id}:sec:{slug(section_key)}#p{max(1, part_index)}"


def build_point_id(doc_id: str, section_key: str = "", part_index: int = 1) -> str:
    """The legacy string helper of IDX-025 §7.2 (B20): the same format, not a Qdrant id."""
    return build_semantic_id(doc_id, section_key, part_index)


def symbol_semantic_id(
    org_namespace: str,
    project_id: str,
    repo_id: str,
    symbol_type: str,
    symbol: str,
    section_key: str,
    part_index: int,
) -> str:
    """The IDX-069 string (A32), lower case and without `::`: a part with one (a path, a quoted SQL name) gets a
    dot there and a hash of its own. Raises ValueError for a missing part."""
    parts = (org_namespace, project_id, repo_id, symbol_type, symbol, section_key, str(part_index))
    made = [_without_double_colon(part.strip()) for part in parts]
    if not all(made):
        raise ValueError(f"semantic id with an empty part: {':'.join(made).lower()!r}")
    return ":".join(made).lower()


def _without_double_colon(part: str) -> str:
    if "::" not in part and not part.startswith(":") and not part.endswith(":"):
        return part
    return f"{_COLONS.sub('.', part).strip(':')}~{hashlib.sha256(part.encode()).hexdigest()[:8]}"


def disambiguated_symbol(symbol: str, path: str, ordinal_in_file: int = 0) -> str:
    """The symbol of one source part of an FQN that has several (R1): `~` + 8 hex of sha256(path)."""
    origin = path if ordinal_in_file == 0 else f"{path}#{ordinal_in_file}"
    return f"{symbol}~{hashlib.sha256(origin.encode()).hexdigest()[:8]}"


def plain_symbol(symbol: str) -> str:
    """A symbol without its suffixes (`disambiguated_symbol`, equal names in one type): the name that people know."""
    return _SUFFIXES.sub("", symbol)


def declared_names(symbol: str, names: Sequence[str] = (), *, in_file: bool = False) -> tuple[str, ...]:
    """The simple names of a symbol and of its declarations, in lower case, each once: the names people search for.

    `Shop.Repo`1~1f2e3d4c` → `repo`, `Nested.Save(int)` → `save`, `src/a.yml` → `a.yml`; a heading stays whole. With
    `in_file`, of what a file of a language with folders for namespaces declares, `src/walk.Batch` → `batch`.
    """
    own = plain_symbol(symbol)
    own = _FOLDERS.sub("", own) if in_file else own
    return tuple(dict.fromkeys(filter(None, map(_simple_name, (own, *names)))))


_FOLDERS = re.compile(r"^[^()]*/(?=\w)")  # a route is no folder: `Program.MapGet(/api/orders)`


def _simple_name(name: str) -> str:
    bare = _DECORATION.split(name, maxsplit=1)[0].strip().lower()
    if len(bare.split(maxsplit=1)) > 1:
        return bare
    return bare.rpartition("/" if "/" in bare else ".")[2]


_HOSTS = {
    "github": "GitHub",
    "gitlab": "GitLab",
    "bitbucket": "Bitbucket",
    "azure": "AzureDevOps",
    "visualstudio": "AzureDevOps",
    "codeberg": "Codeberg",
    "gitea": "Gitea",
}
_HOST = re.compile(r"(?:[a-z+]+://)?(?:[^@/]*@)?([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)(?::\d+)?[:/]")


@lru_cache(maxsize=256)
def source_system(remote: str) -> str:
    """`GitHub`, `AzureDevOps` … for the URL of a remote (B12), its host where that says no more; '' for what is no URL:
    a path or the name of a repository."""
    found = _HOST.match(remote)
    if found is None or not ("://" in remote or "@" in remote):
        return ""
    labels = found[1].lower().split(".")
    return next((_HOSTS[label] for label in labels if label in _HOSTS), found[1].lower())


def point_id(org_id: str, project_id: str, repo_id: str, index_label: str, semantic_id: str) -> str:
    """UUIDv5 over ``OrgId|ProjectId|RepoId|index label|SemanticId`` (R2): re-indexing keeps every id."""
    return str(uuid.uuid5(POINT_NAMESPACE, f"{org_id}|{project_id}|{repo_id}|{index_label}|{semantic_id}"))


def normalized_content(text: str) -> str:
    """A text without blanks at the ends of its lines, without blank lines around it, and with LF: what `ContentHash`
    and `ContentLenChars` are of, so that equal texts of two files are equal (F11)."""
    lines = [line.rstrip() for line in text.splitlines()]
    return "\n".join(lines).strip("\n")


def content_hash(text: str) -> str:
    """sha256 hex of the UTF-8 text: the form of `ContentHash` and of every content address in the project."""
    return hashlib.sha256(text.encode()).hexdigest()


def cache_key(*parts: str) -> bytes:
    """32 bytes over the parts; lengths are part of it, so that ("ab","c") and ("a","bc") differ."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()


SCHEME = "rag://"
_SAFE_IN_PATH = "/()[]+,=@!$"  # readable in terminals and logs; `#` and `?` must stay quoted


@dataclass(frozen=True, slots=True)
class BlobUri:
    """A parsed URI. `suffix` is empty for the full document, else `{kind}.{symbol}.{section}.{part}`."""

    label: str
    path: str
    suffix: str = ""


def document_uri(label: str, path: str) -> str:
    """FullDocumentBlobUri: case is kept (R3)."""
    return f"{SCHEME}{quote(label, safe='@')}/{quote(path, safe=_SAFE_IN_PATH)}"


def slice_uri(document: str, symbol: str, section_key: str, part_index: int) -> str:
    """SourceSliceBlobUri of one section."""
    return _derived(document, "slice", symbol, section_key, part_index)


def description_uri(document: str, symbol: str, section_key: str, part_index: int) -> str:
    """DescriptionBlobUri of one section."""
    return _derived(document, "description", symbol, section_key, part_index)


def _derived(document: str, kind: str, symbol: str, section_key: str, part_index: int) -> str:
    suffix = f"{kind}.{symbol}.{section_key}.{part_index}".lower().replace(" ", "_")
    return f"{document}#{quote(suffix, safe=_SAFE_IN_PATH + '`~')}"


def parse_uri(uri: str) -> BlobUri:
    """The parts of a URI that this module made. Raises ValueError for any other text."""
    if not uri.startswith(SCHEME):
        raise ValueError(f"not a {SCHEME} URI: {uri!r}")
    location, _, suffix = uri.removeprefix(SCHEME).partition("#")
    label, slash, path = location.partition("/")
    if not (label and slash and path):
        raise ValueError(f"not a {SCHEME} URI: {uri!r}")
    return BlobUri(unquote(label), unquote(path), unquote(suffix))
