"""`rag-assets doctor`: what can be wrong with an installation, each with the command that repairs it."""

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
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from rag_assets.cli.config import examine
from rag_assets.cli.console import FAILURE, Style, counted, describe_os_error, size
from rag_assets.cli.options import AsJson, CliSession, require_writable, session_of
from rag_assets.contracts.retrieval import RerankError
from rag_assets.errors import GitNotFound, RagAssetsError
from rag_assets.history.conversations import check_conversations
from rag_assets.index.catalog import open_catalog
from rag_assets.index.catalog.errors import CatalogEmpty, CatalogError
from rag_assets.index.generation_files import damaged_files, is_whole_record
from rag_assets.index.generations import (
    GenerationError,
    active_generation,
    finished_generations,
    generation_directory,
    has_pointer,
    read_generation,
    read_pointer,
)
from rag_assets.index.layout import IndexHome
from rag_assets.index.vectors import server_version
from rag_assets.index.vectors.vector_api import VectorStoreError
from rag_assets.models import open_embedder
from rag_assets.models.minilm.embedder import minilm_model_id
from rag_assets.models.minilm.weights import Precision, locate_model
from rag_assets.models.model_files import ModelError, ModelMissing
from rag_assets.settings.config_file import ConfigError
from rag_assets.sources.git import run_git

if TYPE_CHECKING:
    from rag_assets.settings import EmbedderSettings, RerankerSettings, Settings, StoreSettings

_STYLES: dict[str, Style] = {"ok": "good", "warn": "warn", "fail": "bad"}
Verdict = Literal["ok", "warn", "fail"]
OLDEST_PYTHON = (3, 11)
OLDEST_GIT = (2, 31)  # reads settings from GIT_CONFIG_COUNT, which is how it is kept from running foreign code
_LOW_SPACE = 1_000_000_000  # an index of a large repository and its caches
_NO_SPACE = 100_000_000
GOLDEN_TEXT = "Parses a JSON document into objects"
# fmt: off
GOLDEN_START = {
    "minilm": (
        -0.0323, 0.1086, 0.0307, 0.0187, -0.0362, -0.0616, -0.0494, 0.0433,
        0.0320, -0.0502, -0.0166, 0.0408, -0.0596, 0.0615, 0.0826, 0.0268,
    ),
    "static-code": (
        0.0965, -0.2655, -0.1111, -0.1068, 0.1904, -0.0182, -0.0453, -0.1011,
        0.1429, 0.0417, -0.0402, 0.0125, -0.0118, 0.0683, 0.0259, -0.0347,
    ),
}
# fmt: on
"""The first values of the vector of GOLDEN_TEXT, of MiniLM in fp32. On average int8 is .002 off, the vector of another
text .08."""

_GOLDEN_TOLERANCE = 0.02


def doctor(context: typer.Context, as_json: AsJson = False) -> None:
    """Check the installation, the model, the configuration and every index. Exit code 1 when something fails.

    Example: rag-assets doctor
    """
    session = session_of(context)
    findings = []
    for finding in examine_all(session):
        findings.append(finding)
        if not as_json:
            session.output.line(
                (f"{finding.verdict:<5}", _STYLES[finding.verdict]), (f"{finding.name:<14} ", "bold"), finding.detail
            )
            if finding.repair:
                session.output.line(f"     {finding.repair}")
    failed = any(finding.verdict == "fail" for finding in findings)
    if as_json:
        session.output.json({"healthy": not failed, "checks": [finding.as_object() for finding in findings]})
    if failed:
        raise typer.Exit(FAILURE)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    name: str
    verdict: Verdict
    detail: str
    repair: str = ""

    def as_object(self) -> dict[str, Any]:
        return asdict(self)


def examine_all(session: CliSession) -> Iterator[Diagnosis]:
    """All checks in order of dependence, so that the first failure is the one to repair first."""
    yield python_version()
    yield git_version()
    yield dagster_versions()
    yield terminal_encoding()
    yield configuration(session)
    settings = _settings(session)
    if settings is not None:
        yield from extras(settings)
    try:
        home = session.home()
    except ConfigError as error:
        yield Diagnosis("home", "fail", str(error), "repair the configuration first")
        return
    yield home_directory(home)
    yield embedding_model(session, home)
    if settings is not None:
        yield from reranking_model(settings.search.reranker)
        yield from vector_server(settings.stores)
        yield from catalog(settings)
        yield from remote_store(settings.stores.remote)
    yield from caches(home)
    yield from conversations(home)
    yield from indexes(home)


def python_version() -> Diagnosis:
    found = platform.python_version()
    if sys.version_info < OLDEST_PYTHON:
        return Diagnosis("python", "fail", found, "install Python 3.11 or newer")
    return Diagnosis("python", "ok", f"{found} on {platform.system()} {platform.machine()}")


