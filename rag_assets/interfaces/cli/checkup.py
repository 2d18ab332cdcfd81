"""The single checks of `doctor`. Each says ok, warn or fail, what it saw, and what repairs it."""

from __future__ import annotations

import locale
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rag_assets.config_file import ConfigError
from rag_assets.contracts.errors import ExpectedError
from rag_assets.contracts.retrieval import RerankError
from rag_assets.interfaces.cli.config import examine
from rag_assets.interfaces.cli.failures import describe_os_error
from rag_assets.interfaces.cli.indexing import require_writable
from rag_assets.interfaces.cli.labels import served_labels
from rag_assets.interfaces.cli.output import counted, size
from rag_assets.interfaces.cli.session import Session
from rag_assets.stores.generations import GenerationError, active_generation, read_pointer
from rag_assets.stores.home import Home
from rag_assets.stores.points import StoreNotWritable

if TYPE_CHECKING:
    from rag_assets.settings import EmbedderSettings

Verdict = Literal["ok", "warn", "fail"]

OLDEST_PYTHON = (3, 11)
OLDEST_GIT = (2, 31)  # reads settings from GIT_CONFIG_COUNT, which is how it is kept from running foreign code
_LOW_SPACE = 1_000_000_000  # an index of a large repository and its caches
_NO_SPACE = 100_000_000

GOLDEN_TEXT = "Parses a JSON document into objects"
# fmt: off
GOLDEN_START = (
    -0.0323, 0.1086, 0.0307, 0.0187, -0.0362, -0.0616, -0.0494, 0.0433,
    0.0320, -0.0502, -0.0166, 0.0408, -0.0596, 0.0615, 0.0826, 0.0268,
)
# fmt: on
"""The first values of the fp32 vector of GOLDEN_TEXT. On average int8 is .002 off, the vector of another text .08."""
_GOLDEN_TOLERANCE = 0.02


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    verdict: Verdict
    detail: str
    repair: str = ""

    def as_object(self) -> dict[str, Any]:
        return asdict(self)


def examine_all(session: Session) -> Iterator[Finding]:
    """All checks in order of dependence, so that the first failure is the one to mend first."""
    yield python_version()
    yield git_version()
    yield dagster_versions()
    yield terminal_encoding()
    yield configuration(session)
    try:
        home = session.home()
    except ConfigError as error:
        yield Finding("home", "fail", str(error), "mend the configuration first")
        return
    yield home_directory(home)
    yield embedding_model(session, home)
    yield from reranking_model(session)
    yield from catalog(session)
    yield from indexes(home)


def python_version() -> Finding:
    found = platform.python_version()
    if sys.version_info < OLDEST_PYTHON:
        return Finding("python", "fail", found, "install Python 3.11 or newer")
    return Finding("python", "ok", f"{found} on {platform.system()} {platform.machine()}")


def git_version() -> Finding:
    from rag_assets.sources.errors import GitNotFound
    from rag_assets.sources.git import run_git

    try:
        said = run_git("version", timeout=10).decode("utf-8", "replace").strip()
    except GitNotFound:
        return Finding("git", "warn", "not found: only archives and plain directories can be indexed", "install git")
    numbers = tuple(int(part) for part in said.removeprefix("git version ").split(".")[:2] if part.isdigit())
    if numbers < OLDEST_GIT:
        return Finding("git", "fail", said, f"install git {'.'.join(map(str, OLDEST_GIT))} or newer")
    return Finding("git", "ok", said)


def dagster_versions() -> Finding:
    """dagster and its satellites are released together and work only together."""
    found = {name: _version(name) for name in ("dagster", "dagster-webserver", "dagster-graphql")}
    said = ", ".join(f"{name} {number or 'missing'}" for name, number in found.items())
    if found["dagster"] is None:
        return Finding("dagster", "fail", said, "pip install --force-reinstall rag-assets")
    if len(set(found.values())) > 1:
        return Finding("dagster", "fail", said, f"pip install dagster-webserver=={found['dagster']}")
    return Finding("dagster", "ok", said)


def terminal_encoding() -> Finding:
    encoding = (getattr(sys.stdout, "encoding", None) or locale.getpreferredencoding(False)).lower()
    if encoding.replace("-", "").startswith("utf"):
        return Finding("terminal", "ok", encoding)
    return Finding("terminal", "warn", f"{encoding}: some characters will show as ?", "set PYTHONUTF8=1")


def configuration(session: Session) -> Finding:
    found = examine(session)
    if found["problems"]:
        return Finding("configuration", "fail", "; ".join(found["problems"]), "rag-assets config check")
    where = found["file"] or "no file, defaults apply"
    return Finding(
        "configuration", "ok", f"{where}; {counted(len(found['repositories']), 'repository', 'repositories')}"
    )


def home_directory(home: Home) -> Finding:
    """Writable, with room. One that is not there yet is not made for the question."""
    there = home.root.exists()
    try:
        if there:
            require_writable(home)
        free = shutil.disk_usage(next(at for at in (home.root, *home.root.parents) if at.exists())).free
    except OSError as error:
        return Finding("home", "fail", describe_os_error(error), "choose another place with --home")
    detail = f"{home.root}{'' if there else ' (made by the first index)'}, {size(free)} free"
    if free < _NO_SPACE:
        return Finding("home", "fail", detail, "free some space, or choose another place with --home")
    return Finding("home", "warn" if free < _LOW_SPACE else "ok", detail)


