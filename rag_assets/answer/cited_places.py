"""Citations of places in any document (`src/A.cs:12-40@1a2b3c4d5e`), and whether these lines say what it says of them.

Sentences and quotes are those of `citations`, and quotes are compared as there: character by character, blanks aside. A
quote belongs to the places of its sentence, and a code block or block quote to the sentence before it, or after it
where that one begins with a place (docs/decisions/0036-cited-places.md).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import unquote

from rag_assets.answer.citations import LEAST_ALIKE, Sentence, likeness, lines_quoted, quotes_of, sentences
from rag_assets.contracts.evidence import lines_of
from rag_assets.contracts.retrieval import Mode
from rag_assets.errors import MissingCommit, PlaceError, QueryError, RagAssetsError
from rag_assets.languages.detection import TEXT, detect_language
from rag_assets.search.line_references import sections_of
from rag_assets.search.source_lines import FileText, SourceReader

if TYPE_CHECKING:
    from rag_assets.search.index import LabelIndex

_RANGE = r"(?P<start>\d{1,7})(?:-(?P<end>\d{1,7}))?(?:@(?P<commit>[0-9a-f]{7,64}))?(?![\w-])"
_ROUTE_PART = r"(?<=/)(?:\([\w.-]+\)|\[{1,2}[\w.-]+\]{1,2})(?=[/.])"
"""Of a path, a folder or a file as Next.js calls groups and parameters of routes: `app/(shop)/[id]/page.tsx`."""
_PLACE = re.compile(rf"(?<![\w/\\.:@-])(?P<path>(?:[A-Za-z]:)?(?:[\w.@+~$/\\-]|{_ROUTE_PART})*[\w$~-]):{_RANGE}")
_LINK = re.compile(
    r"\[(?P<text>[^\]\n]*)\]\(\s*(?:<(?P<pointed>[^>\n]+)>|(?P<plain>[^()\s]*(?:\([^()\s]*\)[^()\s]*)*))"
    r"(?:\s+\"[^\"\n]*\")?\s*\)"
)
_TARGET = re.compile(rf"(?P<path>[^#?]+?):{_RANGE}")
_ANCHORED = re.compile(r"(?P<path>[^#]+?)#L(?P<start>\d{1,7})(?:C\d+)?(?:-L?(?P<end>\d{1,7})(?:C\d+)?)?")
_FORGE = re.compile(r"(?P<repository>.+?)/(?:-/)?(?:blob|src|raw)/(?:commit/|branch/)?(?P<ref>[^/]+)/(?P<path>.+)")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_URL_IN_TEXT = re.compile(r"\bhttps?://[^\s<>()\[\]`\"']+")
_FENCE = re.compile(r"^[ \t]*(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)$", re.MULTILINE)
_NUMBERED_FENCE = re.compile(r"\s*(?P<start>\d{1,7}):(?P<end>\d{1,7}):(?P<path>\S+)")
"""```` ```12:40:src/A.cs ````, as some assistants write it."""
_BLOCK = r"^[ \t]*(?P<mark>`{{3,}}|~{{3,}})[ \t]*{}[^\n]*\n.*?(?:^[ \t]*(?P=mark)|\Z)"
_CODE_BLOCK = re.compile(_BLOCK.format(""), re.MULTILINE | re.DOTALL)
_COMMANDS = re.compile(_BLOCK.format(r"(?:sh|bash|zsh|shell|console|powershell|cmd)\b"), re.MULTILINE | re.DOTALL)
"""What a reader shall type quotes no source."""

_HOSTS = frozenset({TEXT, "org"})
"""Languages whose suffix a host may have: `example.org:443`."""

_DESCRIPTION = re.compile(r"\s*Description of\b")
"""How `ask` begins what it quotes of a description."""

