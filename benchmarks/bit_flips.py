"""One bit of a home is changed, 200 times: does anything answer wrongly without a word, does `doctor` find it, does
`index` of the same commit heal it?

    python benchmarks/bit_flips.py [--flips 200] [--seed 1] [--lexical]

The home has two generations of a label, a catalog, conversations, a query log and runs of a question set. Every flip
has a fresh copy of it: `doctor` is asked first, then all commands that read. Ten flips at a time are then in one copy,
which `index` has to heal, or the commands that `doctor` names after it: both are asked again. A flip in
bytes that nobody reads, as those of a lock or of a free page, has no effect and is counted as that. Dagster's storage
has no digests of ours and is left out. Ends with code 1 for a wrong answer without a word, or damage that stays.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pickle
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from report import table
from typer.testing import CliRunner

from rag_assets.cli import app

SHOP = Path(__file__).resolve().parents[1] / "examples" / "shop"
PARTS = ("src/Fernhill.Shop.Domain/Orders", "docs/adr", "README.md")
LABEL = "shop@main"
QUESTION = "How is an order refunded?"
READS: tuple[tuple[str, ...], ...] = (
    ("search", "refund", "--json"),
    ("search", "RefundManager OrderManager", "--mode", "bm25", "--json"),
    ("search", QUESTION, "--mode", "semantic", "--json"),
    ("search", "decision", "--path", "docs/**", "--json"),
    ("session", "list", "--json"),
    ("log", "--json"),
    ("ask", QUESTION, "--json"),
    ("graph", "overview", "--json"),
    ("graph", "around", "OrderManager", "--json"),
    ("explain", "README.md", "--json"),
    ("show", "README.md:1", "--json"),
    ("validate", "--json"),
    ("status", "--skipped", "--json"),
    ("generations", "list", "--json"),
    ("eval", "report", "--json"),
    ("catalog", "status", "--json"),
    ("catalog", "search", "refund", "--json"),
)
DISK_USE = {".documents_bytes"}  # true: a command before has removed the damaged document, which the next build writes
OF_A_BUILD = re.compile("generation|run|built|created|previous|seconds|_at")
NAMES = re.compile(r"\d{8}T\d{6}Z_\w+(?:~\d+)?")
"""What another build of the same commit may say otherwise; also what two normal readings say otherwise, as times."""

TOGETHER = 10
"""Flips that are healed in one home: a build for each would take hours."""

HELP = re.compile(r"rag-assets |delete |move |--mode|run:")


@dataclass(frozen=True)
class Flip:
    """One bit of one file of the home."""

    name: str
    bit: int


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str


Readings = dict[tuple[str, ...], Said]


@dataclass(frozen=True)
class Outcome:
    flip: Flip
    silent: tuple[str, ...]  # commands that said something else without a word
    refused: tuple[str, ...]
    found: str  # what `doctor` said of it
    effect: bool
    healed: str = ""  # while something is wrong after `index`, else how it was mended


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flips", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lexical", action="store_true", help="without a model")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as name:
        folder = Path(name)
        os.chdir(folder)
        for variable in [known for known in os.environ if known.startswith(("RAG_ASSETS", "DAGSTER"))]:
            del os.environ[variable]
        make(folder, options.lexical)
        home = folder / "home"
        with copied(home) as copy:
            healthy = apart(lambda: doctor(copy))
            assert healthy.code == 0, healthy
            normal = apart(lambda: read(copy))
        with copied(home) as copy:
            again, modules = apart(lambda: (read(copy), sorted(sys.modules)))
        for module in modules:  # a child is forked with what it needs
            if module.startswith(("rag_assets.", "dagster", "sqlalchemy", "pyarrow", "numpy", "qdrant_edge")):
                importlib.import_module(module)
        passing = {key for words in READS for key in differences(again[words], normal[words])}
        outcomes: list[Outcome] = []
        wanted = flips(home, chance, options.flips)
        for start in range(0, len(wanted), TOGETHER):
            batch = [tried(home, flip, normal, healthy, passing) for flip in wanted[start : start + TOGETHER]]
            outcomes += mended(home, batch, normal, healthy, passing)
            for found in outcomes[start:]:
                print(json.dumps(asdict(found)), file=sys.stderr, flush=True)
    show(outcomes)
    return 1 if any(one.silent or not one.healed for one in outcomes) else 0


def make(folder: Path, lexical: bool) -> None:
    for part in PARTS:
        target = folder / "shop" / part
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (SHOP / part).is_dir() else shutil.copyfile)(SHOP / part, target)
    (folder / "rag_assets.yaml").write_text(
        f"home: {folder / 'home'}\nstores: {{catalog: sqlite}}\n"
        + ("embedder: {provider: lexical-only}\n" if lexical else "")
        + f"repositories:\n  - id: shop\n    location: {folder / 'shop'}\n    ref: main\n    eval_set: set.jsonl\n"
    )
    rows = [{"id": "q1", "query": "refund an order", "relevant": ["src/Fernhill.Shop.Domain/Orders/OrderManager.cs"]}]
    (folder / "set.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    git("init", "--quiet", "--initial-branch=main", at=folder / "shop")
    for text in ("Shop", "Shop, with more words"):
        (folder / "shop" / "docs" / "more.md").write_text(f"# {text}\n\nAn order is refunded within a week.\n")
        git("add", ".", at=folder / "shop")
        git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "-m", text, at=folder / "shop")
        require(apart(lambda: command(folder / "home", "index", "shop")))
    require(apart(lambda: command(folder / "home", "ask", QUESTION, "--session", "mine")))


def git(*words: str, at: Path) -> None:
    subprocess.run(["git", *words], cwd=at, check=True)


def require(said: Said) -> None:
    assert said.code == 0, said


def flips(home: Path, chance: random.Random, wanted: int) -> list[Flip]:
    """A file by chance, for every second flip of a kind by chance, then a bit of it by chance; of a sparse file every
    second one in what was written."""
    from rag_assets.index.generation_files import written_blocks

    names = sorted(
        path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file() and path.stat().st_size
    )
    names = [name for name in names if not name.startswith("dagster/")]
    kinds: dict[str, list[str]] = {}
    for name in names:
        kinds.setdefault(kind_of(name), []).append(name)
    found = []
    for _ in range(wanted):
        name = chance.choice(names if chance.random() < 0.5 else kinds[chance.choice(sorted(kinds))])
        byte = chance.randrange((home / name).stat().st_size)
        written = [(at, len(data)) for at, data in written_blocks(home / name, 512)]
        if written and chance.random() < 0.5:
            at, length = chance.choice(written)
            byte = at + chance.randrange(length)
        found.append(Flip(name, byte * 8 + chance.randrange(8)))
    return found


def change(home: Path, flip: Flip) -> None:
    with (home / flip.name).open("r+b", buffering=0) as file:
        file.seek(flip.bit // 8)
        changed = file.read(1)[0] ^ 1 << flip.bit % 8
        file.seek(flip.bit // 8)
        file.write(bytes([changed]))


def tried(whole: Path, flip: Flip, normal: Readings, healthy: Said, passing: set[str]) -> Outcome:
    with copied(whole) as home:
        change(home, flip)
        before, said = apart(lambda: (doctor(home), read(home)))
    usual = passing | DISK_USE
    other = {words: keys for words in READS if (keys := differences(said[words], normal[words]) - usual)}
    silent = [words for words in other if not explained(said[words], normal[words])]
    return Outcome(
        flip,
        tuple(f"{' '.join(words)}: {', '.join(sorted(other[words]))}" for words in silent),
        tuple(" ".join(words) for words in other if words not in silent),
        difference(before, healthy),
        bool(other),
    )


@contextmanager
def copied(home: Path) -> Iterator[Path]:
    copy = home.with_name("copy")
    subprocess.run(["cp", "-a", "--sparse=always", str(home), str(copy)], check=True)
    try:
        yield copy
    finally:
        shutil.rmtree(copy)


def explained(said: Said, normal: Said) -> bool:
    """Whether another answer comes with what is wrong and the next command, or says null: unknown."""
    if said.code != 0 and HELP.search(said.err):
        return True
    known = [(json.loads(one.out or "null"), one) for one in (said, normal)]
    mine, usual = (dict(entries(value)) for value, _ in known)
    unknown = said.code == 0 and all(mine.get(key) == "None" for key in usual if mine.get(key) != usual[key])
    violations = isinstance(known[0][0], dict) and bool(known[0][0].get("violations"))
    return said.err != normal.err or "damaged" in said.out or unknown or violations


def mended(whole: Path, batch: list[Outcome], normal: Readings, healthy: Said, passing: set[str]) -> list[Outcome]:
    """All flips of a batch in one home: what makes it whole and its answers the usual ones, `index`, or then the
    commands that `doctor` names."""
    with copied(whole) as home:
        for one in batch:
            change(home, one.flip)
        apart(lambda: command(home, "index", LABEL))
        after = apart(lambda: doctor(home))
        left = difference(after, healthy)
        if left:
            obey(home, after)
            after = apart(lambda: doctor(home))
        said = apart(lambda: read(home))
        wrong = {
            words: keys
            for words in READS
            if words[0] not in ("session", "log", "eval", "generations", "catalog")  # what was lost for good
            and (
                keys := {key for key in differences(said[words], normal[words]) - passing if not OF_A_BUILD.search(key)}
            )
        }
    if wrong or difference(after, healthy):
        print("not healed:", wrong, difference(after, healthy), file=sys.stderr)
        return [replace(one, healed="") for one in batch]
    return [replace(one, healed="command" if is_named(one.flip.name, left) else "index") for one in batch]


def is_named(name: str, said: str) -> bool:
    """Whether the complaints of `doctor` name the file, its generation or its database."""
    parts = name.split("/")
    inside = parts[3] if parts[2:3] == ["generations"] else parts[-1].partition(".sqlite")[0]
    return bool(said) and (inside in said or f"{parts[0]}:" in said)


def obey(home: Path, said: Said) -> None:
    """Does by the letter what `doctor` advises."""
    for check in json.loads(said.out)["checks"]:
        repair = check["repair"]
        delete = re.match(r"delete (\S+)", repair)
        moved = re.search(r"(\S+\.sqlite)", check["detail"]) if "that file" in repair else None
        if check["verdict"] == "ok":
            continue
        if delete and not moved:
            path = Path(delete[1].rstrip(",;"))
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        elif moved:
            for end in ("", "-wal", "-shm"):
                Path(f"{moved[1]}{end}").unlink(missing_ok=True)
        elif repair.startswith("rag-assets "):
            words = repair.removeprefix("rag-assets ").split(" removes ")[0].replace("PATH_OR_URL", "shop").split()
            apart(lambda words=words: command(home, *words, *(["--yes"] if words[0] == "reset" else [])))
    apart(lambda: command(home, "index", LABEL))


def difference(said: Said, healthy: Said) -> str:
    """What `doctor` has against a home."""
    if said.code not in (0, 1) or not said.out.startswith("{"):
        return f"doctor failed: {said.err}"
    usual = {check["name"]: check["verdict"] for check in json.loads(healthy.out)["checks"]}
    return "; ".join(
        f"{check['name']}: {check['detail']}"
        for check in json.loads(said.out)["checks"]
        if check["verdict"] != usual.get(check["name"], "ok")
    )


def read(home: Path) -> dict[tuple[str, ...], Said]:
    return {words: command(home, *words) for words in READS}


def doctor(home: Path) -> Said:
    return command(home, "doctor", "--json")


def command(home: Path, *words: str) -> Said:
    done = CliRunner().invoke(app, ["--home", str(home), *words], catch_exceptions=False)
    return Said(done.exit_code, done.stdout, done.stderr)


def differences(one: Said, other: Said) -> set[str]:
    """The keys under which two JSON outputs say something else."""
    if one.code != other.code:
        return {"exit code"}
    mine, others = (Counter(entries(json.loads(said.out or "null"))) for said in (one, other))
    return {key for key, _ in (mine - others) + (others - mine)}


def entries(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name not in ("bytes", "timings"):  # a bit in a hole takes a block
                yield from entries(inner, f"{key}.{name}")
    elif isinstance(value, list):
        yield f"{key}#", str(len(value))
        for at, inner in enumerate(value):
            yield from ((name, f"{at} {said}") for name, said in entries(inner, key))
    elif isinstance(value, float):
        yield key, f"{value:.4f}"  # another order of the same points rounds otherwise
    else:
        yield key, NAMES.sub("GENERATION", repr(value))


def apart(work: Any) -> Any:
    """In a process that keeps nothing, as each command of a user."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(reader)
            with os.fdopen(writer, "wb") as file:
                try:
                    pickle.dump(work(), file)
                except BaseException as error:
                    pickle.dump(RuntimeError(repr(error)), file)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        data = file.read()
    os.waitpid(child, 0)
    made = pickle.loads(data)
    if isinstance(made, RuntimeError):
        raise made
    return made


