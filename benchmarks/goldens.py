"""Freeze what the package produces, so that a redesign can prove that it changed nothing.

    python benchmarks/goldens.py freeze OUT.json [--repository NAME=PATH[@REV] ...] [--root NAME=FOLDER ...]
        [--questions NAME=FILE ...] [--python PATH_TO_PYTHON] [--quick]
    python benchmarks/goldens.py compare A.json B.json [--without SECTION ...] [--show N]

`examples/shop` of this checkout is always frozen. A whole reference adds public repositories at fixed revisions:

    git clone https://github.com/spf13/cobra; git clone https://github.com/DapperLib/Dapper
    git clone https://github.com/serilog/serilog
    python benchmarks/goldens.py freeze before.json \
        --repository cobra=cobra@61968e893eee2f27696c2fbc8e34fa5c4afaf7c4 --questions cobra=cobra.json \
        --repository dapper=Dapper@288730e69b05c32cac898d9b55ebea219ea8a2d1 --root dapper=Dapper \
        --repository serilog=serilog
    python benchmarks/goldens.py freeze after.json ... --python ../new-tree/.venv/bin/python
    python benchmarks/goldens.py compare before.json after.json

The package is driven through its command line alone, in subprocesses (`PYTHON -m rag_assets`, run outside of the
tree), and what it stores is read with pyarrow, json, qdrant_edge and as bytes. Nothing of `rag_assets` is imported, so
the same script measures a tree whose modules have other names. `--root` indexes one folder of a repository. The
`HYBRID_REPOSITORIES` smallest repositories are indexed with the embedding model, as the shop is; the others with
`embedder.provider: lexical-only`.

The sections of a file are `help`, `commands` (options of every command), `repositories` (per repository: `builds`,
`outputs`, `errors`, `texts`), `rankings`, `startup` and `uncovered`. Only the shop has all probes. `compare` exits with
1 where anything differs. `--without` leaves out a section by name at any depth: `--without help --without errors
--without texts` ignores edited prose.

What is masked, and why, stands beside `VOLATILE_KEYS`, `UNSTABLE_FILES` and `PATTERNS`: nothing else is.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

SHOP = Path(__file__).resolve().parent.parent / "examples" / "shop"
HYBRID_REPOSITORIES = 2  # beside the shop; embedding takes most of the time of a build
COMMAND_SECONDS = 900
PROCESSES = 2  # reading commands at a time
COLD_SEARCHES = 5
HEAVY_LIBRARIES = ("pandas", "openai", "sqlalchemy", "dagster", "numpy", "onnxruntime", "pyarrow")
SCORE_TOLERANCE = 1e-5
"""The engine adds up the weights of a score in an order of its own, so that the last bits of a float32 differ."""

VOLATILE_KEYS = {
    "run_id": "a new one per Dagster run",
    "run_ids": "likewise",
    "seconds": "time",
    "seconds_by_stage": "time",
    "milliseconds": "time",
    "timings": "time",
    "identity": "a random id of the database of the catalog",
    "sent_bytes": "the published manifest names the run and is compressed",
    "fetched_bytes": "likewise",
    "bytes": "the files of the vector engine differ in size",
    "documents_bytes": "disk usage",
    "bytes_freed": "disk usage",
    "user_name": "of the system",
    "partition.json": "inode and time of the folder of Dagster",
    "p50": "time",
    "p95": "time",
}
VOLATILE_KEY = re.compile(r".*_(seconds|milliseconds|ms)$|^(seconds|milliseconds)_.*")  # time

VOLATILE_RECORDS = {"checks/store_matches_declaration.json": "subject"}
"""Record of a generation → its key that is a fingerprint of the random file names of the vector engine."""

UNSTABLE_FILES: dict[str, str] = {
    "shard/segments/*": "files of the vector engine have random names; the shard is read as points instead",
}
"""Files of a generation whose bytes differ between two builds of the same code."""

UUID4 = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b")
MOMENT = re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|\+00:00| UTC)?")
PATTERNS = [
    (UUID4, "<run>"),  # Dagster's run ids; ids of points are version 5 and stay
    (re.compile(r"(?<=kept as )[0-9a-f]{16}\b"), "<turn>"),  # of chat
    (re.compile(r"^\d\d:\d\d:\d\d (?=\S+@)", re.MULTILINE), "<clock> "),  # of watch
    (re.compile(r"(?<=\| )\d+\.\d(?= \|)"), "<ms>"),  # latency in eval report; metrics have three digits
    (re.compile(r" *\b\d+(?:\.\d+)? (?:s|ms|seconds)\b"), " <time>"),  # with what aligns it
    (re.compile(r"\b\d+(?:\.\d+)? (?:GB|MB|kB|KB|B|bytes)(?= free|\b)"), "<size>"),
]

AUTHOR = {
    "GIT_AUTHOR_NAME": "golden",
    "GIT_AUTHOR_EMAIL": "golden@example.org",
    "GIT_COMMITTER_NAME": "golden",
    "GIT_COMMITTER_EMAIL": "golden@example.org",
}
FIRST_COMMIT = "2025-01-01T00:00:00Z"
SECOND_COMMIT = "2035-01-01T00:00:00Z"  # later than any commit of a real repository
COMMENTS = {".cs": "//", ".go": "//", ".ts": "//", ".java": "//", ".js": "//", ".py": "#"}
DECLARATION = re.compile(r"^\s*(?:[a-z]+ )*(?:class|interface|struct|record|enum|type) ([A-Z]\w{3,})", re.MULTILINE)
METHOD = re.compile(
    r"^\s*(?:public (?:[a-z]+ )*[\w<>\[\], ?]+ |func (?:\([^)]*\) )?|def )([A-Z]\w{3,})\(", re.MULTILINE
)

ONLY_OF_SHOP = (
    *("agent *", "pipeline *", "config *", "* wrong*", "search no query", "search nothing", "search role"),
    *("search literal", "search not path", "search options", "search split identifier", "search two labels"),
    *(
        "search semantic",
        "search semantic_rerank",
        "search explain",
        "search since",
        "search symbol option",
        "search documents",
        "search phrase",
        "search before",
    ),
    *("show beginning", "show snippet", "show payload", "show nothing", "plan base", "generations list label"),
    *("generations prune", "graph short", "graph around [34]", "graph impact [34]", "graph uses [34]"),
    *(
        "graph around both",
        "graph around methods",
        "explain [45]",
        "show point",
        "generations compare labels",
        "doctor",
        "publish dry",
        "eval run without set",
    ),
)
"""Probes that say little more on another repository: leaving them out there keeps a freeze within minutes."""


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def digest_of(value: Any) -> str:
    return digest(json.dumps(value, sort_keys=True, default=_plain).encode())


def _plain(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else str(value)


# --- running the package ---------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Package:
    """The command line of one tree, and what is volatile in what it says."""

    python: str
    work: Path
    started: datetime = field(default_factory=lambda: datetime.now(UTC) - timedelta(hours=1))
    names: dict[str, str] = field(default_factory=dict)
    """Volatile string → what stands for it."""
    probed: set[str] = field(default_factory=set)
    """Commands that were run, such as `graph path`."""

    def __post_init__(self) -> None:
        where = "import importlib.util as u; print(u.find_spec('rag_assets').submodule_search_locations[0])"
        found = subprocess.run([self.python, "-c", where], capture_output=True, text=True, check=True, cwd=self.work)
        package = re.escape(found.stdout.strip())
        self.shipped = re.compile(rf"{package}(?:/[^\s'\"`:,]*)*/")

    shipped: re.Pattern[str] = field(init=False)
    """Folders of the package, which a redesign moves: the names of their files stay."""

    def run(self, arguments: Sequence[str], cwd: Path, text: str = "") -> subprocess.CompletedProcess[str]:
        self.probed.add(" ".join(command_of(arguments)))
        return subprocess.run(
            [self.python, "-m", "rag_assets", *arguments],
            cwd=cwd,
            env=self.environment(),
            input=text,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
        )

    def environment(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("RAG_ASSETS", "DAGSTER_"))}
        return kept | {"NO_COLOR": "1", "COLUMNS": "120", "TERM": "dumb", "PYTHONHASHSEED": "random", "USER": "golden"}

    def masked(self, value: Any) -> Any:
        """The value without what differs between two runs of the same code. Numbers are rounded to 6 digits."""
        if isinstance(value, dict):
            return {self.masked(key): self.masked_at(key, item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.masked(item) for item in value]
        if isinstance(value, float):
            return round(value, 6)
        return self.masked_text(value) if isinstance(value, str) else value

    def masked_at(self, key: str, value: Any) -> Any:
        if value and (key in VOLATILE_KEYS or VOLATILE_KEY.match(key)):
            return dict.fromkeys(value, f"<{key}>") if isinstance(value, dict) else f"<{key}>"
        return self.masked(value)

    def masked_text(self, text: str) -> str:
        for name in sorted(self.names, key=len, reverse=True):
            text = text.replace(name, self.names[name])
        text = self.shipped.sub("<package>/", text)
        for pattern, mask in PATTERNS:
            text = pattern.sub(mask, text)
        return MOMENT.sub(self._masked_moment, text)

    def _masked_moment(self, found: re.Match[str]) -> str:
        """Dates of commits stay; the time of the freeze goes."""
        written = re.sub(r"\.\d+", "", found[0].replace(" UTC", "").removesuffix("Z"))
        try:
            moment = datetime.fromisoformat(written)
        except ValueError:
            return found[0]
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return "<now>" if self.started < moment < self.started + timedelta(days=2) else found[0]


GROUPS = ("session", "graph", "agent", "pipeline", "eval", "generations", "catalog", "config")


def command_of(arguments: Sequence[str]) -> list[str]:
    """The command without its options and arguments; global options come first and take a value each."""
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        rest = rest[1 if rest[0] in ("--help", "--version", "--debug", "--no-color") else 2 :]
    return rest[:2] if rest[:1] and rest[0] in GROUPS else rest[:1]


# --- repositories ----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Repository:
    """A clone with a branch `base` at the frozen revision, and the words that the probes use. `main` gets a second
    commit later."""

    name: str
    folder: Path
    root: str
    lexical: bool
    files: list[str]
    """Source files under `root`, sorted; tests last."""
    types: list[str]
    methods: list[str]
    size: int

    @property
    def clone(self) -> Path:
        return self.folder / self.name

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def main(self) -> str:
        return f"{self.name}@main"

    @property
    def base(self) -> str:
        return f"{self.name}@base"


def git(folder: Path, *arguments: str, moment: str = FIRST_COMMIT) -> str:
    environment = os.environ | AUTHOR | {"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}
    command = ["git", "-c", "core.autocrlf=false", "-c", "commit.gpgsign=false", "-C", str(folder), *arguments]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace")
    if ran.returncode:
        raise SystemExit(f"git {' '.join(arguments)} in {folder}: {ran.stderr.strip()}")
    return ran.stdout


def cloned(name: str, source: Path, revision: str, root: str, work: Path) -> Repository:
    """A fresh clone without an origin, so that its address is in no output; a folder of a checkout becomes a repository
    of one commit."""
    folder = work / name
    folder.mkdir()
    clone = folder / name
    if (source / ".git").exists() or (source / "HEAD").is_file():
        git(work, "clone", "--quiet", "--no-checkout", str(source.resolve()), str(clone))
        git(clone, "checkout", "--quiet", "-B", "main", revision or "HEAD")
        git(clone, "remote", "remove", "origin")
    else:
        git(work, "init", "--quiet", "--initial-branch=main", str(clone))
        for path in git(source, "ls-files", "-z").split("\0"):
            if path:
                (clone / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source / path, clone / path)
        git(clone, "add", "--all", "--force")
        git(clone, "commit", "--quiet", "--message", "The shop")
    git(clone, "branch", "--force", "base", "main")
    under = f"{root.strip('/')}/" if root else ""
    files = [path for path in git(clone, "ls-files", "-z").split("\0") if path.startswith(under) and path]
    sources = sorted(
        (path for path in files if Path(path).suffix in COMMENTS), key=lambda path: ("test" in path.lower(), path)
    )
    if len(sources) < 2:
        raise SystemExit(f"{name}: fewer than two source files; give another repository or --root")
    types, methods = [], []
    for path in sources:
        text = (clone / path).read_text(encoding="utf-8", errors="replace")
        types += DECLARATION.findall(text)[:1]
        methods += METHOD.findall(text)[:1]
    size = sum((clone / path).stat().st_size for path in files if (clone / path).is_file())
    return Repository(
        name, folder, under, False, sources, spread(types, 4) or ["Main"], spread(methods, 3) or ["Main"], size
    )


def spread(values: Sequence[str], count: int) -> list[str]:
    """So many different values from all over the list."""
    known = list(dict.fromkeys(values))
    return known[:: max(1, len(known) // count)][:count]


def configure(repository: Repository) -> None:
    settings: dict[str, Any] = {
        "home": "home",
        "repositories": [
            {"id": repository.name, "location": repository.name, "include": [f"{repository.root}**"]}
            if repository.root
            else {"id": repository.name, "location": repository.name}
        ],
        "stores": {"catalog": "sqlite", "remote": (repository.folder / "published").as_uri()},
        "roles": {"guest": "public"},
    }
    if repository.lexical:
        settings["embedder"] = {"provider": "lexical-only"}
    # JSON is YAML
    (repository.folder / "rag_assets.yaml").write_text(json.dumps(settings, indent=1), encoding="utf-8")


def commit_again(repository: Repository) -> None:
    """One line more in one file, another file less."""
    grown, gone = repository.files[len(repository.files) // 3], repository.files[len(repository.files) // 2]
    gone = gone if gone != grown else repository.files[-1]
    with (repository.clone / grown).open("ab") as file:
        file.write(f"\n{COMMENTS[Path(grown).suffix]} a golden line\n".encode())
    git(repository.clone, "rm", "--quiet", gone)
    git(repository.clone, "add", grown)
    # A mirror may lack large blobs, which `git commit` refuses.
    tree = git(repository.clone, "write-tree", "--missing-ok").strip()
    message = "One line more, one file less"
    commit = git(repository.clone, "commit-tree", tree, "-p", "HEAD", "-m", message, moment=SECOND_COMMIT).strip()
    git(repository.clone, "update-ref", "refs/heads/main", commit)


# --- what is stored --------------------------------------------------------------------------------------------------


def generations_of(home: Path, label: str) -> Path:
    return home / "labels" / label / "generations"


def active_generation(home: Path, label: str) -> Path:
    pointer = json.loads((home / "labels" / label / "active.json").read_text(encoding="utf-8"))
    wanted = [text for text in strings(pointer) if (generations_of(home, label) / text).is_dir()]
    if not wanted:
        raise SystemExit(f"{label}: active.json names no generation: {pointer}")
    return generations_of(home, label) / wanted[0]


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def stored(package: Package, repository: Repository, label: str) -> dict[str, Any]:
    """All of the generation that the label serves."""
    generation = active_generation(repository.home, label)
    files, records = {}, {}
    for path in sorted(generation.rglob("*")):
        name = path.relative_to(generation).as_posix()
        if not path.is_file() or any(fnmatch.fnmatch(name, pattern) for pattern in UNSTABLE_FILES):
            continue
        if path.suffix == ".json" and not name.startswith(("shard/", "graph/")):
            records[name] = package.masked(json.loads(path.read_bytes()))
        else:
            files[name] = digest(path.read_bytes())
    for name, key in VOLATILE_RECORDS.items():
        if key in records.get(name, {}):
            records[name][key] = f"<{key}>"
    manifest = records.pop("manifest.json")
    tables = sorted({path.parent for path in generation.glob("*/*.parquet")})
    return {
        "generation": generation.name,
        "manifest": manifest,
        "records": records,
        "files": files,
        "tables": {folder.name: table_digests(folder) for folder in tables},
        "points": points_of(generation / "shard", repository.folder),
        "label": {
            path.name: package.masked_at(path.name, json.loads(path.read_bytes()))
            for path in sorted((repository.home / "labels" / label).glob("*.json"))
        },
        "documents": digest_of(
            sorted(
                (path.name, digest(path.read_bytes()))
                for path in (repository.home / "blobs").rglob("*")
                if path.is_file()
            )
        ),
    }


def table_digests(folder: Path) -> dict[str, Any]:
    """Rows in order over the parts: a digest per column and, where there are paths, per path."""
    table = pa.concat_tables([pq.read_table(part) for part in sorted(folder.glob("*.parquet"))]).combine_chunks()
    columns = {
        name: f"{table.schema.field(name).type} {column_digest(table.column(name))}" for name in table.column_names
    }
    found: dict[str, Any] = {"rows": table.num_rows, "columns": columns}
    if "path" in table.column_names:
        rows: dict[str, list[Any]] = {}
        for row in table.to_pylist():
            rows.setdefault(row["path"], []).append(row)
        found["paths"] = {path: digest_of(group) for path, group in rows.items()}
    return found


def column_digest(column: pa.ChunkedArray) -> str:
    if pa.types.is_list(column.type) and pa.types.is_floating(column.type.value_type):
        flat = column.combine_chunks().flatten().to_numpy(zero_copy_only=False).tobytes()
        return digest(digest_of([len(row) if row.is_valid else None for row in column]).encode() + flat)
    return digest_of(column.to_pylist())


def points_of(shard: Path, scratch: Path) -> dict[str, str]:
    """Id → digests of payload and vectors. Opening a shard may write to it: a copy is opened."""
    import qdrant_edge as edge

    copy = scratch / "shard-copy"
    subprocess.run(["cp", "-a", "--sparse=always", str(shard), str(copy)], check=True)
    opened, found = edge.EdgeShard.load(str(copy)), dict[str, str]()
    offset: Any = None
    try:
        while True:
            records, offset = opened.scroll(edge.ScrollRequest(offset, 2_000, with_payload=True, with_vector=True))
            for record in records:
                named: Any = record.vector or {}
                vectors = [f"{name} {vector_digest(value)}" for name, value in sorted(named.items())]
                found[str(record.id)] = " ".join([f"payload {digest_of(record.payload)}", *vectors])
            if offset is None:
                return found
    finally:
        opened.close()
        shutil.rmtree(copy)


def vector_digest(vector: Any) -> str:
    if isinstance(vector, list):
        return digest(pa.array(vector, pa.float32()).to_numpy().tobytes())
    return digest_of(sorted(zip(vector.indices, vector.values, strict=True)))


# --- probes ----------------------------------------------------------------------------------------------------------

Probes = dict[str, list[str]]
"""Name → arguments of `rag-assets`."""


def words_of(name: str) -> str:
    return " ".join(re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", name)).lower()


def searches(repository: Repository) -> Probes:
    kind, other, file = repository.types[0], repository.types[-1], repository.files[0]
    folder = str(Path(file).parent)
    trace = (
        f"System.InvalidOperationException: Sequence contains no elements\n"
        f"   at Some.Namespace.{kind}.{repository.methods[0]}(String name) in C:\\build\\{file}:line 12\n"
        f"   at Some.Namespace.{other}.{repository.methods[-1]}() in /src/{repository.files[-1]}:line 3"
    )
    here, labels = ["--label", repository.main, "--json"], ["--label", repository.main, "--label", repository.base]
    question = f"how is {words_of(kind)} used by {words_of(repository.methods[0])}"
    found: Probes = {
        "words": [question, *here],
        "identifier": [kind, *here],
        "split identifier": [words_of(other), "--limit", "30", *here],
        "method": [f"{kind}.{repository.methods[0]}", *here],
        "phrase": [f'"{other}"', *here],
        "phrase and words": [f'"{kind}" {words_of(other)}', *here],
        "stack trace": [trace, *here],
        "symbol": [f"symbol:{kind}* used", *here],
        "path": [f"path:{folder}/ {words_of(kind)}", *here],
        "not path": [f"{words_of(kind)} -path:{folder}/", *here],
        "kind": [f"{words_of(kind)} kind:Test", *here],
        "options": ["error", "--path", f"{folder}/**", "--language", "csharp", "--source-type", "code", *here],
        "documents": ["how to use this", "--source-type", "document", *here],
        "symbol option": ["where", "--symbol", f"*{kind[-5:]}", *here],
        "since": [question, "--since", "2030-01-01", *here],
        "before": [question, "--before", "2030-01-01", *here],
        "literal": [f"path:{folder} {kind}", "--literal", *here],
        "explain": [question, "--explain", *here],
        "bm25": [question, "--mode", "bm25", *here],
        "semantic": [question, "--mode", "semantic", *here],
        "semantic_rerank": [question, "--mode", "semantic_rerank", *here],
        "all labels": [question, "--all", "--json", "--full"],
        "two labels": [question, *labels, "--json", "--full"],
        "compare labels": [question, "--compare", *labels, "--json"],
        "nothing": ["--mode", "bm25", "qqzzxxyy", *here],
        "wrong filter": ["since:neverday words", *here],
        "wrong label": [question, "--label", "nowhere@main", "--json"],
        "no query": ["--json"],
    }
    return {f"search {name}": ["search", *arguments] for name, arguments in found.items()} | {
        "search role": ["--role", "guest", "search", question, *here]
    }


def readings(repository: Repository, point: str) -> Probes:
    """Commands that change nothing."""
    here = ["--label", repository.main, "--json"]
    kind, other, file = repository.types[0], repository.types[-1], repository.files[0]
    main, base = repository.main, repository.base
    agents = ["analyst", "architect", "developer", "product_owner", "reviewer", "tech_lead"]
    found: Probes = {
        "show line": ["show", f"{file}:5", *here],
        "show point": ["show", point, *here],
        "show beginning": ["show", point[:8], *here],
        "show snippet": ["show", point, "--part", "snippet", *here],
        "show payload": ["show", point, "--part", "payload", *here],
        "show nothing": ["show", "no/such/file.cs:1", *here],
        "status": ["status", "--json"],
        "status skipped": ["status", "--skipped", "--label", main, "--json"],
        "plan": ["plan", repository.name, "--json"],
        "plan base": ["plan", repository.name, "--ref", "base", "--files", "0", "--json"],
        "generations list": ["generations", "list", "--json"],
        "generations list label": ["generations", "list", main, "--json"],
        "generations compare": ["generations", "compare", "previous", "active", "--label", main, "--json"],
        "generations compare labels": ["generations", "compare", base, main, "--limit", "0", "--json"],
        "generations compare wrong": ["generations", "compare", "nothing", "--json"],
        "generations prune": ["generations", "prune", "--dry-run", "--json"],
        "graph overview": ["graph", "overview", *here],
        "graph around file": ["graph", "around", file, *here],
        "graph around both": ["graph", "around", kind, other, "--depth", "3", "--nodes", "40", *here],
        "graph around out": ["graph", "around", kind, "--direction", "out", "--relations", "Calls,Implements", *here],
        "graph around methods": ["graph", "around", kind, "--kind", "METHOD", *here],
        "graph short": ["graph", kind, *here],
        "graph path": ["graph", "path", kind, other, *here],
        "graph path files": ["graph", "path", file, repository.files[1], "--count", "5", *here],
        "graph impact file": ["graph", "impact", file, *here],
        "graph wrong": ["graph", "around", "NoSuchTypeAtAll", *here],
        "agent list": ["agent", "list", "--json"],
        "agent validate": ["agent", "validate", "--json"],
        "agent wrong": ["agent", "show", "nobody", "--json"],
        "pipeline validate": ["pipeline", "validate", "--json"],
        "pipeline wrong": ["pipeline", "show", "nothing", "--json"],
        "config check": ["config", "check", "--json"],
        "doctor": ["doctor", "--json"],
        "catalog status": ["catalog", "status", "--json"],
        "catalog search": ["catalog", "search", words_of(kind), *here],
        "publish dry": ["publish", main, "--dry-run", "--json"],
        "eval run without set": ["eval", "run", main, "--json"],
    }
    for number, name in enumerate(repository.types, 1):
        found |= {
            f"graph around {number}": ["graph", "around", name, *here],
            f"graph impact {number}": ["graph", "impact", name, *here],
            f"graph uses {number}": ["graph", "uses", name, *here],
        }
    for number, path in enumerate(spread(repository.files, 5), 1):
        found[f"explain {number}"] = ["explain", path, *here]
    found["explain symbol"] = ["explain", f"{file}:{kind}", *here]
    for name in agents:
        found[f"agent show {name}"] = ["agent", "show", name, "--json"]
    for name in ("code_question_answering", "code_question_answering_offline"):
        found |= {
            f"pipeline show {name}": ["pipeline", "show", name, "--json"],
            f"pipeline graph {name}": ["pipeline", "graph", name, "--json"],
        }
    if repository.name == "shop":
        found |= shop_readings(here)
    return found


def shop_readings(here: list[str]) -> Probes:
    """What only the example has: routes, tables, documents."""
    return {
        "search refunds": ["search", "where are refunds limited", *here],
        "search handler": ["search", "who handles OrderPlacedEvent", "--kind", "Handler", *here],
        "search table": ["search", "table of invoices", "--language", "sql", *here],
        "show sql": ["show", "db/sqlserver/001-tables.sql:77", *here],
        "explain sql": ["explain", "db/sqlserver/003-routines.sql", *here],
        "explain controller": ["explain", "src/Fernhill.Shop.Api/Controllers/OrdersController.cs", *here],
        "explain document": ["explain", "docs/design/SHP-001-stock-reservation.md", *here],
        "explain skipped": ["explain", "web/package-lock.json", *here],
        "graph uses route": ["graph", "uses", "src/Fernhill.Shop.Api/Controllers/OrdersController.cs", *here],
        "graph around table": ["graph", "around", "sales.Orders", *here],
        "graph impact table": ["graph", "impact", "sales.Orders", *here],
        "graph path table": ["graph", "path", "OrdersController", "sales.Orders", *here],
    }


def questions_of(repository: Repository) -> list[str]:
    found = [
        f"how does {repository.types[0]} work?",
        f"what calls {repository.methods[0]}?",
        f"where is {words_of(repository.types[-1])} defined?",
        "what is the price of rice in Lisbon?",
    ]
    return (
        [*found, "when is a refund refused?", "which tables does the order repository write?"]
        if repository.name == "shop"
        else found
    )


def text_probes(repository: Repository) -> Probes:
    """What people see: prose, under a section of its own."""
    here = ["--label", repository.main]
    question = f"how is {words_of(repository.types[0])} used"
    return {
        "search": ["search", question, *here],
        "search explain": ["search", question, "--explain", *here],
        "status": ["status"],
        "plan": ["plan", repository.name],
        "show": ["show", f"{repository.files[0]}:5", *here],
        "explain": ["explain", repository.files[0], *here],
        "graph around": ["graph", "around", repository.types[0], *here],
        "graph mermaid": ["graph", "around", repository.types[0], "--mermaid", *here],
        "graph impact": ["graph", "impact", repository.types[0], *here],
        "graph overview": ["graph", "overview", *here],
        "generations list": ["generations", "list"],
        "generations compare": ["generations", "compare", "previous", "active", *here],
        "agent show": ["agent", "show", "architect"],
        "pipeline show": ["pipeline", "show", "code_question_answering"],
        "pipeline graph": ["pipeline", "graph", "code_question_answering"],
        "config check": ["config", "check"],
        "catalog status": ["catalog", "status"],
        "version": ["--version"],
    }


class Frozen:
    """Collects the outputs of one repository."""

    def __init__(self, package: Package, repository: Repository) -> None:
        self.package, self.repository = package, repository
        self.outputs: dict[str, Any] = {}
        self.errors: dict[str, Any] = {}
        self.texts: dict[str, Any] = {}

    def run(self, name: str, arguments: Sequence[str], text: str = "") -> str:
        """Keeps exit code and JSON, returns stdout as it was."""
        ran = self.package.run(arguments, self.repository.folder, text)
        self.outputs[name] = {"exit": ran.returncode, "stdout": self._read(ran.stdout)}
        if ran.returncode:
            self.errors[name] = self.package.masked_text(ran.stderr).splitlines()
        return ran.stdout

    def _read(self, stdout: str) -> Any:
        try:
            found = self.package.masked(json.loads(stdout)) if stdout.strip() else ""
        except ValueError:
            return self.package.masked_text(stdout).splitlines()
        if isinstance(found, dict) and len(found.get("sources", [])) > 1 and "hits" in found:
            found["hits"] = ties_in_order(found["hits"])
        return found

    def text(self, name: str, arguments: Sequence[str], text: str = "") -> None:
        ran = self.package.run(arguments, self.repository.folder, text)
        self.texts[name] = {"exit": ran.returncode, "stdout": self.package.masked_text(ran.stdout).splitlines()}

    def run_all(self, probes: Probes) -> None:
        with ThreadPoolExecutor(PROCESSES) as pool:
            for _ in pool.map(lambda probe: self.run(*probe), probes.items()):
                pass

    def text_all(self, probes: Probes) -> None:
        with ThreadPoolExecutor(PROCESSES) as pool:
            for _ in pool.map(lambda probe: self.text(*probe), probes.items()):
                pass


def ties_in_order(hits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Hits of several labels: the same section in two shards scores the same but for the last bits, so that either may
    come first. Runs of equal scores are sorted; the last one, which the limit may cut, is left out."""
    runs: list[list[dict[str, Any]]] = []
    for hit in hits:
        if runs and math.isclose(runs[-1][-1]["score"], hit["score"], rel_tol=SCORE_TOLERANCE):
            runs[-1].append(hit)
        else:
            runs.append([hit])
    ordered = [hit for run in runs[:-1] for hit in sorted(run, key=lambda hit: (hit["path"], hit["point_id"]))]
    return [hit | {"rank": rank} for rank, hit in enumerate(ordered, 1)]