_HEX = re.compile(r"[0-9a-f]{7,64}")
_LINKING = r"(?:[\s(\[,:;=–—-]|\b(?:in|at|of|from|is|see|file|line|lines|declared|defined|found|lives|implemented)\b)*"
_NAMED_BEFORE = re.compile(
    rf"(?:`(?P<code>[^`\n]+)`|\*\*`?(?P<bold>[^*`\n]+)`?\*\*|(?P<word>[A-Za-z_][\w.]*)(?=\s+(?:in|at)\b)){_LINKING}[`\[]?$"
)
_OPENING = re.compile(r"[\s*>#-]*(?:\d+[.)]\s*)?(?:(?:description|members) of|the)?\s*", re.IGNORECASE)
"""Before a name without code marks that a place is of: elsewhere it is the object of a sentence (`A calls B in …`)."""
_SAID_AFTER = re.compile(r"[`\])]*\s*[:(–—-]\s*`(?P<code>[^`\n]+)`")
_UP_TO_QUOTE = re.compile(r"[`\])]*[\s:,(–—-]*(?:\b(?:says|reads|has)\b[\s:]*)?[“\"„`]")
_SYMBOL = re.compile(r"@?[A-Za-z_][\w]*(?:(?:\.|::|#)[A-Za-z_]\w*)*(?:<[\w\s,.<>]*>)?(?:\([\w\s,.<>\[\]?]*\))?")
_CALL = re.compile(r"(?P<name>[A-Za-z_][\w.]*)\(.*\)")
_TELLING_WORD = re.compile(r"[A-Z]\w*[a-z]\w*[A-Z]\w*|I[A-Z][a-z]\w*|\w+\.\w[\w.]*|[a-z]+[A-Z]\w*|\w+_\w+")
_BEGINS = re.compile(
    r"[\s*_(>\[]*(?P<says>(?:[–—-]\s|(?:source|from|quelle)\b:?)?)\s*(?:see|in|file)?\s*[`\[(]*", re.IGNORECASE
)
_IS_CODE = re.compile(r"[(){};=<>\[\]\"]")
"""What a code span before a place has that quotes it; others are commands and options."""
_IS_SAID = re.compile(r".{4}")
_BESIDE = 300  # characters
_NEAR_FILES = 5
_DIGITS = 10


class PlaceProblem(StrEnum):
    """What is wrong with a citation of a place."""

    NO_FILE = "no such file"
    NO_LINES = "lines out of range"
    NO_COMMIT = "no such commit"
    UNREADABLE = "cannot be read"
    NOT_QUOTED = "quote is not on these lines"
    ALTERED_QUOTE = "altered quote"
    NOT_NAMED = "symbol is not at these lines"


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedPlace:
    """A place as a document names it: `line` of the document, `written` there. `symbol` is the name that the document
    gives it and `quotes` the words that it takes from there, or from the description of them; '' and none where it does
    neither. Places of one `sentence` share its quotes; `before` are those that stand right behind this place. `paths`
    are what the path can mean, the likeliest first."""

    line: int
    written: str
    paths: tuple[str, ...]
    start: int
    end: int
    commit: str = ""
    symbol: str = ""
    quotes: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    of_description: bool = False
    sentence: int = -1


@dataclass(frozen=True, slots=True)
class CheckedPlace:
    """A cited place and what the check says: '' where it holds. `detail` says why, `now` where the quote or the symbol
    is instead, as a place."""

    cited: CitedPlace
    path: str
    problem: PlaceProblem | None = None
    detail: str = ""
    now: str = ""


@dataclass(frozen=True, slots=True)
class _Mention:
    """A place in a text: `text[begin:stop]`, with the text of the link that leads there."""

    begin: int
    stop: int
    paths: tuple[str, ...]
    start: int
    end: int
    commit: str
    name: str = ""


def cited_places(
    text: str, folder: str = "", remote: str = "", root: str = "", spaced: Sequence[str] = ()
) -> list[CitedPlace]:
    """The places that a document cites, in their order. `folder` is where the document is in the repository, which
    links start from; `root` where the repository is on this machine, `remote` its URL: links to its files there are
    places too. `spaced` are its paths that have blanks: no grammar tells these from the words before them."""
    mentions = sorted(_mentions(text, folder, remote, root, spaced), key=lambda one: one.begin)
    parts = [one for one in sentences(text) if not one.is_heading]
    return [_cited(one, text, parts, mentions) for one in mentions]


