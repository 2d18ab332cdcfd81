"""Same-length masks: what the grammar (0.23.5) cannot parse of newer C# is replaced by something that it can.

A mask changes the text, its bytes and the old tree that an incremental parse starts from. Only method bodies and
headers are touched; facts are read from the original text afterwards. All patterns work on the code of a Scan (no
strings, no comments) and are possessive: linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tree_sitter import Point, Tree

from rag_assets.languages.csharp.syntax.lexer import Scan, blank, brackets
from rag_assets.languages.treesitter.parsing import SourceText, parser

MAX_INCREMENTAL_EDITS = 2_000
"""Above this a parse from nothing is cheaper than telling the old tree about every edit (about 10 µs each)."""


@dataclass(frozen=True, slots=True)
class Mask:
    """`text[start:end]` becomes `replacement` of the same length; without one it becomes blanks, line ends kept."""

    start: int
    end: int
    replacement: str = ""


def in_order(masks: Iterable[Mask]) -> list[Mask]:
    """Sorted by position, without masks that overlap an earlier one and without empty ones."""
    ordered: list[Mask] = []
    end = 0
    for mask in sorted(masks, key=lambda mask: (mask.start, -mask.end)):
        if mask.start >= end and mask.end > mask.start:
            ordered.append(mask)
            end = mask.end
    return ordered


def masked_text(text: str, masks: list[Mask]) -> str:
    """`text` with `masks` (from `in_order`) applied; same length."""
    pieces: list[str] = []
    done = 0
    for mask in masks:
        pieces.append(text[done : mask.start])
        pieces.append(mask.replacement or blank(text[mask.start : mask.end]))
        done = mask.end
    pieces.append(text[done:])
    return "".join(pieces)


def reparsed(source: SourceText, tree: Tree, masks: list[Mask]) -> Tree:
    """The tree of `source` with `masks` (from `in_order`) applied; `tree` is the tree of the unmasked source.

    The masked bytes are as long as the original ones (a mask over non-ASCII characters is padded with blanks), so
    byte offsets of the original hold. Incremental: costs a fifth of a parse, and gives the same tree as one.
    """
    old = tree.copy() if len(masks) <= MAX_INCREMENTAL_EDITS else None
    utf8 = _masked_bytes(source.text, masks, old)
    return parser("csharp").parse(utf8, old) if old is not None else parser("csharp").parse(utf8)


def _masked_bytes(text: str, masks: list[Mask], old: Tree | None) -> bytes:
    pieces: list[bytes] = []
    done = at_byte = row = line_start = 0
    for mask in masks:
        between = _encoded(text[done : mask.start])
        covered = _encoded(text[mask.start : mask.end])
        replacement = _encoded(mask.replacement or blank(text[mask.start : mask.end])).ljust(len(covered))
        pieces += (between, replacement)
        row, line_start = _advance(row, line_start, at_byte, between)
        start_byte = at_byte + len(between)
        start = Point(row, start_byte - line_start)
        row, line_start = _advance(row, line_start, start_byte, covered)
        at_byte = start_byte + len(covered)
        end = Point(row, at_byte - line_start)
        if old is not None:
            old.edit(
                start_byte=start_byte,
                old_end_byte=at_byte,
                new_end_byte=at_byte,
                start_point=start,
                old_end_point=end,
                new_end_point=end,
            )
        done = mask.end
    pieces.append(_encoded(text[done:]))
    return b"".join(pieces)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _advance(row: int, line_start: int, offset: int, piece: bytes) -> tuple[int, int]:
    newlines = piece.count(b"\n")
    return (row + newlines, offset + piece.rfind(b"\n") + 1) if newlines else (row, line_start)


_EXTENSION = re.compile(r"[{};\]]\s*+(extension)\s*+(<[\w\s,@\[\].]*+>\s*+)?\(")
_EXTENSION_BODY = re.compile(r"\s*+(?:where\b[^;{}]*+)?\{")
_MAYBE_EXTENSION = re.compile(r"extension\s*+[<(]")  # begins with a literal: fast on every file
_BEFORE_EXTENSION = frozenset(" \t\r\n{};]/")
_IDENTIFIER = re.compile(r"@?\w+")
_ALLOWS = re.compile(r"\b(allows\s++ref)\s++struct\b")
_REF_PARTIAL = re.compile(r"\b(ref)\s++partial\s++struct\b")
_COMPOUND_OPERATOR = re.compile(r"\boperator\b\s*+(?:checked\b\s*+)?+(?:>>>|>>|<<|[+\-*/%&|^])(=)\s*+\(")
_LAMBDA_PARAMETERS = re.compile(r"\(([\w\s,@]*+)\)\s*+=>")
_UNTYPED_WITH_MODIFIER = re.compile(r"\s*+((?:(?:ref|out|in|scoped|params|readonly)\s++(?=\w|@))*+)@?\w++\s*\Z")
_CONDITIONAL_ACCESS = re.compile(r"(?<=[\w)\]\"!])\s*+\?(?=\s*+\.\s*+[A-Za-z_@])|(?<=[\w)\]\"!])\?(?=\[)")
_CHAIN_LINK = re.compile(r"\s*+(?:\??+\s*+\.\s*+@?\w++|\??+([\[(])|!(?!=))")
_ASSIGNMENT = re.compile(r"\s*+(?:=(?![=>])|(?:[+\-*/%&|^]|<<|>>>|>>|\?\?)=)")

_MODIFIER = "new"  # as long as `ref`, and a modifier where the grammar wants one
_STRUCT = "struct ee"  # as long as `extension`; the name never shows, the node is known by its offset
_IGNORED_DIRECTIVES = frozenset({":", "!", "r", "load"})  # file-based programs and scripts
_KEPT_DIRECTIVES = frozenset({"if", "elif", "else", "endif", "region", "endregion"})


@dataclass(frozen=True, slots=True)
class Construct:
    """One construct: what it is, the offset it is at, and the masks that hide it."""

    what: str
    at: int
    masks: tuple[Mask, ...]
    receiver: tuple[int, int] | None = None  # of an extension block: the range between its parentheses


def may_hold_extension(text: str) -> bool:
    """Whether an extension block may be there: with methods only, the grammar takes it for a constructor, silently."""
    return any(text[m.start() - 1 : m.start()] in _BEFORE_EXTENSION for m in _MAYBE_EXTENSION.finditer(text))


def find_constructs(code: str) -> list[Construct]:
    """Unsupported constructs in `code` (of a Scan, after `#if` masking) but extension blocks. Masks never overlap."""
    found = [Construct("allows ref struct", m.start(1), (Mask(*m.span(1)),)) for m in _ALLOWS.finditer(code)]
    found += [
        Construct("ref partial struct", m.start(1), (Mask(*m.span(1), _MODIFIER),)) for m in _REF_PARTIAL.finditer(code)
    ]
    found += [
        Construct("compound assignment operator", m.start(), (Mask(*m.span(1)),))
        for m in _COMPOUND_OPERATOR.finditer(code)
    ]
    found += _lambdas(code)
    if _CONDITIONAL_ACCESS.search(code):
        found += _conditional_assignments(code, brackets(code))
    return found


def find_extensions(code: str) -> list[Construct]:
    """The extension blocks of `code`."""
    if not may_hold_extension(code):
        return []
    matches = brackets(code)
    return [made for m in _EXTENSION.finditer(code) if (made := _extension(code, m, matches)) is not None]


def directive_masks(found: Scan) -> tuple[list[Mask], list[Construct]]:
    """Masks for directives that hold no code (pragma, line …); those of file-based programs count as constructs."""
    masks, constructs = [], []
    for directive in found.directives:
        is_shebang = directive.word == "!" and directive.start == 0
        if is_shebang or directive.word in _KEPT_DIRECTIVES:
            continue
        mask = Mask(directive.start, directive.end)
        if directive.word in _IGNORED_DIRECTIVES:
            constructs.append(Construct(f"#{directive.word} directive", directive.start, (mask,)))
        else:
            masks.append(mask)
    return masks, constructs


def _extension(code: str, found: re.Match[str], matches: dict[int, int]) -> Construct | None:
    opening = found.end() - 1
    closing = matches.get(opening)
    if closing is None or _EXTENSION_BODY.match(code, closing + 1) is None:
        return None
    receiver = code[opening + 1 : closing]
    if not receiver.strip():
        return None  # a constructor of a class called extension
    masks = [Mask(*found.span(1), _STRUCT)]
    words = receiver.split()
    if len(words) < 2 or _IDENTIFIER.fullmatch(words[-1]) is None:  # a type alone: the grammar wants a name
        masks.append(Mask(opening, closing + 1))
    return Construct("extension block", found.start(1), tuple(masks), (opening + 1, closing))


def _lambdas(code: str) -> list[Construct]:
    """`(text, out r) =>`: modifiers on parameters without types."""
    found = []
    for candidate in _LAMBDA_PARAMETERS.finditer(code):
        start = candidate.start(1)
        masks: list[Mask] = []
        for parameter in candidate.group(1).split(","):
            shape = _UNTYPED_WITH_MODIFIER.match(parameter)
            if shape is None:
                masks.clear()
                break
            if shape.group(1):
                masks.append(Mask(start + shape.start(1), start + shape.end(1)))
            start += len(parameter) + 1
        if masks:
            found.append(Construct("lambda parameter modifier", candidate.start(), tuple(masks)))
    return found


def _conditional_assignments(code: str, matches: dict[int, int]) -> list[Construct]:
    """`a?.b.c = 1`: the question marks of a chain that ends in an assignment."""
    found = []
    done = 0
    for access in _CONDITIONAL_ACCESS.finditer(code):
        position = access.end() - 1
        if position < done:
            continue
        marks: list[Mask] = []
        while link := _CHAIN_LINK.match(code, position):
            mark = code.find("?", position, link.end())
            if mark != -1:
                marks.append(Mask(mark, mark + 1))
            position = link.end()
            if link.group(1):
                closing = matches.get(position - 1)
                if closing is None:
                    break
                position = closing + 1
        done = position
        if marks and _ASSIGNMENT.match(code, position):
            found.append(Construct("null-conditional assignment", marks[0].start, tuple(marks)))
    return found