def freeze_repository(
    package: Package, repository: Repository, questions: Sequence[Path], quick: bool
) -> dict[str, Any]:
    def step(text: str) -> None:
        say(f"{repository.name}: {text}")

    full = repository.name == "shop"
    package = replace(package, names=dict(package.names))
    configure(repository)
    frozen, builds = Frozen(package, repository), {}
    rankings: dict[str, Any] = {}

    def index(build: str, label: str, *options: str) -> None:
        step(f"index, {build}")
        stdout = frozen.run(f"index {build}", ["index", repository.name, *options, "--json"])
        if frozen.outputs[f"index {build}"]["exit"]:
            raise SystemExit(f"index of {repository.name} failed: {frozen.errors[f'index {build}']}\n{stdout}")
        generation = active_generation(repository.home, label)
        package.names[generation.name] = f"<{build} generation>"
        frozen.outputs[f"index {build}"]["stdout"] = package.masked(json.loads(stdout))
        builds[build] = stored(package, repository, label)

    step(f"{'lexical' if repository.lexical else 'hybrid'}, {len(repository.files)} source files")
    frozen.run("plan fresh", ["--home", "plan-home", "plan", repository.name, "--json"])
    index("first", repository.main)
    frozen.run("index unchanged", ["index", repository.name, "--json"])
    if not quick:
        index("base", repository.base, "--ref", "base")
        for file in questions:
            step(f"questions of {file.name}")
            rankings[file.stem] = ranking(package, repository, file)
        commit_again(repository)
        subprocess.run(
            ["cp", "-a", "--sparse=always", str(repository.home), str(repository.folder / "copy")], check=True
        )
        frozen.run("plan second", ["--home", "copy", "plan", repository.name, "--files", "0", "--json"])
        shutil.rmtree(repository.folder / "copy")
        frozen.run("status stale", ["status", "--json"])
        index("second", repository.main)
    step("reading commands")
    point = sorted(builds["first" if quick else "second"]["points"])[0]
    frozen.run_all(
        {
            name: arguments
            for name, arguments in (searches(repository) | readings(repository, point)).items()
            if full or not any(fnmatch.fnmatch(name, pattern) for pattern in ONLY_OF_SHOP)
        }
    )
    frozen.run("gc dry", ["gc", "--dry-run", "--json"])
    step("questions, log, traces")
    conversation(frozen, quick)
    if not quick:
        step("evaluation")
        evaluate(frozen)
    if full and not quick:
        step("texts")
        frozen.text_all(text_probes(repository))
        step("changing commands")
        change(frozen)
    return {
        "rankings": rankings,
        "frozen": {
            "files": repository.files,
            "builds": builds,
            "outputs": dict(sorted(frozen.outputs.items())),
            "errors": dict(sorted(frozen.errors.items())),
            "texts": dict(sorted(frozen.texts.items())),
        },
    }