def _cited(mention: _Mention, text: str, parts: Sequence[Sentence], mentions: Sequence[_Mention]) -> CitedPlace:
    at = next((number for number, one in enumerate(parts) if one.start <= mention.begin < one.end), -1)
    quotes = _quotes(parts, at, text, mentions) if at >= 0 else []
    symbol = mention.name if _SYMBOL.fullmatch(mention.name) and _is_telling(mention.name, mention) else ""
    before = _NAMED_BEFORE.search(text[: mention.begin].rpartition("\n")[2][-_BESIDE:])
    opens = before is not None and _OPENING.fullmatch(before.string, 0, before.start()) is not None
    after = _SAID_AFTER.match(text[mention.stop : mention.stop + _BESIDE].partition("\n")[0])
    for span, is_quote in (
        (before["code"] if before else None, _IS_CODE),
        (before["bold"] if before and opens else None, None),
        (before["word"] if before and opens and _TELLING_WORD.fullmatch(before["word"] or "") else None, None),
        (after["code"] if after else None, _IS_SAID),
    ):
        if span is None or not _is_telling(span, mention):
            continue
        call = _CALL.fullmatch(span)
        if call is not None or _SYMBOL.fullmatch(span):
            symbol = symbol or (call["name"] if call is not None else span)
        elif is_quote is not None and is_quote.search(span):
            quotes.append(span)
    said = _UP_TO_QUOTE.match(text, mention.stop)
    return CitedPlace(
        line=text.count("\n", 0, mention.begin) + 1,
        written=text[mention.begin : mention.stop],
        paths=mention.paths,
        start=mention.start,
        end=mention.end,
        commit=mention.commit,
        symbol=symbol,
        quotes=tuple(dict.fromkeys(quotes)),
        before=tuple(quote for quote in quotes if said and text.startswith(quote, said.end())),
        of_description=at >= 0 and _DESCRIPTION.match(parts[at].text) is not None,
        sentence=at,
    )


def _is_telling(name: str, mention: _Mention) -> bool:
    """Whether a name says more than the path does."""
    return not any(path.endswith(name.strip()) for path in mention.paths)


def _quotes(parts: Sequence[Sentence], at: int, text: str, mentions: Sequence[_Mention]) -> list[str]:
    """The quotes of a sentence, but for a block that the next sentence gives the source of; and the block before it
    where it gives the source of that."""
    own = parts[at].text
    if at + 1 < len(parts) and _is_block(own) and _gives_source(parts, at + 1, text, mentions):
        own = _without_blocks(own)
    quotes = quotes_of(_COMMANDS.sub("", own))
    if at and _is_block(parts[at - 1].text) and _gives_source(parts, at, text, mentions):
        before = parts[at - 1].text
        inline = set(quotes_of(_without_blocks(before)))
        quotes += [quote for quote in quotes_of(_COMMANDS.sub("", before)) if quote not in inline]
    return quotes


def _gives_source(parts: Sequence[Sentence], at: int, text: str, mentions: Sequence[_Mention]) -> bool:
    """Whether a sentence gives the source of the block before it: it begins with a place, and says so or the sentence
    with the block has no place of its own."""
    own, before = parts[at], parts[at - 1]
    first = next((known for known in mentions if own.start <= known.begin < own.end), None)
    begins = _BEGINS.fullmatch(text[own.start : first.begin]) if first is not None else None
    if begins is None:
        return False
    return bool(begins["says"]) or not any(before.start <= known.begin < before.end for known in mentions)


def _without_blocks(text: str) -> str:
    return re.sub(r"^[ \t]*>.*$", "", _CODE_BLOCK.sub("", text), flags=re.MULTILINE)


