"""Lists of the documents that a noun means, with their titles, and of the numbered headings of one, and of the texts
that users see; what comments and documents say of the threads that may use something, and of what is no longer meant to
be used; and what changelogs say of the version that changed something."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, pairwise
from statistics import median
from typing import TYPE_CHECKING

from rag_assets.answer.graph_facts import MOST_FACTS, Facts, GraphFact, GraphFacts, facts_at
from rag_assets.answer.passages import HeadingLines, headings_in
from rag_assets.answer.plans.code_lines import (
    MOST_LISTED,
    code_of,
    facts_listed,
    from_the_root,
    lines_of,
    list_heading,
    points_with,
    says,
)
from rag_assets.answer.question_analysis import QueryTerm, root, root_set, roots_of
from rag_assets.identifiers import identifier_words
from rag_assets.search.line_references import sections_of
from rag_assets.search.ranking.penalties import UPGRADE, BesideProduct, has_shown_texts, locale_of, non_product_code

if TYPE_CHECKING:
    from rag_assets.search.index import LabelIndex


_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_MOST_SECTIONS = 3  # of a release
_MOST_HEADED = 2  # files with a heading of one name: of more any may be meant
_DOCUMENT = re.compile(r"\.(?:md|mdx|markdown|rst|adoc|asciidoc|txt|docx|pdf)$", re.IGNORECASE)
_CALLED_DOCUMENTS = tuple(
    (re.compile(names), re.compile(paths, re.IGNORECASE))
    for names, paths in (
        (r"adr|(?:architectur\w+ )?decision(?: record)?", r"(?:^|[/_-])(?:adrs?|decisions?)[/_-].*\d"),
        (r"(?:\w+ )?(?:article|document|doc|page)|documentation", r"\.(?!txt)\w+$"),
        (r"(?:\w+ )?(?:guide|how-?to|tutorial)", r"guide|how-?to|tutorial"),
        (r"(?:\w+ )?(?:playbook|runbook)", r"playbook|runbook"),
        (r"(?:\w+ )?(?:proposal|rfc)", r"(?:^|[/_-])(?:proposals?|rfcs?)[/_-]"),
        (r"(?:cheat )?sheet", r"cheat[_-]?sheet"),
    )
)
"""What a question calls documents, and what their paths say of them."""
_OF_A_SORT = r"(?:\w+ )?"
_OF_ANY_SORT = root_set("doc document documentation help markdown project technical user wiki")
_PAST = re.compile(r"(?:^|/)(?:change|history|news|release)[^/]*$", re.IGNORECASE)
"""What tells how something was."""
_ACRONYMS = frozenset({"adr", "rfc"})
_FEWEST_DOCUMENTS, _FEWEST_NUMBERED, _MOST_NUMBERED = 2, 3, 40
_WORD = re.compile(r"\w")
_TITLE = re.compile(r"(?:#+ |title:).*\w", re.IGNORECASE)
_INDEX = re.compile(r"(?:index|readme|_category_|summary)\.", re.IGNORECASE)
_STATUS = r"[\W_]*status\b"
_WRITTEN_ROOTS = root_set("described documented covered explained defined mentioned written")
_STATUS_ROOTS = root_set("accepted approved deprecated draft proposed rejected superseded superceded")
"""What a decision may be."""
_OF_THREADS = re.compile(
    r"\bthread[- ]?(?:un)?safe\w*|\bsafe for concurrent\b|\bconcurrent(?:ly)? (?:us\w+|access\w*|call\w*)"
    r"|\b(?:multiple|several|different) (?:threads|goroutines)\b|\bsynchroni[sz]ed\b",
    re.IGNORECASE,
)
_CHANGELOG = re.compile(
    r"(?:.*/)?(?:(?:breaking[-_]?)?change[-_]?(?:log|s)|(?:[a-z]+[-_])?version[-_]?history|history|news"
    r"|release(?:s|[-_]?notes))(?:[-_][\w.-]*?)?"
    r"(?:\.(?:md|markdown|rst|adoc|txt))?",
    re.IGNORECASE,
)
_OF_VERSION = re.compile(
    r"(?:(?:#+ *)?[\[(*]*(?:(?:version|release):? )?v?(?:\d+(?:\.[\dx]+)+)"
    r"|#+ *\[?[a-z]\S{0,40}+ v?\d+(?:\.\d+)*)(?!\.?\w)",
    re.IGNORECASE,
)
_VERSION_ITEM = re.compile(
    r"^(?:[*+-]|(?i:release|version):) +(?P<title>[\[(*`]*[vV]?\d+(?:\.\d+)+(?:-[\w.]+)?[\])*`:]*"
    r"(?: +(?:[-–—]+ +|\(|in progress|unreleased|\d).*)?)[ \r]*$",
    re.MULTILINE,
)
_BELOW_HEADINGS = 7  # of HTML there are six levels
_HEADING = re.compile(r"#+ |[A-Z][A-Z ]+$|\*\*[^*]+\*\*:?$")
_LINK = re.compile(r"\[([^\]]+)\](?:\([^)]*\))?")
_BEGINS = re.compile(r"\s*(?:[-*+•]|--|\d+[.)]) ")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)*(?!\.?\w)")
_LINK_INSIDE = re.compile(r"\s*[-*] \[[^\]]*\]\(#")
_MOST_TOLD = 5
_RETIRED = re.compile(
    r"\bdeprecat\w*|\bobsolete\b|\bno longer (?:\w+ )?(?:supported|maintained|available|used|needed)\b|\bsupersed\w+"
    r"|\b(?:has|have|been|is|are|was|were)(?: now)? removed\b|\bremoved support\b|\b(?:replaced|succeeded) by\b",
    re.IGNORECASE,
)
_IN_ITS_PLACE = re.compile(r"\binstead\b|\bin favou?r of\b", re.IGNORECASE)
_ABOVE = re.compile(r"\s*(?://|/\*|\*|#|--|[\[@])")
_DOCSTRING = re.compile(r"(?:[^\"\n]*\n){0,12}?\s*[rR]?\"\"\".*?\"\"\"", re.DOTALL)  # below the parameters too
_NEAR = 8  # lines below the one that says that it is retired


def said_of_threads(index: LabelIndex, names: Collection[str], paths: Collection[str]) -> Facts:
    """The lines of the files that declare some names, and of documents that say one of these, that tell whether several
    threads may use it."""
    likely = points_with(" ".join(("thread safe concurrent", *names)), index, _MOST_NUMBERED)
    known = index.parts.shard().retrieve(likely, index.scope())
    documents = {path for one in known.values() if _DOCUMENT.search(path := one["Path"]) and not _PAST.search(path)}
    named = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)")
    found = [
        _document(path, at)
        for path, lines in lines_of(index, {*paths, *documents}).items()
        for at, line in lines.items()
        if _OF_THREADS.search(line) and (path in paths or named.search(line))
    ]
    at = facts_at(sorted(found, key=lambda one: (one.path not in paths, one.path, one.line))[:MOST_FACTS], index)
    return GraphFacts(tuple(at), len(found), "**What is said of threads:**"), at


def documents_listed(index: LabelIndex, noun: str, subject: Sequence[QueryTerm]) -> Facts:
    """The documents that a noun lists (`ADRs`, `guides`, `documents`), each with its title, that are about a subject or
    have a status; where none has it, the heading alone, which says so. Else the numbered headings that
    begin with the noun, of the document that has the most: `Rule 1`; else the pages of folders that are called so."""
    shard, scope = index.parts.shard(), index.scope()
    paths = [path for path in shard.values("Path", scope) if _DOCUMENT.search(path) and non_product_code(path) is None]
    about = [word for word in subject if word.root not in _WRITTEN_ROOTS | _STATUS_ROOTS]
    *before, last = noun.split() or [""]
    statuses = [word for word in (*before, *(word.word for word in subject)) if root(word) in _STATUS_ROOTS]
    noun = " ".join((*(word for word in before if root(word) not in _STATUS_ROOTS), last))  # `proposal` is no status
    names, called = next((one for one in _CALLED_DOCUMENTS if one[0].fullmatch(noun)), (None, None))
    if called is None and statuses:  # which pages of a folder have none of
        return GraphFacts(), {}
    if called is None:
        numbered = _numbered(index, noun, about, paths)
        return numbered if numbered[1] else _of_folders(index, noun, about, paths)
    if names is not None and names.pattern.startswith(_OF_A_SORT):
        sort = (word for word in noun.split()[:-1] if root(word) not in _OF_ANY_SORT)
        about += [QueryTerm(word, root(word), 1.0, known=True) for word in sort]
    titled = (
        (path, _title_at(lines), lines) for path, lines in sorted(lines_of(index, filter(called.search, paths)).items())
    )
    told = [one for one in titled if one[1] and says(about, f"{one[0]} {one[2][one[1]]}".lower())]
    if not statuses:
        fewest = 1 if subject else _FEWEST_DOCUMENTS
        return _as_list(index, noun, [_document(path, title) for path, title, _ in told], fewest)
    has_status = re.compile(rf"{_STATUS}\W*(?:{'|'.join(statuses)})\b", re.IGNORECASE)
    in_folder = re.compile(rf"/(?:{'|'.join(statuses)})/(?!{_INDEX.pattern})", re.IGNORECASE)
    at_lines = [
        (path, title if in_folder.search(path) else _status_at(lines, has_status)) for path, title, lines in told
    ]
    found = [_document(path, line) for path, line in at_lines if line]
    has_any = re.compile(_STATUS, re.IGNORECASE)
    if not found and any(_status_at(lines, has_any) for _, _, lines in told):
        return GraphFacts(heading=f"no {_called(noun)} says that its status is {' or '.join(statuses)}"), {}
    return _as_list(index, noun, found, 1)


def _document(path: str, line: int) -> GraphFact:
    folder, _, name = path.rpartition("/")
    called = f"{folder.rpartition('/')[2]}/{name}" if folder and _INDEX.match(name) else name
    return GraphFact(called, "", "", path, line, certain=True, is_comment=True)


def _title_at(lines: Mapping[int, str]) -> int:
    """The line of the first heading, or of the title before it; else the first that says something, 0 without one."""
    headings = (at for at in sorted(lines) if _TITLE.match(lines[at]))
    return next(headings, next((at for at in sorted(lines) if _WORD.search(lines[at])), 0))


def _status_at(lines: Mapping[int, str], has_status: re.Pattern[str]) -> int:
    """The line with what a decision is now: `status: accepted`, or the one below the heading `Status`."""
    told = ((at, line) for at, line in sorted(lines.items()) if line.strip())
    for (before_at, before), (at, line) in pairwise([(0, ""), *told]):
        if has_status.match(line) or (before_at and has_status.match(f"{before.strip()} {line}")):
            return at
    return 0


def _of_folders(index: LabelIndex, noun: str, subject: Sequence[QueryTerm], paths: Collection[str]) -> Facts:
    """The documents of folders that are called as what is asked for: `security/principles`, `diagram-types`; of a
    folder in such a one its first page, `transports/rabbitmq/index.md`."""
    wanted, last = {one.root for one in subject} | roots_of(noun), root(noun.rpartition(" ")[2])
    inside = list[str]()
    for path in paths:
        folder, _, name = path.rpartition("/")
        folder = folder.rpartition("/")[0] if _INDEX.match(name) else folder
        words = identifier_words(folder.rpartition("/")[2])
        if words and last == root(words[-1].lower()) and wanted <= roots_of(folder):
            inside.append(path)
    titles = ((path, _title_at(lines)) for path, lines in sorted(lines_of(index, inside).items()))
    return _as_list(index, noun, [_document(path, line) for path, line in titles if line], _FEWEST_NUMBERED)


def _numbered(index: LabelIndex, noun: str, subject: Sequence[QueryTerm], paths: Collection[str]) -> Facts:
    last = noun.rpartition(" ")[2]
    heading = re.compile(rf"\s*(?:#+ *|\*\*)\W*{re.escape(last)}\W*(?:\d|[IVX]+\b)", re.IGNORECASE)
    likely = index.parts.shard().retrieve(points_with(noun, index, _MOST_NUMBERED), index.scope())
    found = list[GraphFact]()
    for path, lines in lines_of(index, {one["Path"] for one in likely.values()} & {*paths}).items():
        told = [_document(path, at) for at, line in lines.items() if heading.match(line)]
        if len(told) > len(found) and says([one for one in subject if one.root != root(last)], path):
            found = told
    return _as_list(index, last, found, _FEWEST_NUMBERED)


def _called(noun: str) -> str:
    return noun.upper() if noun in _ACRONYMS else noun


def _as_list(index: LabelIndex, noun: str, found: Sequence[GraphFact], fewest: int) -> Facts:
    if len(found) < fewest:
        return GraphFacts(), {}
    at = facts_at(found[:MOST_LISTED], index)
    heading = list_heading(_called(noun), len(found))
    if len(found) > MOST_LISTED:
        heading = heading.replace(":", f", the first {MOST_LISTED}:")
    return GraphFacts(tuple(at), len(found), heading), at


_NEUTRAL = "neutral"
"""What .NET calls the texts of a culture that no other has."""
_FEWEST_LANGUAGES = 3
_ENGLISH = re.compile(r"\ben\b[^/]*$", re.IGNORECASE)


def texts_shown(index: LabelIndex) -> Facts:
    """The files of the texts that users see, and then those of their translations, each at its first line."""
    translated, shown = _texts(index)
    found = sorted(
        translated + shown,
        key=lambda path: (not has_shown_texts(path), _ENGLISH.search(path) is None, len(path), path),
    )
    starts = _starts(index, found[:MOST_LISTED])
    facts = [
        GraphFact(path.rpartition("/")[2], "", "", path, starts.get(path, 1), True, is_comment=True) for path in found
    ]
    return facts_listed(facts, "text file", index)


def languages_of_texts(index: LabelIndex) -> Facts:
    """The languages of the texts that users see, by what their files or folders are called, each with a file, and that
    of the files that name none; of one translation the files, and none without."""
    translated, shown = _texts(index)
    if not translated:
        return GraphFacts(), {}
    of_language: dict[str, list[str]] = {}
    for path in sorted(translated + shown, key=lambda path: (len(path), path)):
        if (locale := locale_of(path)) or path in shown:
            of_language.setdefault(locale.replace("_", "-").casefold(), []).append(path)
    if any(language.partition("-")[0] == "en" for language in of_language):  # what names none is something else
        of_language.pop("", None)
    starts = _starts(index, [paths[0] for paths in of_language.values()])
    facts = []
    for _, (path, *more) in sorted(of_language.items()):
        said = f"has {len(more) + 1:,} files, such as" if more else "has one file,"
        language, name = locale_of(path) or _NEUTRAL, path.rpartition("/")[2]
        facts.append(GraphFact(language, said, name, path, starts.get(path, 1), True, is_comment=True))
    return facts_listed(facts, "language", index) if len(facts) >= _FEWEST_LANGUAGES else texts_shown(index)


def _texts(index: LabelIndex) -> tuple[list[str], list[str]]:
    """The files of translations, and those of the texts that these repeat."""
    known = index.parts.shard().values("Path", index.scope())
    side = {path: non_product_code(path) for path in known}
    translated = [path for path in known if side[path] is BesideProduct.TRANSLATION]
    return translated, [path for path in known if has_shown_texts(path) and side[path] in (None, BesideProduct.TEXTS)]


def _starts(index: LabelIndex, paths: Sequence[str]) -> dict[str, int]:
    """Each file with its first line that says something."""
    lines = lines_of(index, paths)
    return {path: next((at for at, text in known.items() if text.strip()), 1) for path, known in lines.items()}


_SUPPORTED = roots_of("supported supports support available officially currently following list")
_SAYS_SUPPORT = re.compile(r"\b(?:support(?:s|ed)?|available|one of the following)\b", re.IGNORECASE)
_COMMENT_MARK = re.compile(r"^\s*(?://[/!]?|#+|;+|--+|\*(?=\s+(?:[-*+•]|[A-Z]|\d))) ?")
_IS_CODE = re.compile(r"[({;=<>]\s*\S*:?$|^\W*(?:case|default|def|else|if|switch|when)\b")
_OF_ANY_PART = roots_of("argument command feature method option parameter property setting value")
"""What documents have of each part of a product: such a heading alone tells of one."""
_ITEM = re.compile(r"\s*(?:[-*+•] |\d+[.)] |\|)")
_BETWEEN_ROWS = re.compile(r"\s*\|[\s|:-]+$")
_FEWEST_ITEMS, _MOST_ABOVE = 3, 3
_MOST_HEADS = 20  # of one document: more announce nothing
_LONGEST_ITEM = 90  # characters of one item: longer ones are sentences about something
_OF_VERSION_FOLDER = re.compile(r"\d+")


def supported_listed(index: LabelIndex, noun: str) -> Facts:
    """The list, or the table, of a document below a heading that is the noun alone, or a line that says that these are
    supported (`The following databases are supported:`); of several documents that of the highest version. Else that of
    a comment of the product below such a line."""
    likely = index.parts.shard().retrieve(points_with(f"{noun} supported", index, _MOST_NUMBERED), index.scope())
    paths = {path for one in likely.values() if not _PAST.search(path := one["Path"])}
    paths = {one for one in paths if non_product_code(one) is None}
    documents = {one for one in paths if _DOCUMENT.search(one)}
    return _supported_in(index, documents, noun) or _supported_in(index, paths - documents, noun) or (GraphFacts(), {})


def _supported_in(index: LabelIndex, paths: Collection[str], noun: str) -> Facts | None:
    wanted = roots_of(noun)
    found = list[tuple[list[int], int, int, str, list[int]]]()
    for path, written in lines_of(index, paths).items():
        heads, is_code = 0, _DOCUMENT.search(path) is None
        lines = {at: _COMMENT_MARK.sub("", line) for at, line in written.items()} if is_code else written
        for at, line in lines.items():
            said = roots_of(line)
            is_heading = not is_code and line.startswith("#") and wanted <= said <= wanted | _SUPPORTED
            is_heading = is_heading and not (wanted <= _OF_ANY_PART and said.isdisjoint(_SUPPORTED))
            is_line = line.rstrip("* \r").endswith(":") and wanted <= said and _SAYS_SUPPORT.search(line) is not None
            is_line = is_line and not (is_code and _IS_CODE.search(line))
            heads += is_heading or is_line
            items = _items_below(lines, at) if (is_heading or is_line) and heads <= _MOST_HEADS else []
            if len(items) >= _FEWEST_ITEMS and median(len(lines[one]) for one in items) <= _LONGEST_ITEM:
                versions = [int(one) for one in _OF_VERSION_FOLDER.findall(path)]
                found.append((versions, -len(said - wanted - _SUPPORTED), -at, path, items))
    if not found:
        return None
    *_, path, items = max(found)
    known, at_points = facts_listed([_document(path, at) for at in items], noun, index)
    heading = list_heading(f"supported {noun}", 2).replace("2 s", "S", 1)  # a row of a table may have several
    return replace(known, heading=heading), at_points


def _items_below(lines: Mapping[int, str], at: int) -> list[int]:
    """The items of the list, or the rows of the table without its head, that begins a few lines below a line."""
    first = next((one for one in range(at + 1, at + 2 + _MOST_ABOVE) if _ITEM.match(lines.get(one, ""))), 0)
    if not first or any(lines.get(one, "").startswith("#") for one in range(at + 1, first)):
        return []
    found = list[int]()
    indent = len(lines[first]) - len(lines[first].lstrip())
    for one in count(first):  # no line ends it too
        line = lines.get(one, "")
        deep = len(line) - len(line.lstrip())
        if _BETWEEN_ROWS.match(line):
            found.clear()  # what stands above it is the head
        elif _ITEM.match(line) and deep <= indent:
            found.append(one)
        elif deep <= indent:
            break
    return found


def changelogs(index: LabelIndex) -> list[str]:
    """The changelogs of the product, those nearest to the root first."""
    paths = [path for path in index.parts.shard().values("Path", index.scope()) if _CHANGELOG.fullmatch(path)]
    return sorted((path for path in paths if non_product_code(path) is None), key=from_the_root)


def versions_that(
    index: LabelIndex, does: re.Pattern[str], words: frozenset[str], text: str, *, oldest: bool = False
) -> Facts:
    """The entries of changelogs that say all of some roots and the numbers of a question, and do what is asked, each
    below its version; the `oldest` first, as what adds to something comes behind what adds it."""
    numbers, found = {*_NUMBER.findall(text)}, list[tuple[bool, GraphFact]]()
    for path, lines in lines_of(index, changelogs(index)).items():
        for version, first, entry in _entries(lines):
            if words <= roots_of(entry) and numbers <= {*_NUMBER.findall(entry)}:
                fact = GraphFact(version, "", "", path, first, certain=True, is_comment=True)
                found.append((does.search(entry) is not None, fact))
    facts = [fact for is_done, fact in found if is_done][:: -1 if oldest else 1]
    at = facts_at(facts[:_MOST_TOLD], index)
    return GraphFacts(tuple(at), len(facts)), at


def release(index: LabelIndex, version: str, *, dated: bool = False) -> tuple[tuple[str, ...], bool]:
    """The points of what changelogs say of a version, below a heading with a year if it is to be `dated`, and whether
    there is a changelog."""
    paths = changelogs(index)
    payloads = sections_of(paths, index.parts.shard(), index.scope())
    found: list[str] = []
    for path in paths:
        level = 0  # of the heading whose text goes on
        of_file = [point for point in payloads if payloads[point]["Path"] == path]
        for point in sorted(of_file, key=lambda one: payloads[one].get("StartLine", 0)):
            is_told = level > 0
            for heading in versions_in(code_of(payloads[point], index, ()), payloads[point].get("CodeLanguage", "")):
                if is_of_release(heading.title, version) and (not dated or _YEAR.search(heading.title)):
                    is_told, level = True, heading.level
                elif heading.level <= level:
                    is_told, level = is_told and heading.start > 0, 0
            found += [point] * is_told
    return tuple(found[:_MOST_SECTIONS]), bool(paths)


def headed(index: LabelIndex, title: str) -> tuple[str, ...]:
    """The points of the documents with a heading that is called so, `Chapter 14`; none where many have one, or a folder
    is called so."""
    folder = re.compile(rf"(?:^|/){'[-_. ]?0*'.join(map(re.escape, title.split()))}(?!\d)[^/]*/", re.IGNORECASE)
    if any(map(folder.search, index.parts.shard().values("Path", index.scope()))):
        return ()
    likely = index.parts.shard().retrieve(points_with(title, index, _MOST_NUMBERED), index.scope())
    found = sorted(
        (payload["Path"], payload.get("StartLine", 0), point)
        for point, payload in likely.items()
        if _DOCUMENT.search(payload["Path"])
        and non_product_code(payload["Path"]) is None
        and any(
            is_of_release(one.title, title)
            for one in headings_in(code_of(payload, index, ()), payload.get("CodeLanguage", ""))
        )
    )
    is_clear = len({path for path, *_ in found}) <= _MOST_HEADED
    return tuple(point for *_, point in found[:_MOST_SECTIONS]) if is_clear else ()


def versions_in(text: str, language: str) -> list[HeadingLines]:
    """The headings of a changelog, and its items that are but a version, with what it brought below them."""
    items = (
        HeadingLines(one.start(), one.end(), _BELOW_HEADINGS, one["title"]) for one in _VERSION_ITEM.finditer(text)
    )
    return sorted([*headings_in(text, language), *items], key=lambda one: one.start)


def is_of_release(heading: str, version: str) -> bool:
    """Whether a heading is that of a version: `## [2.4.1] - 2024-05-01`, of 2.4 also `Changes in 2.4.x` and `2.4.0`, of
    2 all that begin with it; of `Shop 2` what is called so."""
    more = r"(?:\.[x0])*" if "." in version else r"(?:\.[\dx]+)*"
    before = r"\W*+(?:[a-z]+(?:[.:#+ -]+[a-z]+)*[.:#+-]* \W*)?"  # a heading may be of many words and marks
    written = rf"{before}v?{re.escape(version)}{more}(?![\w-]|\.\w)"
    return re.match(written, heading, re.IGNORECASE) is not None


def _entries(lines: Mapping[int, str]) -> Iterator[tuple[str, int, str]]:
    """(version, first line, text with the heading above it) of each entry below the heading of a version."""
    version, heading, first, entry = "", "", 0, list[str]()
    for at, line in [*sorted(lines.items()), (0, "# ")]:
        of_version = _OF_VERSION.match(line)
        is_heading = of_version is not None or _HEADING.match(line) is not None
        if entry and (is_heading or not line.strip() or _BEGINS.match(line)):
            yield version, first, f"{heading} {' '.join(entry)}"
            entry = []
        if of_version is not None:
            version, heading = _LINK.sub(r"\1", line).strip("#* \r"), ""
        elif is_heading:
            heading = line.strip("#* \r")
        elif version and line.strip():
            first = first if entry else at
            entry.append(line.strip())


def said_of_retirement(index: LabelIndex, words: Mapping[str, str], declaring: Mapping[str, str]) -> Facts:
    """The lines that say that something is deprecated or gone, and what is used in its place: above its declaration
    (`declaring` are points, with the name that each declares), and wherever a line, or the heading above, says all of
    its `words` (by their roots); changelogs last."""
    likely = points_with(" ".join(("deprecated obsolete removed", *words.values())), index, _MOST_NUMBERED)
    known = index.parts.shard().retrieve([*dict.fromkeys((*declaring, *likely))], index.scope())
    found: dict[tuple[str, int], tuple[bool, bool]] = {}
    for point, payload in known.items():
        path, heading, told = payload["Path"], "", -_NEAR
        if non_product_code(path) is not None:
            continue
        lines = code_of(payload, index, ()).split("\n")
        own = _head(lines, declaring.get(point, ""))
        for number, line in enumerate(lines, first := payload.get("StartLine", 1)):
            heading = line if line.startswith("#") else heading
            is_own = number - first in own
            if _LINK_INSIDE.match(line) or not (
                is_own or any(words.keys() <= roots_of(one) for one in (line, heading))
            ):
                continue
            if _RETIRED.search(line) or (number - told < _NEAR and _IN_ITS_PLACE.search(line)):
                is_past = _CHANGELOG.fullmatch(path) is not None or UPGRADE.search(path) is not None
                found[path, number], told = (is_past, not is_own), number
    order = sorted(found, key=lambda place: (found[place], place))
    facts = [_document(path, line) for path, line in order]
    at = facts_at(facts[:_MOST_TOLD], index)
    return GraphFacts(tuple(at), len(facts), leads=True), at


def _head(lines: Sequence[str], name: str) -> range:
    """The lines that tell what the declaration of a name is: the comments and annotations above it, and the text that
    Python has below it."""
    named = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    declares = (at for at, line in enumerate(lines) if name and named.search(line) and not _ABOVE.match(line))
    end = next(declares, -1) + 1
    start = next((at + 1 for at in range(end - 2, -1, -1) if not _ABOVE.match(lines[at])), 0)
    text = _DOCSTRING.match("\n".join(lines[end:])) if end else None
    return range(start, end + (text[0].count("\n") + 1 if text is not None else 0))