def conversation(frozen: Frozen, quick: bool) -> None:
    """Asks, and what is kept of it. Ids of turns are random: they get numbers."""
    repository, names = frozen.repository, frozen.package.names
    here = ["--label", repository.main, "--json"]

    def turn(name: str, arguments: list[str]) -> None:
        stdout = frozen.run(name, arguments)
        if stdout.startswith("{") and (found := json.loads(stdout).get("turn")):
            names[found] = f"<turn {len(names)}>"
            frozen.outputs[name]["stdout"] = frozen.package.masked(json.loads(stdout))

    full = repository.name == "shop"
    for number, question in enumerate(questions_of(repository), 1):
        turn(f"ask {number}", ["ask", question, *here])
    session = ["--session", "golden", "--user", "golden"]
    turn("ask session 1", ["ask", f"what is {repository.types[0]}?", *session, *here])
    turn("ask session 2", ["ask", "and who uses it?", *session, *here])
    turn(
        "ask path",
        ["ask", f"what is {repository.types[0]}?", "--path", f"{Path(repository.files[0]).parent}/**", *here],
    )
    frozen.run("ask wrong pipeline", ["ask", "what?", "--pipeline", "nothing", *here])
    if quick:
        return
    types = ("blueprint", "pdr", "workflow", "build_plan") if full else ("blueprint",)
    for kind in types:
        turn(f"artifact {kind}", ["artifact", kind, words_of(repository.types[0]), *here])
    frozen.run("artifact wrong", ["artifact", "poem", *here])
    stdout = frozen.run("log", ["log", "--limit", "0", "--json"])
    for turn_id in [each["turn_id"] for each in reversed(json.loads(stdout)["turns"])]:
        names.setdefault(turn_id, f"<turn {len(names)}>")
    frozen.outputs["log"]["stdout"] = frozen.package.masked(json.loads(stdout))
    turns = [turn_id for turn_id, mask in names.items() if mask.startswith("<turn")]
    frozen.run_all(
        {
            "log session": ["log", "--session", "golden", "--json"],
            "log refused": ["log", "--status", "abstained", "--json"],
            "session list": ["session", "list", "--user", "golden", "--json"],
            "replay": ["replay", "--json"],
            **{f"trace {names[turn]}": ["trace", turn, "--json"] for turn in turns[: None if full else 1]},
        }
    )
    frozen.text(
        "chat", ["chat", "--label", repository.main], f"what is {repository.types[0]}?\n/sources\n/why\n/quit\n"
    )
    frozen.text("ask", ["ask", questions_of(repository)[0], "--label", repository.main])
    frozen.run("session delete", ["session", "delete", "golden", "--user", "golden", "--json"])