def _is_block(text: str) -> bool:
    return _FENCE.search(text) is not None or text.lstrip().startswith(">") or "\n>" in text


def _mentions(text: str, folder: str, remote: str, root: str, spaced: Sequence[str]) -> Iterator[_Mention]:
    fenced = list(_fences(text))
    bodies = [(body, stop) for _, body, stop in fenced]
    for info, body, _ in fenced:
        numbered = _NUMBERED_FENCE.match(text, info, body)
        if numbered:
            start, end = int(numbered["start"]), int(numbered["end"])
            yield _Mention(numbered.start(), numbered.end(), _paths(numbered["path"], folder, root), start, end, "")
    taken: list[tuple[int, int]] = []
    for link in _LINK.finditer(text):
        if _inside(link.start(), bodies):
            continue
        taken.append(link.span())
        target = unquote(link["pointed"] or link["plain"] or "")
        found = _of_target(target, folder, remote, root)
        if found is not None:
            paths, start, end, commit = found
            yield _Mention(*link.span(), paths, start, end, commit, link["text"].strip("`* "))
    for url in _URL_IN_TEXT.finditer(text):
        if not _inside(url.start(), bodies) and not _inside(url.start(), taken):
            taken.append(url.span())
            found = _of_target(unquote(url.group().rstrip(".,;")), folder, remote, root)
            if found is not None:
                paths, start, end, commit = found
                yield _Mention(*url.span(), paths, start, end, commit)
    for place in _spaced(spaced).finditer(text) if spaced else ():
        if not _inside(place.start(), bodies) and not _inside(place.start(), taken):
            taken.append(place.span())
            start = int(place["start"])
            yield _Mention(*place.span(), (place["path"],), start, int(place["end"] or start), place["commit"] or "")
    for place in _PLACE.finditer(text):
        if (
            _inside(place.start(), bodies)
            or _inside(place.start(), taken)
            or not _is_file(place["path"], place["commit"])
        ):
            continue
        start = int(place["start"])
        yield _Mention(
            *place.span(), _paths(place["path"], folder, root), start, int(place["end"] or start), place["commit"] or ""
        )


def _spaced(paths: Sequence[str]) -> re.Pattern[str]:
    longest_first = sorted(paths, key=lambda path: (-len(path), path))
    return re.compile(rf"(?P<path>{'|'.join(map(re.escape, longest_first))}):{_RANGE}")


def _fences(text: str) -> Iterator[tuple[int, int, int]]:
    """(where its info begins, where its code begins, where it ends) of each code block."""
    opened: re.Match[str] | None = None
    for mark in _FENCE.finditer(text):
        if opened is None:
            opened = mark
        elif mark["mark"].startswith(opened["mark"]) and not mark["info"].strip():
            yield opened.start("info"), opened.end(), mark.end()
            opened = None
    if opened is not None:
        yield opened.start("info"), opened.end(), len(text)