def git_version() -> Diagnosis:
    try:
        said = run_git("version", timeout=10).decode("utf-8", "replace").strip()
    except GitNotFound:
        return Diagnosis("git", "warn", "not found: only archives and plain directories can be indexed", "install git")
    numbers = tuple(int(part) for part in said.removeprefix("git version ").split(".")[:2] if part.isdigit())
    if numbers < OLDEST_GIT:
        return Diagnosis("git", "fail", said, f"install git {'.'.join(map(str, OLDEST_GIT))} or newer")
    return Diagnosis("git", "ok", said)


def dagster_versions() -> Diagnosis:
    """dagster and its satellites are released together and work only together."""
    found = {name: _version(name) for name in ("dagster", "dagster-webserver", "dagster-graphql")}
    said = ", ".join(f"{name} {number or 'missing'}" for name, number in found.items())
    if found["dagster"] is None:
        return Diagnosis("dagster", "fail", said, "pip install --force-reinstall rag-assets")
    if len(set(found.values())) > 1:
        return Diagnosis("dagster", "fail", said, f"pip install dagster-webserver=={found['dagster']}")
    return Diagnosis("dagster", "ok", said)


def terminal_encoding() -> Diagnosis:
    encoding = (getattr(sys.stdout, "encoding", None) or locale.getpreferredencoding(False)).lower()
    if encoding.replace("-", "").startswith("utf"):
        return Diagnosis("terminal", "ok", encoding)
    return Diagnosis("terminal", "warn", f"{encoding}: some characters will show as ?", "set PYTHONUTF8=1")


def configuration(session: CliSession) -> Diagnosis:
    found = examine(session)
    if found["problems"]:
        return Diagnosis("configuration", "fail", "; ".join(found["problems"]), "rag-assets config check")
    where = found["file"] or "no file, defaults apply"
    return Diagnosis(
        "configuration", "ok", f"{where}; {counted(len(found['repositories']), 'repository', 'repositories')}"
    )


def _settings(session: CliSession) -> Settings | None:
    """None where `configuration` has reported that they cannot be read."""
    try:
        return session.settings()
    except ConfigError:
        return None


def extras(settings: Settings) -> Iterator[Diagnosis]:
    """Optional packages that settings need and that are not installed; those of the model say so themselves."""
    stores, execution = settings.stores, settings.execution
    tokenizers = {settings.embedder.tokenizer, settings.answer.tokenizer}
    needed = (
        ("stores.vectors faiss", "faiss", "faiss", stores.vectors == "faiss"),
        ("stores.remote", "s3fs", "s3", stores.remote.startswith("s3:")),
        ("execution.workers dask", "distributed", "dask", execution.workers == "dask"),
        ("tokenizer", "bpe_openai", "tokenizers-openai", tokenizers != {"estimate"}),
        *(
            (f"execution.executor {name}", f"dagster_{name}", name, execution.executor == name)
            for name in ("docker", "celery", "k8s")
        ),
    )
    for setting, module, extra, wanted in needed:
        if wanted and find_spec(module) is None:
            yield Diagnosis("extras", "fail", f"{setting} needs {module}", f"pip install 'rag-assets[{extra}]'")


def home_directory(home: IndexHome) -> Diagnosis:
    """Checks that the home is writable and has space. Does not create a home that does not exist."""
    there = home.root.exists()
    try:
        if there:
            require_writable(home)
    except OSError as error:
        if not home.known_labels():
            return Diagnosis("home", "fail", describe_os_error(error), "choose another place with --home")
        detail = f"{home.root} cannot be written: its indexes can be searched, and nothing can be indexed or kept"
        return Diagnosis("home", "warn", detail, "to index, choose another place with --home")
    try:
        free = shutil.disk_usage(next(at for at in (home.root, *home.root.parents) if at.exists())).free
    except OSError as error:
        return Diagnosis("home", "fail", describe_os_error(error), "choose another place with --home")
    detail = f"{home.root}{'' if there else ' (made by the first index)'}, {size(free)} free"
    if free < _NO_SPACE:
        return Diagnosis("home", "fail", detail, "free some space, or choose another place with --home")
    return Diagnosis("home", "warn" if free < _LOW_SPACE else "ok", detail)