def evaluate(frozen: Frozen) -> None:
    repository = frozen.repository
    main = repository.main
    mine = ["eval", "mine", main, "--answers", "--limit", "12", "--out", "mined.jsonl", "--json"]
    frozen.run("eval mine answers", mine)
    frozen.run(
        "eval mine history", ["eval", "mine", repository.name, "--limit", "12", "--out", "history.jsonl", "--json"]
    )
    for name in ("mined", "history"):
        file = repository.folder / f"{name}.jsonl"
        if file.exists():
            frozen.outputs[f"eval mine {name} set"] = frozen.package.masked(
                [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
            )
            keep = ["--set", file.name, "--out", f"{name}.json", "--json"]
            frozen.run(f"eval run {name}", ["eval", "run", main, *keep])
            run = repository.folder / f"{name}.json"
            if run.exists():
                frozen.outputs[f"eval run {name} kept"] = frozen.package.masked(json.loads(run.read_bytes()))
            compare = ["eval", "compare", f"{main}:previous", f"{main}:active", "--set", file.name, "--json"]
            frozen.run(f"eval compare {name}", compare)
    frozen.text("eval report", ["eval", "report", main])
    if repository.name != "shop":
        return
    frozen.run("eval run answers", ["eval", "run", main, "--set", "mined.jsonl", "--answers", "--limit", "6", "--json"])


def change(frozen: Frozen) -> None:
    """Commands that change the home, in an order in which each has something to do."""
    repository = frozen.repository
    main = repository.main
    here = ["--label", main]
    frozen.text("tag", ["generations", "tag", "previous", "golden", *here])
    frozen.run("generations list tagged", ["generations", "list", main, "--json"])
    frozen.run("generations activate", ["generations", "activate", "golden", *here, "--json"])
    frozen.run("generations rollback", ["generations", "rollback", main, "--json"])
    frozen.text("untag", ["generations", "untag", "golden", *here])
    frozen.run("publish", ["publish", main, "--json"])
    frozen.run("pull", ["--home", "pulled", "pull", main, "--json"])
    frozen.run("search pulled", ["--home", "pulled", "search", words_of(repository.types[0]), *here, "--json"])
    frozen.run("rebuild", ["rebuild", main, "--json"])
    frozen.run("search rebuilt", ["search", words_of(repository.types[0]), *here, "--json"])
    frozen.run("index forced", ["index", repository.name, "--force", "--json"])
    frozen.text("watch", ["watch", "--once", repository.name])
    frozen.text("reset", ["reset", repository.base, "--yes"])
    frozen.run("gc", ["gc", "--json"])
    frozen.run("status after", ["status", "--json"])
    frozen.text("init", ["init"])
    frozen.text("init force", ["init", "--force"])
    written = repository.folder / "rag_assets.yaml"
    frozen.texts["rag_assets.yaml"] = written.read_text(encoding="utf-8").splitlines()


def ranking(package: Package, repository: Repository, file: Path) -> dict[str, Any]:
    """Question → ranked files as `eval run --out` keeps them."""
    out = repository.folder / f"ranking-{file.stem}.json"
    arguments = ["eval", "run", repository.base, "--set", str(file.resolve()), "--out", out.name, "--json"]
    ran = package.run(arguments, repository.folder)
    if ran.returncode:
        raise SystemExit(f"eval run of {file} on {repository.name} failed: {ran.stderr}")
    kept: dict[str, Any] = package.masked(json.loads(out.read_bytes()))
    return kept


# --- help and start-up -----------------------------------------------------------------------------------------------


def help_of(package: Package, cwd: Path) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Help text and options of every command, found by walking from the top."""
    texts: dict[str, list[str]] = {}
    options: dict[str, list[str]] = {}
    todo: list[tuple[str, ...]] = [()]
    while todo:
        with ThreadPoolExecutor(PROCESSES) as pool:
            ran = list(pool.map(lambda command: package.run([*command, "--help"], cwd), todo))
        below: list[tuple[str, ...]] = []
        for command, result in zip(todo, ran, strict=True):
            name = " ".join(command) or "rag-assets"
            texts[name] = package.masked_text(result.stdout).splitlines()
            upper, _, commands = result.stdout.partition("─ Commands ─")
            below += [(*command, found) for found in re.findall(r"^│ ([a-z][a-z-]*) ", commands, re.MULTILINE)]
            options[name] = sorted(set(re.findall(r"^│ (?:\* +)?(--[a-z-]+(?:,--?[a-z-]+)*)", upper, re.MULTILINE)))
        todo = below
    package.probed.clear()  # asking for help is no probe
    return texts, options


def measure_startup(package: Package, work: Path) -> dict[str, Any]:
    """Modules, heavy libraries, memory and time of cold commands, on a repository of one file."""
    folder = work / "one-file"
    clone = folder / "one"
    clone.mkdir(parents=True)
    git(work, "init", "--quiet", "--initial-branch=main", str(clone))
    source = "namespace One;\n\n/// <summary>Counts sheep.</summary>\npublic class SheepCounter\n{\n"
    source += "    public int Count(int before)\n    {\n        return before + 1;\n    }\n}\n"
    (clone / "SheepCounter.cs").write_text(source, encoding="utf-8")
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "--message", "One file")
    settings = {"home": "home", "repositories": [{"id": "one", "location": "one"}]}
    (folder / "rag_assets.yaml").write_text(json.dumps(settings), encoding="utf-8")
    commands = {
        "index": ["index", "one", "--json"],
        "index unchanged": ["index", "one", "--json"],
        "search": ["search", "what counts sheep", "--json"],
        "search keyword": ["search", "SheepCounter", "--mode", "bm25", "--json"],
        "ask": ["ask", "what counts sheep?", "--json"],
        "show": ["show", "SheepCounter.cs:4", "--json"],
        "graph": ["graph", "around", "SheepCounter", "--json"],
        "help": ["--help"],
    }
    found: dict[str, Any] = {}
    for name, arguments in commands.items():
        say(f"start-up: {name}")
        found[name] = imports_of(package, folder, arguments)
    run = partial(package.run, commands["search"], folder)
    seconds = []
    for _ in range(COLD_SEARCHES):
        began = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - began)
    found["search"]["informative"]["median seconds"] = round(statistics.median(seconds), 3)
    return found


def imports_of(package: Package, folder: Path, arguments: Sequence[str]) -> dict[str, Any]:
    # A process starts with the peak of the one that started it: a small one stands between.
    between = (
        "import resource, subprocess, sys; code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode;"
    )
    between += "print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    command = [sys.executable, "-S", "-c", between, package.python, "-X", "importtime", "-m", "rag_assets", *arguments]
    ran = subprocess.run(command, cwd=folder, env=package.environment(), capture_output=True, text=True)
    code, kilobytes = map(int, ran.stdout.split())
    lines = ran.stderr.splitlines()
    modules = {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}
    own = sorted(module for module in modules if module.split(".")[0] == "rag_assets")
    return {
        "exit": code,
        "modules of rag_assets": len(own),
        "heavy libraries": [name for name in HEAVY_LIBRARIES if name in modules],
        "informative": {"modules": own, "max rss MB": kilobytes // 1024},
    }


# --- freeze ----------------------------------------------------------------------------------------------------------


def pairs(values: Sequence[str], option: str) -> list[tuple[str, str]]:
    found = [tuple(value.split("=", 1)) for value in values]
    if wrong := [pair for pair in found if len(pair) != 2]:
        raise SystemExit(f"{option}: NAME=VALUE is expected, not {wrong[0][0]!r}")
    return found  # type: ignore[return-value]


def freeze(arguments: argparse.Namespace) -> int:
    began = time.perf_counter()
    work = Path(tempfile.mkdtemp(prefix="goldens-")).resolve()
    package = Package(arguments.python, work)
    package.names[str(work)] = "<work>"
    roots = dict(pairs(arguments.root, "--root"))
    questions = pairs(arguments.questions, "--questions")
    given = {"shop": str(SHOP)} | dict(pairs(arguments.repository, "--repository"))
    try:
        repositories, failed = [], list[str]()
        for name, value in given.items():
            if not re.fullmatch("[a-z0-9-]+", name):
                raise SystemExit(f"--repository {name}: the name becomes a label; use a-z, 0-9 and dashes")
            path, _, revision = value.partition("@") if not Path(value).exists() else (value, "", "")
            say(f"{name}: clone at {revision or 'HEAD'}")
            repositories.append(cloned(name, Path(path), revision, roots.get(name, ""), work))
        if unknown := {name for name, _ in questions} - given.keys():
            raise SystemExit(f"--questions: no --repository is called {', '.join(sorted(unknown))}")
        for repository in sorted(repositories[1:], key=lambda each: each.size)[HYBRID_REPOSITORIES:]:
            repository.lexical = True
        document: dict[str, Any] = {"repositories": {}, "rankings": {}}
        if not arguments.quick:
            say("help of every command")
            document["help"], document["commands"] = help_of(package, work)
        asked = {
            repository.name: [Path(file) for name, file in questions if name == repository.name]
            for repository in repositories
        }

        def frozen_one(repository: Repository) -> None:
            """One repository that fails must not cost the others their minutes."""
            try:
                found = freeze_repository(package, repository, asked[repository.name], arguments.quick)
            except (Exception, SystemExit) as error:
                failed.append(repository.name)
                say(f"{repository.name} failed: {error!r}")
                return
            document["repositories"][repository.name] = found["frozen"]
            if found["rankings"]:
                document["rankings"][repository.name] = found["rankings"]

        with ThreadPoolExecutor(PROCESSES) as pool:
            list(pool.map(frozen_one, repositories))
        if not arguments.quick:
            document["startup"] = measure_startup(package, work)
            leaves = [
                name
                for name in document["commands"]
                if not any(other.startswith(f"{name} ") for other in document["commands"])
            ]
            document["uncovered"] = sorted(
                name for name in leaves if name not in package.probed and name != "rag-assets"
            )
            if document["uncovered"]:
                say(f"commands that no probe runs: {', '.join(document['uncovered'])}")
        document["made"] = {"seconds": round(time.perf_counter() - began), "arguments": sys.argv[1:]}
        Path(arguments.out).write_text(
            json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False), encoding="utf-8"
        )
        say(f"wrote {arguments.out} after {document['made']['seconds']} s")
    finally:
        if arguments.keep:
            say(f"kept {work}")
        else:
            shutil.rmtree(work, ignore_errors=True)
    return 1 if failed else 0


# --- compare ---------------------------------------------------------------------------------------------------------

ABSENT = "(absent)"
NOT_COMPARED = ("made", "informative")


def compare(arguments: argparse.Namespace) -> int:
    one, other = (json.loads(Path(file).read_bytes()) for file in (arguments.a, arguments.b))
    left_out = {*NOT_COMPARED, *arguments.without}
    groups: dict[str, list[tuple[str, Any, Any]]] = {}
    for place, mine, theirs in differences(one, other, (), left_out):
        depth = 4 if place[0] == "repositories" else 2
        groups.setdefault(" / ".join(place[:depth]), []).append((" / ".join(place[depth:]), mine, theirs))
    for group, found in groups.items():
        print(f"{group}: {len(found)} differences")
        for path, mine, theirs in found[: arguments.show]:
            print(f"    {path}\n        A: {shown(mine)}\n        B: {shown(theirs)}")
        if len(found) > arguments.show:
            print(f"    … and {len(found) - arguments.show} more")
    total = sum(map(len, groups.values()))
    print(f"{total} differences in {len(groups)} groups" if total else "no differences")
    return 1 if total else 0


def differences(
    one: Any, other: Any, path: tuple[str, ...], left_out: set[str]
) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            if key not in left_out:
                yield from differences(one.get(key, ABSENT), other.get(key, ABSENT), (*path, key), left_out)
    elif isinstance(one, list) and isinstance(other, list):
        for number in range(max(len(one), len(other))):
            mine, theirs = (values[number] if number < len(values) else ABSENT for values in (one, other))
            yield from differences(mine, theirs, (*path, f"[{number}]"), left_out)
    elif not same(one, other):
        yield path, one, other


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=SCORE_TOLERANCE, abs_tol=SCORE_TOLERANCE / 5)
    return type(one) is type(other) and one == other


def shown(value: Any) -> str:
    text = value if value is ABSENT else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= 200 else f"{text[:200]}… ({len(text)} characters)"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    freezing = commands.add_parser("freeze")
    freezing.add_argument("out")
    freezing.add_argument("--repository", action="append", default=[], metavar="NAME=PATH[@REV]")
    freezing.add_argument("--root", action="append", default=[], metavar="NAME=FOLDER")
    freezing.add_argument("--questions", action="append", default=[], metavar="NAME=FILE")
    freezing.add_argument("--python", default=sys.executable, help="of the tree to freeze; default: this one")
    freezing.add_argument("--quick", action="store_true", help="one build, its digests, searches and questions only")
    freezing.add_argument("--keep", action="store_true", help="keep the working folder")
    freezing.set_defaults(run=freeze)
    comparing = commands.add_parser("compare")
    comparing.add_argument("a")
    comparing.add_argument("b")
    comparing.add_argument("--without", action="append", default=[], metavar="SECTION", help="leave this section out")
    comparing.add_argument("--show", type=int, default=5, help="differences shown of each group")
    comparing.set_defaults(run=compare)
    arguments = parser.parse_args()
    run: Any = arguments.run
    return int(run(arguments))


if __name__ == "__main__":
    sys.exit(main())