def _inside(at: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(begin <= at < stop for begin, stop in spans)


def _is_file(path: str, commit: str | None) -> bool:
    """Whether a word before a number is a file, and not a host with its port or a package with its version."""
    name = path.replace("\\", "/").rpartition("/")[2]
    dotted = re.search(r"\.[A-Za-z]\w*$", name) is not None
    return bool(commit) or (dotted and "/" in path) or detect_language(name) not in _HOSTS


def _of_target(target: str, folder: str, remote: str, root: str) -> tuple[tuple[str, ...], int, int, str] | None:
    """(paths, first line, last line, commit) of the target of a link; None for one without lines."""
    is_url = _URL.match(target) is not None
    found = _ANCHORED.fullmatch(target) or (None if is_url else _TARGET.fullmatch(target))
    if found is None:
        return None
    start = int(found["start"])
    end = int(found["end"] or start)
    commit = (found["commit"] if "commit" in found.re.groupindex else "") or ""
    if not is_url:
        return _paths(found["path"], folder, root, is_link=True), start, end, commit
    forge = _FORGE.fullmatch(found["path"])
    if forge is None or not remote or _bare(forge["repository"]) != _bare(remote):
        return None
    return (forge["path"],), start, end, forge["ref"] if _HEX.fullmatch(forge["ref"]) else ""


def _bare(remote: str) -> str:
    """`host/owner/name` of a URL or an address as ssh has it."""
    address = _URL.sub("", remote).rpartition("@")[2].replace(":", "/", 1 if "://" not in remote else 0)
    return address.lower().strip("/").removesuffix(".git")


def _paths(written: str, folder: str, root: str, *, is_link: bool = False) -> tuple[str, ...]:
    """What a path can mean: from the folder of the document, as links do, and from the root of the repository."""
    path = written.replace("\\", "/")
    if root and path.startswith(f"{root}/"):
        return (path.removeprefix(f"{root}/"),)
    if path.startswith("/"):
        return (path.lstrip("/"), path) if is_link else (path,)
    beside = posixpath.normpath(posixpath.join(folder, path))
    root = posixpath.normpath(path)
    return tuple(dict.fromkeys((beside, root) if is_link else (root, beside)))


class PlaceChecker:
    """Checks the places of documents against one index. `root` is where its repository is on this machine, if it is."""

    def __init__(self, index: LabelIndex, root: str = "") -> None:
        self._index = index
        self._root = root
        self._reader = SourceReader(index)
        self._spaced = [path for path in self._reader.known_paths() if " " in path]

    def check(self, text: str, folder: str = "") -> list[CheckedPlace]:
        """What becomes of every place that a document cites."""
        places = cited_places(text, folder, self._index.manifest.remote_url, self._root, self._spaced)
        files = [self._found(place) for place in places]
        said: dict[tuple[int, str], bool] = {}
        blamed: dict[tuple[int, str], CitedPlace] = {}
        for place, file in zip(places, files, strict=True):
            if isinstance(file, FileText):
                lines = self._described(place, file) if place.of_description else file.cut(place.start, place.end)
                for quote in place.quotes:
                    held = said.get((place.sentence, quote), False)
                    facts = quote.split(" … ") if place.of_description else [quote]  # in any order
                    is_here = all(lines_quoted(fact, lines) is not None for fact in facts)
                    said[place.sentence, quote] = held or is_here
                    first = blamed.setdefault((place.sentence, quote), place)
                    if quote in place.before and quote not in first.before:
                        blamed[place.sentence, quote] = place
        wrong: dict[int, list[str]] = {}
        for (sentence, quote), place in blamed.items():  # told of one place of the sentence alone
            if not said[sentence, quote]:
                wrong.setdefault(id(place), []).append(quote)
        return [
            file if isinstance(file, CheckedPlace) else self._checked(place, file, wrong.get(id(place), ()))
            for place, file in zip(places, files, strict=True)
        ]

    def _described(self, cited: CitedPlace, file: FileText) -> str:
        """What the index says of the symbols whose sections are on the lines of a place."""
        sections = sections_of([file.path], self._index.parts.shard(), self._index.scope())
        payloads = sorted(sections.values(), key=lambda known: known["CharStart"])
        symbols = {one["Symbol"] for one in payloads if one["StartLine"] <= cited.end and cited.start <= one["EndLine"]}
        inside = tuple(f"{symbol}." for symbol in symbols)
        there = [one for one in payloads if one["Symbol"] in symbols or one["Symbol"].startswith(inside)]
        texts = [[known["FinderSnippet"], self._index.description(known["DescriptionBlobUri"])] for known in there]
        return "\n\n".join(text for texts_of_one in texts for text in texts_of_one)

    def _found(self, cited: CitedPlace) -> FileText | CheckedPlace:
        """The file of a place that has its lines, or what is wrong."""
        try:
            file = self._file(cited)
        except MissingCommit as error:
            return CheckedPlace(cited, cited.paths[0], PlaceProblem.NO_COMMIT, str(error))
        except PlaceError as error:
            hint = str(error).rpartition("; ")[2]
            return CheckedPlace(cited, cited.paths[0], PlaceProblem.NO_FILE, hint, self._now(cited, None))
        except RagAssetsError as error:
            return CheckedPlace(cited, cited.paths[0], PlaceProblem.UNREADABLE, str(error))
        count = len(file.lines)
        if not 1 <= cited.start <= cited.end <= count:
            detail = f"the file has {count:,} line{'s' * (count != 1)}"
            return CheckedPlace(cited, file.path, PlaceProblem.NO_LINES, detail, self._now(cited, file))
        return file

    def _checked(self, cited: CitedPlace, file: FileText, wrong: Sequence[str]) -> CheckedPlace:
        lines = file.cut(cited.start, cited.end)
        for quote in wrong:
            altered = likeness(quote, lines) >= LEAST_ALIKE
            problem = PlaceProblem.ALTERED_QUOTE if altered else PlaceProblem.NOT_QUOTED
            return CheckedPlace(cited, file.path, problem, _shown(quote), self._where_quoted(quote, file))
        if cited.symbol and not _names(file, cited):
            now = self._declared(cited.symbol, file)
            return CheckedPlace(cited, file.path, PlaceProblem.NOT_NAMED, cited.symbol, now)
        return CheckedPlace(cited, file.path)

    def _file(self, cited: CitedPlace) -> FileText:
        """The file as the citation names it, by the first of its readings that is there."""
        first: QueryError | None = None
        for path in cited.paths:
            try:
                return self._reader.file(self._reader.path(path), commit=cited.commit)
            except QueryError as error:
                first = first or error
        assert first is not None
        if isinstance(first, PlaceError):
            raise first
        raise PlaceError(str(first)) from first

    def _now(self, cited: CitedPlace, file: FileText | None) -> str:
        """Where the first quote is that is somewhere, else where the symbol is declared."""
        where = next(filter(None, (self._where_quoted(quote, file) for quote in cited.quotes)), "")
        return where or (self._declared(cited.symbol, file) if cited.symbol else "")

    def _where_quoted(self, quote: str, file: FileText | None) -> str:
        """The place that has a quote: in this version of the file, else in the index; '' where none is found."""
        try:
            hits = self._index.search(" ".join(quote.split()), literal=True, limit=_NEAR_FILES, mode=Mode.BM25).hits
        except QueryError:  # no word in it
            hits = ()
        for near in (file, *dict.fromkeys(hit.path for hit in hits)):
            try:
                known = self._reader.file(near) if isinstance(near, str) else near
            except RagAssetsError:
                continue
            found = lines_quoted(quote, "\n".join(known.lines)) if known is not None else None
            if known is not None and found is not None:
                return _place(known, *found)
        return ""

    def _declared(self, symbol: str, file: FileText | None) -> str:
        """Where a symbol is declared: in this version of the file, else in the index."""
        own = [(file, one) for one in file.declared if one.is_called(_plain(symbol))] if file else []
        found = own or self._reader.declaring(_plain(symbol))
        return " or ".join(_place(known, one.start_line, one.end_line) for known, one in found[:2])


def _names(file: FileText, cited: CitedPlace) -> bool:
    """Whether lines say the last name of a symbol, or are inside of what it declares; a use seldom says the owner."""
    name = re.split(r"\.|::|#", _plain(cited.symbol))[-1]
    around = file.around(cited.start, cited.end)
    said = f"{file.cut(cited.start, cited.end)} {around.symbol if around else ''}"
    return name in re.findall(r"\w+", said)


def _plain(symbol: str) -> str:
    return re.sub(r"<.*>|\(.*\)", "", symbol).strip("@ ")


def _place(file: FileText, start: int, end: int) -> str:
    return f"{lines_of(file.path, start, end)}{f'@{file.commit_sha[:_DIGITS]}' if file.commit_sha else ''}"


def _shown(quote: str) -> str:
    flat = " ".join(quote.split())
    return f"“{flat if len(flat) <= 80 else f'{flat[:79]}…'}”"
