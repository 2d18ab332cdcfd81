"""From a C# text to the best tree that can be had of it, and an account of what had to be masked for that.

Only when the grammar reports errors (or misreads an extension block) are masks tried, cheapest first. Each variant
is parsed incrementally from the first tree and keeps every offset. What the grammar cannot parse is most often inside
the body of a member. Blanking the broken bodies leaves a file whose declarations parse clean.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tree_sitter import Node, Tree

from rag_assets.contracts.segment import LineIndex, ParseHealth
from rag_assets.languages.csharp.syntax.lexer import Scan, blank, brackets, scan
from rag_assets.languages.csharp.syntax.masks import (
    Construct,
    Mask,
    directive_masks,
    find_constructs,
    find_extensions,
    in_order,
    masked_text,
    may_hold_extension,
    reparsed,
)
from rag_assets.languages.csharp.syntax.preprocessor import Branch, ConditionalGroup, choose, find_groups
from rag_assets.languages.treesitter.parsing import SourceText, parse

_TOKEN = re.compile(r"[{}()\[\];]|=>|(?<![=!<>+\-*/%&|^])=(?![=>])")
_ENUM_TOKEN = re.compile(r"[{}()\[\];,]")
_TYPE_HEADER = re.compile(
    r"(?<![\w@.])(?:namespace|interface|enum|record\s++(?:class\b|struct\b)?+\s*+@?[^\W\d]"
    r"|(?<!:)(?<!,)(?<![:,]\s)(?:class|struct)(?!\s*+[,{)])|extension\s*+[<(])"
)
_ENUM_HEADER = re.compile(r"(?<![\w@.])enum\s")
_CODE_HEADER = re.compile(
    r"(?:\)|\b(?:get|set|init|add|remove|do|else|try|finally|unsafe|checked|unchecked|switch)|\)\s*+where\b[^{}]*+)\s*\Z"
)


@dataclass(frozen=True, slots=True)
class Region:
    """Code of one member, brackets and operators outside: what may be blanked. `is_expression`: something must stay."""

    start: int
    end: int
    is_expression: bool


def code_regions(code: str) -> list[Region]:
    """The outermost bodies (`{ … }`) and expressions (`=> …;`, `= …;`) of members in `code` (of a Scan), in order.

    Type and namespace bodies and accessor lists are walked through. Linear; a body that is never closed ends it.
    """
    matches = brackets(code)
    regions: list[Region] = []
    in_enum = False
    position = boundary = 0  # `boundary`: where the header of the next declaration begins
    while found := _TOKEN.search(code, position):
        token, start = found.group(), found.start()
        position = found.end()
        if token in (";", "}"):
            boundary = position
            in_enum = in_enum and token == ";"
        elif token in ("(", "["):
            position = matches.get(start, start) + 1
        elif token == "{":
            header = code[boundary:start]
            if not _is_code(header):
                in_enum = _ENUM_HEADER.search(header) is not None
                boundary = position
                continue
            closing = matches.get(start)
            if closing is None:
                break
            regions.append(Region(position, closing, is_expression=False))
            position = boundary = closing + 1
        elif token in ("=>", "="):
            end = _expression_end(code, position, matches, in_enum)
            if code[position:end].strip():
                regions.append(Region(position, end, is_expression=True))
            position = end
    return regions


def _is_code(header: str) -> bool:
    """Whether the brace after `header` opens code: not a type, a namespace or the accessors of a property."""
    if _TYPE_HEADER.search(header):
        return False
    return not header.strip() or _CODE_HEADER.search(header) is not None


def _expression_end(code: str, position: int, matches: dict[int, int], in_enum: bool) -> int:
    """Where an expression ends: at `;` (`,` in an enum) or the enclosing bracket. Brackets in it are jumped over."""
    while found := (_ENUM_TOKEN if in_enum else _TOKEN).search(code, position):
        token = found.group()
        if token in ("{", "(", "["):
            position = matches.get(found.start(), found.start()) + 1
        elif token in (";", ",", "}", ")", "]"):
            return found.start()
        else:
            position = found.end()
    return len(code)


_NOTED_BODIES = 5  # bodies named one by one in the account; more are summed up in one line


@dataclass(frozen=True, slots=True)
class SourceView:
    """One way to read the file: a tree, and the text that facts are read from.

    `text` is the original with directives and dropped `#if` branches blanked and nothing else, as long as the
    original. `extensions`: offset of each masked `extension` keyword → range of its receiver. `dropped`: the
    branches that this view does not see. `errors`: ranges that did not parse, in order. All in characters.
    """

    tree: Tree
    source: SourceText
    text: str
    extensions: dict[int, tuple[int, int]] = field(default_factory=dict)
    dropped: tuple[tuple[int, int, Branch], ...] = ()
    errors: tuple[tuple[int, int], ...] = ()

    @property
    def damage(self) -> int:
        """Characters that did not parse; a missing token counts as one."""
        return sum(max(1, end - start) for start, end in self.errors)


@dataclass(frozen=True, slots=True)
class Parsed:
    """The best view, how good it is, and the view of the other `#if` branches when these may declare more.

    `code` is the Scan of the whole text when the file had to be scanned, else empty.
    """

    view: SourceView
    health: ParseHealth
    masked: tuple[str, ...] = ()
    alternative: SourceView | None = None
    code: str = ""


def parse_csharp(text: str) -> Parsed:
    """Parses `text`, rescuing what `#if` and newer syntax break. UnparseableError if that is out of bounds."""
    # The grammar wants a line end after a directive: without it `#pragma …` as the last line is an error.
    source = SourceText(text if text.endswith("\n") else text + "\n")
    tree = parse("csharp", source)
    plain = SourceView(tree, source, source.text)
    if tree.root_node.has_error:
        return _rescue(replace(plain, errors=find_errors(tree, source)))
    if may_hold_extension(text):
        found = scan(source.text)
        extensions = find_extensions(found.code)
        view = _masked(plain, _Masks(source.text, found.code, constructs=extensions)) if extensions else None
        if view is not None and not view.errors:
            return Parsed(view, ParseHealth.RESCUED, _notes(source, view, extensions), code=found.code)
    return Parsed(plain, ParseHealth.OK)


def find_errors(tree: Tree, source: SourceText) -> tuple[tuple[int, int], ...]:
    """Character ranges of the outermost error nodes and of missing tokens, in order. No recursion."""
    errors: list[tuple[int, int]] = []
    open_nodes: list[Node] = [tree.root_node] if tree.root_node.has_error else []
    while open_nodes:
        node = open_nodes.pop()
        if node.is_error or node.is_missing:
            errors.append((source.char(node.start_byte), source.char(node.end_byte)))
            continue
        inner = [child for child in node.children if child.has_error or child.is_missing]
        if inner:
            open_nodes.extend(reversed(inner))
        else:  # a token that the grammar hides is missing
            errors.append((source.char(node.end_byte),) * 2)
    return tuple(errors)


@dataclass(frozen=True, slots=True)
class _Masks:
    """What one variant masks. `text`, `code`: after conditional masking. `defined`: how conditions were evaluated."""

    text: str
    code: str
    plain: tuple[Mask, ...] = ()
    constructs: list[Construct] = field(default_factory=list)
    dropped: tuple[tuple[int, int, Branch], ...] = ()
    defined: bool | None = None


def _rescue(plain: SourceView) -> Parsed:
    """Tries: conditions with every symbol defined, with none, then without broken bodies. The least damage wins."""
    found = scan(plain.source.text)
    groups = find_groups(found)
    view, masks = plain, _Masks(plain.text, found.code)
    for tried in _attempts(plain.source, found, groups):
        candidate = _masked(plain, tried)
        if candidate.damage < view.damage:
            view, masks = candidate, tried
        if not view.errors:
            break
    notes = _notes(plain.source, view, masks.constructs)
    regions = code_regions(masks.code) if view.errors or view.dropped else []
    if view.errors:
        view, bodies = _without_broken_bodies(plain, view, masks, regions)
        notes += _body_notes(plain.source, bodies)
    alternative = None
    if masks.defined is not None and _may_declare(view, found.code, regions):
        alternative = _skeleton(plain, _masks_of(plain.source, found, groups, not masks.defined))
    health = ParseHealth.PARTIAL if view.errors else ParseHealth.RESCUED
    return Parsed(view, health, notes, alternative, found.code)


def _attempts(source: SourceText, found: Scan, groups: tuple[ConditionalGroup, ...]) -> Iterator[_Masks]:
    """Masks worth trying, in order: directives alone before newer syntax, symbols defined before undefined."""
    for defined in (True, False) if groups else (True,):
        masks = _masks_of(source, found, groups, defined)
        if masks.plain or masks.constructs:
            yield masks
        newer = find_constructs(masks.code)
        if newer:
            yield replace(masks, constructs=[*masks.constructs, *newer])


def _masks_of(source: SourceText, found: Scan, groups: tuple[ConditionalGroup, ...], defined: bool) -> _Masks:
    choice = choose(groups, defined)
    conditional = in_order(
        [*(Mask(*span) for span in choice.directives), *(Mask(start, end) for start, end, _ in choice.dropped)]
    )
    lines, constructs = directive_masks(found)
    code = masked_text(found.code, conditional)
    constructs += find_extensions(code)
    text = masked_text(source.text, conditional)
    return _Masks(text, code, (*conditional, *lines), constructs, choice.dropped, defined)


def _masked(plain: SourceView, masks: _Masks, regions: list[Region] | None = None) -> SourceView:
    """The view with `masks` and, on top, the code of `regions` blanked."""
    bodies = [_region_mask(masks.code, region) for region in regions or ()]
    constructs = (mask for construct in masks.constructs for mask in construct.masks)
    tree = reparsed(plain.source, plain.tree, in_order([*masks.plain, *constructs, *bodies]))
    extensions = {made.at: made.receiver for made in masks.constructs if made.receiver is not None}
    return SourceView(tree, plain.source, masks.text, extensions, masks.dropped, find_errors(tree, plain.source))


def _region_mask(code: str, region: Region) -> Mask:
    if not region.is_expression:
        return Mask(region.start, region.end)
    start = region.end - len(code[region.start : region.end].lstrip())
    return Mask(start, region.end, "x" + blank(code[start + 1 : region.end]))  # an expression must stay one


def _without_broken_bodies(
    plain: SourceView, view: SourceView, masks: _Masks, regions: list[Region]
) -> tuple[SourceView, list[Region]]:
    """`view` with the bodies blanked that hold errors; with all of them when the cause is elsewhere."""
    starts = [start for start, _ in view.errors]
    broken = []
    for region in regions:
        last = bisect_right(starts, region.end) - 1
        if last >= 0 and view.errors[last][1] >= region.start:
            broken.append(region)
    best, blanked = view, list[Region]()
    for attempt in (broken, regions):
        if attempt and best.errors:
            candidate = _masked(plain, masks, attempt)
            if candidate.damage < best.damage:
                best, blanked = candidate, attempt
    return best, blanked


def _may_declare(view: SourceView, code: str, regions: list[Region]) -> bool:
    """Whether a branch that `view` drops may hold a declaration: it is code outside of bodies."""
    starts = [region.start for region in regions]
    for start, end, _ in view.dropped:
        around = bisect_right(starts, start) - 1
        inside = around >= 0 and regions[around].end >= end
        if not inside and not code[start:end].isspace():
            return True
    return False


def _skeleton(plain: SourceView, masks: _Masks) -> SourceView | None:
    """The declarations of a variant, bodies blanked; None unless they parse clean."""
    view = _masked(plain, masks, code_regions(masks.code))
    return None if view.errors else view


def _notes(source: SourceText, view: SourceView, constructs: list[Construct]) -> tuple[str, ...]:
    """What masking removed, in text order: `#if NET20 at 10-14`, `extension block at 30`."""
    lines = source.lines
    noted = [
        (start, f"#{branch.word} {branch.condition}".rstrip() + f" at {_line_range(lines, start, end)}")
        for start, end, branch in view.dropped
        if source.text[start:end].strip()
    ]
    noted += [(made.at, f"{made.what} at {lines.line_of(made.at)}") for made in constructs]
    return tuple(note for _, note in sorted(noted))


def _body_notes(source: SourceText, bodies: list[Region]) -> tuple[str, ...]:
    lines = source.lines
    if len(bodies) <= _NOTED_BODIES:
        return tuple(f"unparsed body at {_line_range(lines, body.start, body.end)}" for body in bodies)
    return (f"{len(bodies)} unparsed bodies at {_line_range(lines, bodies[0].start, bodies[-1].end)}",)


def _line_range(lines: LineIndex, start: int, end: int) -> str:
    span = lines.span(start, end)
    return f"{span.line_start}-{span.line_end}" if span.line_start < span.line_end else f"{span.line_start}"