def kind_of(name: str) -> str:
    parts = name.split("/")
    if parts[0] == "labels":
        inside = parts[4:] if parts[2] == "generations" and len(parts) > 4 else []
        if not inside:
            return "records of a label"
        if len(inside) == 1:
            return "records of a generation"
        return {
            "shard": "vector store",
            "keyword": "keyword files",
            "graph": "graph",
            "stages": "records of a generation",
        }.get(inside[0], "tables and runs")
    if parts[0] == "cache":
        return "parts in the cache" if parts[1] == "parts" else "model cache" if "minilm" in name else "caches"
    return {"blobs": "documents"}.get(parts[0], "databases" if ".sqlite" in name else "other")


def show(outcomes: list[Outcome]) -> None:
    kinds = Counter(kind_of(one.flip.name) for one in outcomes)
    rows = []
    for kind, count in [*sorted(kinds.items()), ("all", len(outcomes))]:
        of = [one for one in outcomes if kind in ("all", kind_of(one.flip.name))]
        rows.append(
            (
                kind,
                str(count),
                str(sum(bool(one.silent) for one in of)),
                str(sum(bool(one.found) for one in of)),
                str(sum(not one.found and not one.effect for one in of)),
                str(sum(not one.found and one.effect for one in of)),
                str(sum(one.healed == "index" for one in of)),
                str(sum(one.healed == "command" for one in of)),
                str(sum(not one.healed for one in of)),
            )
        )
    table(
        ("where", "flips", "silently wrong", "found by doctor", "no effect, not found", "missed", "whole after index",
         "after the command", "never"),
        rows,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
