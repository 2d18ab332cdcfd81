"""What the embedding models on this machine cost, side by side, on the source files of a repository: a column for the
model of the package, and one for MiniLM where its extra is installed.

    python benchmarks/embedders.py PATH [--texts 20000] [--points 10000]

PATH is a git repository (bare or not; its HEAD is read) or a folder. Each model works in a process of its own. The last
rows are of searches in an index of synthetic points, as `query.py` builds it; `--points 0` leaves them out. Targets of
the model of the package: load < 10 ms, >= 20,000 sections a CPU-second, a question <= 100 us, search processes
<= 180 MB.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

import query
from report import child, table, with_bytecode

from rag_assets.models import open_embedder, require_model
from rag_assets.models.model_files import ModelMissing
from rag_assets.search.query_embedding import load_local
from rag_assets.settings import EmbedderSettings

PROVIDERS = ("static-code", "minilm")
SUFFIXES = (".cs", ".py", ".ts", ".js", ".java", ".go", ".sql", ".md")
PIECE_CHARACTERS = (80, 200, 300, 500, 700, 1000, 1400)  # in turn: about the spread of finder snippets
SLOW_TEXTS = 400  # of a model that takes milliseconds for each
LOADS = 7
QUESTIONS = 200
REPEATS = 3  # the best counts: other processes only ever slow a run down


def main() -> None:
    arguments = _arguments()
    if arguments.child:
        print(json.dumps(measure(arguments.child, arguments.path, arguments.texts)))
        return
    with_bytecode()
    columns = {}
    for provider in PROVIDERS:
        try:
            require_model(EmbedderSettings(provider=provider), Path(tempfile.gettempdir()))
        except ModelMissing as error:
            print(str(error).partition("\n")[0])
            continue
        columns[provider] = child(__file__, arguments.path, "--texts", arguments.texts, "--child", provider)
        if arguments.points:
            columns[provider] |= searches(provider, arguments.points)
    names = next(iter(columns.values()))
    table(["", *columns], [[name, *(found[name] for found in columns.values())] for name in names])


def measure(provider: str, path: Path, count: int) -> dict[str, str]:
    settings = EmbedderSettings(provider=provider)
    texts = _pieces(list(_contents(path)), count)
    if not texts:
        raise SystemExit(f"no source text ({', '.join(SUFFIXES)}) in {path}")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        cache = Path(folder)
        embedder = open_embedder(settings, cache)  # verified, and made what is kept for the next time
        loads = [seconds(lambda: open_embedder(settings, cache)) for _ in range(LOADS)]
        for_questions = load_local(embedder.model_id, cache)
        questions = [query.question(number) for number in range(QUESTIONS)]
        asked = min(seconds(lambda: [for_questions.embed([text]) for text in questions]) for _ in range(REPEATS))
        texts = texts if embedder.is_instant else texts[:SLOW_TEXTS]
        took = []
        for _ in range(REPEATS):
            fresh = open_embedder(settings, cache)  # no word known yet
            took.append(seconds(lambda fresh=fresh: fresh.embed(texts)))
    return {
        "model": embedder.model_id,
        "dimensions": str(embedder.dimension),
        "load, CPU ms": f"{statistics.median(loads) * 1_000:.1f}",
        "a question, CPU us": f"{asked / len(questions) * 1e6:,.0f}",
        "sections of 80 to 1,400 characters a CPU-second": f"{len(texts) / min(took):,.0f}",
    }


def searches(provider: str, points: int) -> dict[str, str]:
    """Of an index whose vectors are those of the model by name only: what a search opens is what counts."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        query.child(home, "build", points, provider)
        found = query.child(home, "measure", points, provider)
        return {
            f"`rag-assets search`, cold, {points:,} points, s": f"{query.cold_command(home):.2f}",
            "memory of searching, MB": found[query.MEMORY],
        }


def seconds(work: Callable[[], object]) -> float:
    """Of processor time, of all threads."""
    started = time.process_time()
    work()
    return time.process_time() - started


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--texts", type=int, default=20_000)
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--child", choices=PROVIDERS, help=argparse.SUPPRESS)
    return parser.parse_args()


def _pieces(contents: list[str], wanted: int) -> list[str]:
    """At most `wanted` pieces, the same at every call, from all over what is there."""
    lengths = cycle(PIECE_CHARACTERS)
    made: list[str] = []
    for text in contents:
        start = 0
        while start < len(text):
            piece = text[start : start + next(lengths)]
            start += len(piece)
            if piece.strip():
                made.append(piece)
    return random.Random(1).sample(made, min(wanted, len(made)))


def _contents(path: Path) -> Iterator[str]:
    listing = subprocess.run(
        ["git", "-C", path, "ls-tree", "-r", "-z", "--name-only", "HEAD"], capture_output=True, check=False
    )
    if listing.returncode:  # no git repository
        for file in sorted(path.rglob("*")):
            if file.suffix in SUFFIXES and file.is_file():
                yield file.read_text(encoding="utf-8-sig", errors="replace")
        return
    names = [name for name in listing.stdout.decode().split("\0") if name.endswith(SUFFIXES)]
    requests = "".join(f"HEAD:{name}\n" for name in names).encode()
    answer = subprocess.run(["git", "-C", path, "cat-file", "--batch"], input=requests, capture_output=True, check=True)
    output, position = answer.stdout, 0
    for _ in names:
        end = output.index(b"\n", position)
        header, position = output[position:end], end + 1
        if header.endswith(b" missing"):
            continue
        size = int(header.rsplit(b" ", 1)[1])
        yield output[position : position + size].decode("utf-8-sig", "replace")
        position += size + 1


if __name__ == "__main__":
    main()
