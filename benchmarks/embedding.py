"""How much of the bare onnxruntime rate the embedding stage keeps, on the source files of a repository.

    python benchmarks/embedding.py PATH [--texts 400] [--precision int8] [--threads 0]

PATH is a git repository (bare or not; its HEAD is read) or a folder. Target: at least 90 %.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path

from rich.console import Console
from rich.table import Table

from rag_assets.models.minilm.embedder import MiniLmEmbedder
from rag_assets.models.minilm.session import ModelSession
from rag_assets.models.minilm.tokenizer import WordPieceTokenizer
from rag_assets.models.minilm.weights import Precision, locate_model

SUFFIXES = (".cs", ".py", ".ts", ".js", ".java", ".go", ".sql", ".md")
PIECE_CHARACTERS = (80, 200, 300, 500, 700, 1000, 1400)  # in turn: about the spread of finder snippets
REPEATS = 3  # in alternation, and the best counts: other processes only ever slow a run down
TARGET = 0.9


@dataclass(frozen=True, slots=True)
class Time:
    wall: float
    cpu: float


def main() -> None:
    """Prints one table."""
    arguments = _arguments()
    contents = list(_contents(arguments.path))
    texts = _pieces(contents, arguments.texts)
    if not texts:
        raise SystemExit(f"no source text ({', '.join(SUFFIXES)}) in {arguments.path}")
    precision = Precision(arguments.precision)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        cache = Path(folder)
        first_load = _time(lambda: MiniLmEmbedder.load(cache, precision))
        load = _time(lambda: MiniLmEmbedder.load(cache, precision))
        files = locate_model()
        tokenizer = WordPieceTokenizer.load(files.tokenizer)
        session = ModelSession.open(files.weights, precision, cache)
        inputs = sorted((tokenizer.model_input(text) for text in texts), key=len, reverse=True)
        bare: list[Time] = []
        stage: list[Time] = []
        count: list[Time] = []
        for _ in range(REPEATS):
            embedder = MiniLmEmbedder.load(cache, precision, threads=arguments.threads)  # no word known yet
            count.append(_time(partial(WordPieceTokenizer.load(files.tokenizer).count, contents)))
            with ThreadPoolExecutor(embedder.threads) as pool:
                bare.append(_time(partial(_run_bare, pool, session, inputs)))
            stage.append(_time(partial(embedder.embed, texts)))
    table = Table("", "texts/s", "tokens/s", "texts/CPU s", title=f"{precision}, {embedder.threads} threads")
    tokens = sum(map(len, inputs))
    for label, times in (("bare onnxruntime, sorted token ids", bare), ("embedding stage, from text", stage)):
        wall, cpu = min(t.wall for t in times), min(t.cpu for t in times)
        table.add_row(label, f"{len(texts) / wall:.1f}", f"{tokens / wall:,.0f}", f"{len(texts) / cpu:.1f}")
    console = Console()
    console.print(f"{len(texts)} texts, {tokens / len(texts):.0f} tokens on average, {arguments.path.name}")
    console.print(table)
    by_wall = min(t.wall for t in bare) / min(t.wall for t in stage)
    by_cpu = min(t.cpu for t in bare) / min(t.cpu for t in stage)
    console.print(f"stage / bare: {by_wall:.0%} by wall time, {by_cpu:.0%} by CPU time (target {TARGET:.0%})")
    characters = sum(map(len, contents))
    console.print(f"count_tokens: {characters / 1e6 / min(t.cpu for t in count):.1f} MB/CPU s, of whole files")
    console.print(f"load: {load.wall:.3f} s; {first_load.wall:.3f} s the first time (imports, hashes, int8 weights)")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--texts", type=int, default=400)
    parser.add_argument("--precision", choices=list(Precision), default=Precision.INT8)
    parser.add_argument("--threads", type=int, default=0, help="0: one per usable core")
    return parser.parse_args()


def _time(work: Callable[[], object]) -> Time:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Time(time.perf_counter() - wall, time.process_time() - cpu)


def _run_bare(pool: ThreadPoolExecutor, session: ModelSession, inputs: list[list[int]]) -> None:
    for _ in pool.map(session.vector, inputs):
        pass


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