def embedding_model(session: CliSession, home: IndexHome) -> Diagnosis:
    """Checks that the model is installed, intact, and reproduces a known vector."""
    try:
        settings = session.settings().embedder
    except ConfigError as error:
        return Diagnosis("model", "fail", str(error).splitlines()[0], "repair the configuration first")
    if settings.provider == "lexical-only":
        return Diagnosis("model", "warn", "none configured (lexical-only): keyword search alone")
    if settings.provider == "openai-compatible":
        return _embedding_server(settings)
    try:
        with _cache(home) as cache:
            embedder = open_embedder(settings, cache)
            golden = () if settings.table is not None else GOLDEN_START[settings.provider]
            start = embedder.embed([GOLDEN_TEXT])[0][: len(golden)]
    except ModelError as error:
        return Diagnosis("model", "fail", *_said(error))
    except (ImportError, RuntimeError, OSError) as error:
        packages = "onnxruntime tokenizers" if settings.provider == "minilm" else "numpy"
        repair = f"pip install --force-reinstall {packages}"
        return Diagnosis("model", "fail", f"{settings.provider} does not run: {error}", repair)
    about = f"{embedder.model_id}, {embedder.dimension} dimensions"
    if not golden:
        return Diagnosis("model", "ok", f"{about}, from {settings.table}")
    off = sum(abs(float(value) - wanted) for value, wanted in zip(start, golden, strict=True)) / len(golden)
    if not off < _GOLDEN_TOLERANCE:  # also where it is not a number
        detail = f"{embedder.model_id} does not reproduce the golden vector ({off:.3f} off)"
        return Diagnosis("model", "fail", detail, "rag-assets reset --cache --yes, then rag-assets doctor")
    return Diagnosis("model", "ok", f"{about}, golden vector reproduced")


def _said(error: ModelError) -> tuple[str, str]:
    """What is wrong with a model, and the commands that repair it."""
    first, *rest = str(error).splitlines()
    commands = [line.strip() for line in rest if line.startswith(("  pip ", "  rag-assets "))]
    return first.removesuffix(" Run:"), " && ".join(commands)


def _embedding_server(settings: EmbedderSettings) -> Diagnosis:
    """Checks that the server answers with a vector."""
    from rag_assets.models.openai_compat.embeddings import EndpointEmbedder  # start-up budget: loaded when it runs

    try:
        embedder = EndpointEmbedder.open(settings)
        dimension = len(embedder.embed_question("word")) if settings.dimension else embedder.dimension
    except RagAssetsError as error:
        return Diagnosis("model", "fail", str(error), "check the embedder settings and the server")
    return Diagnosis("model", "ok", f"{embedder.model_id}, {dimension} dimensions, {settings.base_url} answers")


def reranking_model(settings: RerankerSettings) -> Iterator[Diagnosis]:
    """Checks that the server answers with a score. Yields nothing without a configured one."""
    from rag_assets.models.openai_compat.reranker import HttpReranker  # start-up budget: loaded when it runs

    try:
        reranker = HttpReranker.of(settings)
        if reranker is None:
            return
        reranker.rerank(GOLDEN_TEXT, [GOLDEN_TEXT])
    except (RerankError, ConfigError) as error:
        yield Diagnosis(
            "reranker", "fail", str(error), "check search.reranker and the server; until then nothing is reranked"
        )
        return
    yield Diagnosis("reranker", "ok", f"{settings.model or settings.provider}, {settings.base_url} answers")


def vector_server(settings: StoreSettings) -> Iterator[Diagnosis]:
    """Checks that the Qdrant server answers and is new enough. Yields nothing without a configured one."""
    if settings.vectors != "qdrant":
        return
    try:
        version = server_version(settings)
        yield Diagnosis("qdrant", "ok", f"version {version}, {settings.qdrant_url} answers")
    except (VectorStoreError, ConfigError) as error:
        yield Diagnosis("qdrant", "fail", str(error), "check stores.qdrant_url, QDRANT_API_KEY and the server")


def remote_store(where: str) -> Iterator[Diagnosis]:
    """Checks that the remote store can be listed. Yields nothing without a configured one."""
    if not where:
        return
    # Start-up budget: loaded when it runs, not for --help and completion.
    from rag_assets.index.remote.manifests import published_labels
    from rag_assets.index.remote.objects import RemoteError, open_remote

    try:
        labels = published_labels(open_remote(where))
    except RemoteError as error:
        yield Diagnosis("remote", "fail", str(error), "check stores.remote and its credentials")
    else:
        yield Diagnosis("remote", "ok", f"{where}: {counted(len(labels), 'label')} published")


