"""Calls that the graph knows of a language without a resolver, beside those of its compiler.

    git clone https://github.com/locustio/locust && cd locust && git checkout 407343d0
    python benchmarks/graph_calls_by_name.py python locust locust --python PEER/bin/python  # PEER/bin/pip install jedi
    python benchmarks/graph_calls_by_name.py typescript redux --modules FOLDER              # npm install typescript@5
    python benchmarks/graph_calls_by_name.py go pocketbase
    python benchmarks/graph_calls_by_name.py java gson gson/src

The last two words are a checkout and a folder of it. Python is resolved by jedi, TypeScript and JavaScript by their
compiler, Go by go/types, Java by javac; packages of others are not installed. A call counts whose target is declared
in the folder. *Recall*: of how many such calls the graph has the right target. *Precision*: of the calls that the graph
has and the peer knows, how many have the target of the peer; those that it finds in another package are wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from rag_assets.contracts.graph import declaration_key, member_keys
from rag_assets.contracts.segment import leaves_of
from rag_assets.graph.extract.calls import call_sites
from rag_assets.languages.call_syntax import syntax_of
from rag_assets.languages.callables import CallableIndex, callables_in
from rag_assets.languages.calling_file import CallingFile
from rag_assets.languages.detection import detect_language
from rag_assets.languages.parsed_file import ParsedFile
from rag_assets.segmentation import segment_file

PEERS = Path(__file__).with_name("peers") / "calls"
Places = dict[str, list[tuple[str, int, int]]]
"""Key of a declaration → (path, first and last line) of its parts."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=("python", "typescript", "go", "java"))
    parser.add_argument("checkout", type=Path)
    parser.add_argument("folder", nargs="?", default=".")
    parser.add_argument("--python", default=sys.executable, help="a Python that has jedi")
    parser.add_argument("--modules", default=".", help="where npm has installed typescript")
    args = parser.parse_args()
    root = args.checkout.resolve()
    commands = {
        "python": [args.python, str(PEERS / "python_calls.py")],
        "typescript": ["node", str(PEERS / "typescript_calls.js")],
        "go": ["go", "run", str(PEERS / "go_calls.go")],
        "java": ["java", str(PEERS / "JavaCalls.java")],
    }
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        modules = {"NODE_PATH": str(Path(args.modules).resolve() / "node_modules")}
        started = time.perf_counter()
        command = [*commands[args.peer], str(root), args.folder, out.name]
        subprocess.run(command, check=True, env={**os.environ, **modules})
        peer_seconds = time.perf_counter() - started
        told = json.loads(Path(out.name).read_text())
    compare(list(files_of(root, args.folder)), told, peer_seconds)


def files_of(root: Path, folder: str) -> Iterator[ParsedFile]:
    for path in sorted((root / folder).rglob("*")):
        relative = path.relative_to(root).as_posix()
        language = detect_language(relative)
        if path.is_file() and syntax_of(language) and "node_modules" not in path.parts:
            text = path.read_text("utf-8", "replace")
            yield ParsedFile(relative, language, text, segment_file(text, relative, language).segments)


def compare(files: list[ParsedFile], told: list[list[object]], peer_seconds: float) -> None:
    started = time.perf_counter()
    known = CallableIndex(one for file in files for one in callables_in(file))
    sites = [
        (file, *site)
        for file in files
        if (syntax := syntax_of(file.language))
        for site in call_sites(CallingFile(file, syntax), known)
    ]
    seconds = time.perf_counter() - started
    places = declared(files)
    by_name: defaultdict[str, list[tuple[str, int, int]]] = defaultdict(list)
    for file in files:
        for one in callables_in(file):
            if one.is_callable:
                by_name[one.name] += [place for place in places[one.key] if place[0] == one.path]
    peer: defaultdict[tuple[str, int, str], list[tuple[list[tuple[str, int]], bool]]] = defaultdict(list)
    for path, line, name, meant, is_known in told:
        own = [(of, at) for of, at in meant if any(is_at(place, of, at) for place in by_name[name])]  # type: ignore
        peer[path, line, name].append((own, is_known))  # type: ignore
    counts: Counter[tuple[str, str]] = Counter()
    for file, _, call, meant, confidence in sites:
        answers = peer.get((file.path, file.lines.line_of(call.at), call.name))
        if not meant or not answers:
            continue
        targets = [target for found, _ in answers for target in found]
        right = any(is_at(place, *target) for one in meant for place in places[one.key] for target in targets)
        if right or targets or any(is_known for _, is_known in answers):
            counts[confidence.value, "right" if right else "wrong"] += 1
    wanted = sum(any(found for found, _ in answers) for answers in peer.values())
    right = sum(count for (_, what), count in counts.items() if what == "right")
    print(f"{len(files)} files, {sum(len(file.text) for file in files) / 1e6:.1f} MB, {wanted} calls of their own")
    print(f"recall {right / max(wanted, 1):.3f}; {seconds:.1f} s, the peer {peer_seconds:.1f} s")
    for confidence in ("resolved", "probable"):
        of = counts[confidence, "right"], counts[confidence, "wrong"]
        print(f"{confidence} {sum(of)}, precision {of[0] / max(sum(of), 1):.3f}")


def declared(files: list[ParsedFile]) -> Places:
    found: defaultdict[str, list[tuple[str, int, int]]] = defaultdict(list)
    for file in files:
        for segment in file.segments:
            own = declaration_key(file.language, segment.symbol, segment.kind, file.path)
            found[own].append((file.path, segment.span.line_start, segment.span.line_end))
            for leaf in leaves_of(segment.members):
                owner = leaf.owner_in(segment.symbol)
                for key in member_keys(file.language, owner, leaf.member):
                    found[key].append((file.path, leaf.member.span.line_start, leaf.member.span.line_end))
    return found


def is_at(place: tuple[str, int, int], path: str, line: int) -> bool:
    return place[0] == path and place[1] <= line <= place[2]


if __name__ == "__main__":
    main()
