"""Declarations found by patterns beside those of the grammars of tree-sitter, for languages without a grammar here.

    python -m venv peer
    peer/bin/pip install tree-sitter tree-sitter-{rust,cpp,ruby,php,kotlin,swift,scala,lua,powershell}
    python benchmarks/declarations.py --peer-python peer/bin/python REPOSITORY…

A repository is a git directory, bare or with a work tree, read at its head. Names are compared file by file as sets:
types, functions, methods, constructors and macros with parameters; local functions and tests that a macro declares are
left out. Files whose tree has errors are compared too. The table says for how many names of the grammar a pattern found
one (recall), how many of those found the grammar has (precision), and how fast both are, reading included.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

_BODY = {"function_body", "compound_statement", "block", "body_statement", "template_body", "code_block"}

_GRAMMARS: dict[str, tuple[str, str, set[str], set[str]]] = {
    # language: wheel, its function, nodes of types and namespaces, nodes of functions
    "c": (
        "cpp", "language", {"class_specifier", "struct_specifier", "enum_specifier"},
        {"function_definition", "function_declarator", "preproc_function_def"},
    ),
    "kotlin": ("kotlin", "language", {"class_declaration", "object_declaration"}, {"function_declaration"}),
    "lua": ("lua", "language", set(), {"function_declaration"}),
    "php": (
        "php", "language_php", {"class_declaration", "interface_declaration", "trait_declaration", "enum_declaration"},
        {"function_definition", "method_declaration"},
    ),
    "powershell": ("powershell", "language", {"class_statement"}, {"function_statement"}),
    "ruby": ("ruby", "language", {"class"}, {"method", "singleton_method"}),
    "rust": (
        "rust", "language", {"struct_item", "enum_item", "trait_item", "union_item"},
        {"function_item", "function_signature_item", "macro_definition"},
    ),
    "scala": (
        "scala", "language", {"class_definition", "trait_definition", "object_definition"},
        {"function_definition", "function_declaration"},
    ),
    "swift": (
        "swift", "language", {"class_declaration", "protocol_declaration"},
        {"function_declaration", "protocol_function_declaration"},
    ),
}  # fmt: skip
_GRAMMARS["cpp"] = _GRAMMARS["c"]
_UNNAMED = {"swift": {"init", "deinit", "subscript"}, "kotlin": {"constructor", "init", "companion"}}
"""What the node of a function does not name, and a pattern does."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer-python", help="a Python that has the grammars")
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("repositories", nargs="*", type=Path)
    args = parser.parse_args()
    if args.peer:
        for line in sys.stdin:
            language, text = json.loads(line)
            started = time.perf_counter()
            names = sorted(set(_of_grammar(language, text)))
            print(json.dumps([names, time.perf_counter() - started]), flush=True)
        return
    if not args.peer_python or not args.repositories:
        parser.error("name --peer-python and at least one repository")
    _compare(args.peer_python, args.repositories)


def _of_grammar(language: str, text: str) -> Iterator[str]:
    from importlib import import_module

    from tree_sitter import Language, Parser

    wheel, function, types, functions = _GRAMMARS[language]
    grammar = Language(getattr(import_module(f"tree_sitter_{wheel}"), function)())
    waiting = [Parser(grammar).parse(text.encode()).root_node]
    while waiting:
        node = waiting.pop()
        if node.type in functions:
            yield from _name(node)
            continue
        if node.type in types and (wheel != "cpp" or node.child_by_field_name("body")):
            yield from _name(node)
        if node.type in _BODY and node.parent is not None and node.parent.type in functions:
            continue
        waiting.extend(node.named_children)


def _name(node: Any) -> Iterator[str]:
    """The last identifier of the name of a declaration."""
    named = node.child_by_field_name("name") or node.child_by_field_name("declarator")
    while named is not None and named.child_by_field_name("declarator") is not None:
        named = named.child_by_field_name("declarator")
    if named is None:
        kinds = ("simple_identifier", "identifier", "type_identifier", "function_name", "simple_name", "operator_name")
        named = next((child for child in node.named_children if child.type in kinds), None)
    if named is not None and named.type not in ("user_type", "array_type", "optional_type"):
        yield _last(named.text.decode("utf-8", "replace"))


def _last(name: str) -> str:
    for separator in ("::", ".", ":"):
        name = name.rpartition(separator)[2] or name
    return "".join(name.split()).strip("`")


def _compare(peer_python: str, repositories: list[Path]) -> None:
    from rag_assets.languages.detection import detect_language
    from rag_assets.segmentation import segment_file

    peer = subprocess.Popen(
        [peer_python, __file__, "--peer"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    assert peer.stdin and peer.stdout
    counts: defaultdict[str, list[float]] = defaultdict(lambda: [0] * 7)
    for repository in repositories:
        for path, text in _files(repository):
            language = detect_language(path)
            if language not in _GRAMMARS:
                continue
            peer.stdin.write(json.dumps([language, text]) + "\n")
            peer.stdin.flush()
            answered, seconds = json.loads(peer.stdout.readline())
            started = time.perf_counter()
            found = {_last(name) for name in _of_segments(segment_file(text, path, language).segments)}
            own = time.perf_counter() - started
            expected = set(answered)
            found = {name for name in found if "," not in name and name not in _UNNAMED.get(language, ())}
            row = (1, len(text), len(expected & found), len(expected), len(found), own, seconds)
            counts[language] = [total + value for total, value in zip(counts[language], row, strict=True)]
    peer.stdin.close()
    print("language      files     MB   names  recall  precision   MB/s  grammar")
    for language, (files, size, both, expected, found, own, other) in sorted(counts.items()):
        print(
            f"{language:12} {files:6.0f} {size / 1e6:6.2f} {expected:7.0f} {both / max(expected, 1):7.3f} "
            f"{both / max(found, 1):10.3f} {size / 1e6 / own:6.1f} {size / 1e6 / other:8.1f}"
        )


def _of_segments(segments: Iterable[Any]) -> Iterator[str]:
    for segment in segments:
        if segment.kind not in ("module", "file", "namespace", "impl", "extension"):
            yield segment.name
        yield from _of_members(segment.members)


def _of_members(members: Iterable[Any]) -> Iterator[str]:
    for member in members:
        if member.kind in ("function", "method", "constructor") or (
            member.kind == "type" and member.type != "namespace"
        ):
            yield member.name
        yield from _of_members(member.members)


def _files(repository: Path) -> Iterator[tuple[str, str]]:
    git = ["git", "--git-dir", str(repository if (repository / "HEAD").exists() else repository / ".git")]
    listed = subprocess.run([*git, "ls-tree", "-r", "-z", "--name-only", "HEAD"], capture_output=True, check=True)
    for path in listed.stdout.decode("utf-8", "replace").split("\0"):
        if path.rpartition(".")[2] not in ("zsh", "fish", ""):
            shown = subprocess.run([*git, "show", f"HEAD:{path}"], capture_output=True, check=False)
            yield path, shown.stdout.decode("utf-8", "replace").replace("\r\n", "\n")


if __name__ == "__main__":
    main()