def catalog(settings: Settings) -> Iterator[Diagnosis]:
    """Checks that the catalog is reachable and writable. Yields nothing without a configured one; creates no tables."""
    if settings.stores.catalog == "none":
        return
    from rag_assets.index.catalog.reader import entries  # start-up budget: loaded when it runs

    try:
        with open_catalog(settings) as database:
            known = entries(database)
            database.require_rights()
            database.check()
    except CatalogEmpty as empty:
        yield Diagnosis("catalog", "ok", str(empty))
        return
    except CatalogError as error:
        said, _, repair = str(error).partition("; ")
        yield Diagnosis("catalog", "fail", said, repair)
        return
    where = f"{database.location.kind} {database.location.name}"
    labels = {(entry.org_id, entry.project_id, entry.index_label) for entry in known}
    yield Diagnosis("catalog", "ok", f"{where}: {counted(len(known), 'generation')} of {counted(len(labels), 'label')}")


@contextmanager
def _cache(home: IndexHome) -> Iterator[Path]:
    """The folder for prepared weights: that of the home if it exists, else a temporary one."""
    if home.root.exists():
        yield home.cache
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # Windows keeps mapped files open
        yield Path(folder)


def caches(home: IndexHome) -> Iterator[Diagnosis]:
    """Checks what builds keep to be faster. A damaged entry is never used, so this fails nothing."""
    from rag_assets.index.cache import damaged_caches  # start-up budget: loaded when it runs

    try:
        problems = list(damaged_caches(home.cache))
    except RagAssetsError as error:
        yield Diagnosis("cache", "fail", str(error), "rag-assets reset --cache")
        return
    if problems:
        detail = f"{'; '.join(problems)}: computed again when they are needed"
        yield Diagnosis("cache", "warn", detail, "rag-assets reset --cache removes all of it")


def conversations(home: IndexHome) -> Iterator[Diagnosis]:
    """Checks what people asked and were told, where it is in a file."""
    try:
        check_conversations(home)
    except RagAssetsError as error:
        said, _, repair = str(error).partition("; ")
        yield Diagnosis("conversations", "fail", said, repair)


_REPAIRS = {"label.json": "rag-assets index PATH_OR_URL"}
"""What writes a damaged file of a label again; of other notes deleting them costs nothing."""


def indexes(home: IndexHome) -> Iterator[Diagnosis]:
    """Checks that every file of every label is what was written, and that its store can be opened."""
    for label in home.known_labels():
        folder = home.label(label)
        for path in (*sorted(folder.glob("*.json")), *sorted(folder.glob("generations/*.json"))):
            if path.name != "active.json" and not is_whole_record(path):
                repair = _REPAIRS.get(path.name, f"delete {path}")
                yield Diagnosis(label, "fail", f"{path} is damaged", repair)
        if not has_pointer(home, label):
            continue
        try:
            pointer = read_pointer(home, label)
            yield _index(home, label)
        except (RagAssetsError, OSError) as error:
            yield Diagnosis(label, "fail", str(error), f"rag-assets index {label}")
            continue
        for known in finished_generations(home, label):
            if pointer is not None and known != pointer.generation_id:
                yield from _former(home, label, known)


def _index(home: IndexHome, label: str) -> Diagnosis:
    # Start-up budget: loaded when it runs, not for --help and completion.
    from rag_assets.index.integrity import unservable

    generation = active_generation(home, label)
    problems = unservable(home, generation)
    if problems:
        return Diagnosis(label, "fail", "; ".join(problems), f"rag-assets index {label}")
    runs = list(damaged_files(generation.directory))
    if runs:
        return Diagnosis(label, "fail", "; ".join(runs), f"rag-assets eval run {label}")
    modes = ", ".join(generation.retrieval_modes)
    points = counted(generation.manifest.counts["points"], "point")
    about = f"{points}, generation {generation.manifest.generation_id}"
    missing = _missing_minilm(generation.manifest.embedding_model)
    if missing is not None:
        said, commands = _said(missing)
        repair = f"{commands}; or, with the model of the package: rag-assets index {label}"
        return Diagnosis(
            label, "warn", f"{about}; its vectors are of MiniLM, so it is searched by keywords: {said}", repair
        )
    return Diagnosis(label, "ok", f"{about}; modes: {modes}")


def _missing_minilm(model_id: str) -> ModelError | None:
    """Why an index of that model cannot be searched by meaning, where the model is MiniLM: an extra."""
    if model_id in map(minilm_model_id, Precision):
        try:
            locate_model()
        except ModelMissing as error:
            return error
    return None


def _former(home: IndexHome, label: str, generation_id: str) -> Iterator[Diagnosis]:
    """A generation that is kept for a rollback."""
    from rag_assets.index.integrity import damage  # start-up budget: loaded when it runs

    try:
        generation = read_generation(home, label, generation_id)
        problems = damage(home, generation)
    except GenerationError as error:
        problems = [str(error)]
    if problems:
        yield Diagnosis(
            label,
            "warn",
            f"generation {generation_id}, which is not served, is damaged: {'; '.join(problems)}",
            f"delete {generation_directory(home, label, generation_id)}",
        )


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