def embedding_model(session: Session, home: Home) -> Finding:
    """Present, whole, and giving the vector it must give."""
    from rag_assets.models import ModelError, open_embedder

    try:
        settings = session.settings().embedder
    except ConfigError as error:
        return Finding("model", "fail", str(error).splitlines()[0], "mend the configuration first")
    if settings.provider == "lexical-only":
        return Finding("model", "warn", "none configured (lexical-only): keyword search alone")
    if settings.provider == "openai-compatible":
        return _embedding_server(settings)
    try:
        with _cache(home) as cache:
            embedder = open_embedder(settings, cache)
            start = embedder.embed([GOLDEN_TEXT])[0][: len(GOLDEN_START)]
    except ModelError as error:
        first, _, rest = str(error).partition("\n")
        return Finding("model", "fail", first, " ".join(rest.split()))
    except (ImportError, RuntimeError, OSError) as error:
        repair = "pip install --force-reinstall onnxruntime tokenizers"
        return Finding("model", "fail", f"onnxruntime does not run: {error}", repair)
    off = sum(abs(float(value) - wanted) for value, wanted in zip(start, GOLDEN_START, strict=True)) / len(GOLDEN_START)
    if not off < _GOLDEN_TOLERANCE:  # also where it is not a number
        detail = f"{embedder.model_id} gives another vector than it must ({off:.3f} off)"
        return Finding("model", "fail", detail, "rag-assets reset --cache --yes, then rag-assets doctor")
    return Finding("model", "ok", f"{embedder.model_id}, {embedder.dimension} dimensions, golden vector reproduced")


def _embedding_server(settings: EmbedderSettings) -> Finding:
    """Answers, and with a vector."""
    from rag_assets.models.endpoint import EndpointEmbedder

    try:
        embedder = EndpointEmbedder.open(settings)
        dimension = len(embedder.embed_question("word")) if settings.dimension else embedder.dimension
    except ExpectedError as error:
        return Finding("model", "fail", str(error), "mend the embedder settings or its server")
    return Finding("model", "ok", f"{embedder.model_id}, {dimension} dimensions, {settings.base_url} answers")


def reranking_model(session: Session) -> Iterator[Finding]:
    """Answers, and with a score; nothing where none is configured."""
    from rag_assets.models.reranker import HttpReranker

    try:
        settings = session.settings().search.reranker
        reranker = HttpReranker.of(settings)
        if reranker is None:
            return
        reranker.rerank(GOLDEN_TEXT, [GOLDEN_TEXT])
    except RerankError as error:
        yield Finding(
            "reranker", "fail", str(error), "mend search.reranker or its server; until then nothing is reranked"
        )
        return
    except ConfigError:
        return  # said already
    yield Finding("reranker", "ok", f"{settings.model or settings.provider}, {settings.base_url} answers")


def catalog(session: Session) -> Iterator[Finding]:
    """Reachable, and open to writing; nothing where none is configured. Makes no tables for the question."""
    from rag_assets.stores.catalog import CatalogEmpty, CatalogError, open_catalog

    try:
        settings = session.settings()
        if settings.stores.catalog == "none":
            return
        from rag_assets.stores.catalog.reading import entries

        with open_catalog(settings) as database:
            known = entries(database)
            database.require_rights()
    except ConfigError:
        return  # said already
    except CatalogEmpty as empty:
        yield Finding("catalog", "ok", str(empty))
        return
    except CatalogError as error:
        said, _, repair = str(error).partition("; ")
        yield Finding("catalog", "fail", said, repair)
        return
    where = f"{database.place.kind} {database.place.name}"
    labels = {(entry.org_id, entry.project_id, entry.index_label) for entry in known}
    yield Finding("catalog", "ok", f"{where}: {counted(len(known), 'generation')} of {counted(len(labels), 'label')}")


@contextmanager
def _cache(home: Home) -> Iterator[Path]:
    """Where prepared weights are kept: with the index, where there is one."""
    if home.root.exists():
        yield home.cache
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # Windows keeps mapped files open
        yield Path(folder)


def indexes(home: Home) -> Iterator[Finding]:
    """Every label with an index: readable, and holding what its manifest says."""
    for label in served_labels(home):
        try:
            read_pointer(home, label)
        except GenerationError as error:
            yield Finding(label, "fail", str(error), f"rag-assets index {label}")
            continue
        try:
            yield _index(home, label)
        except StoreNotWritable as error:
            yield Finding(label, "fail", str(error), "choose another place with --home")
        except Exception as error:
            if not isinstance(error, (ExpectedError, OSError)):
                raise
            yield Finding(label, "fail", str(error), f"rag-assets index {label} --force")


def _index(home: Home, label: str) -> Finding:
    from rag_assets.stages.standing import unreadable_records
    from rag_assets.stores.integrity import missing_parts
    from rag_assets.stores.vector_store import open_vectors

    generation = active_generation(home, label)
    reader = open_vectors(generation.vectors)
    try:
        stored, declared = reader.count(), generation.manifest.counts["points"]
    finally:
        reader.close()
    lost = [*missing_parts(home, generation), *unreadable_records(generation)]
    if lost:
        return Finding(label, "fail", f"gone: {', '.join(lost)}", f"rag-assets index {label}")
    if stored != declared:
        detail = f"the store holds {stored} of {declared} points"
        return Finding(label, "fail", detail, f"rag-assets index {label} --force")
    modes = ", ".join(generation.retrieval_modes)
    return Finding(
        label, "ok", f"{counted(stored, 'point')}, generation {generation.manifest.generation_id}; modes: {modes}"
    )


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
