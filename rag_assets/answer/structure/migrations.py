"""Which migrations create, change or drop a table or a column, by the lines of their files that name it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.answer.graph_facts import FactsOrAbsent, GraphFact, GraphFacts, facts_at
from rag_assets.answer.plans.code_lines import MIGRATION, MOST_LISTED, lines_of, list_heading
from rag_assets.answer.plans.data import in_order
from rag_assets.identifiers import plural, singular
from rag_assets.search.ranking.penalties import is_test_path

if TYPE_CHECKING:
    from rag_assets.search.index import LabelIndex

_DONE = (
    r"(?:(?P<adds>add(?:s|ed)?|create[sd]?|introduce[sd]?)|(?P<drops>drop(?:s|ped)?|delete[sd]?|remove[sd]?)"
    r"|(?P<renames>rename[sd]?)"
    r"|affect(?:s|ed)?|alter(?:s|ed)?|change[sd]?|concerns?|modif(?:y|ies|ied)|mentions?|touch(?:es|ed)?|update[sd]?)"
)
_THING = (
    r"(?:the |an? )?(?:(?P<kind>table|column|field|index) )?[\"'`]?"
    r"(?P<thing>(?!(?:an?|any|columns?|constraints?|fields?|index(?:es)?|keys?|tables?|views?)\b)\w+(?:\.\w+)*)[\"'`]?"
    r"(?: (?P<is>table|column|field|index))?"
)
_OF = r"(?: (?:from|in|into|of|on|to) (?:the )?(?:table )?[\"'`]?(?P<of>\w+(?:\.\w+)*)[\"'`]?(?: table)?)?"
_FORMS = [
    re.compile(rf"^\W*{form}\W*$", re.IGNORECASE)
    for form in (
        r"(?:(?:which|what|list|show|find|all|the|me) )+migrations? (?:(?:that|which|did) )?(?:have |has )?"
        rf"{_DONE} {_THING}{_OF}",
        rf"(?:in which migration|when) (?:is|was|were|has|have) (?=.*\b(?:table|column|field|index)\b){_THING}"
        rf" (?:been )?{_DONE}{_OF}",
    )
]
_OPERATIONS: Mapping[str, re.Pattern[str]] = {
    "adds": re.compile(r"\b(?:add(?!ed|ing)|create(?!d)|with_?column)", re.IGNORECASE),
    "drops": re.compile(r"\b(?:delete|drop|remove)", re.IGNORECASE),
    "renames": re.compile(r"\b(?:rename|sp_rename)", re.IGNORECASE),
}
_SAID = {"adds": ("add", "adding"), "drops": ("drop", "dropping"), "renames": ("rename", "renaming")}
_UNDOES = re.compile(
    r"\b(?:void|def|function|async|fun|func)\s+down\b|^\s*--.*\bdown\b|^\s*exports\.down\b", re.IGNORECASE
)
_OF_A_MODEL = re.compile(r"\.designer\.\w+$|snapshot\.\w+$|\.resx$", re.IGNORECASE)
_OF_ANOTHER = re.compile(r"foreign_?key|\bschema\s*[:=]|\bcreate\s+schema\b", re.IGNORECASE)
_OWN = re.compile(
    r"(?:^\s*|\.|::)(?:add|alter|change|create|delete|drop|insert|remove|rename|update)(?!d|ing)", re.IGNORECASE
)
"""A line that says itself what is done, whatever is done above it."""
_DECLARES = re.compile(r"\btable\.Column<|\bt\.\w+[ (]+[:\"']|\$table->\w+\(")
"""A column of a table that is created further above."""
_DOES_TABLES = re.compile(r"table|\bschema(?:::|\.)create|model", re.IGNORECASE)
_NAMES_TABLE = re.compile(r"\bname\b|^\s*[\"'`]\w+[\"'`],?\s*$", re.IGNORECASE)
_GOES_ON = re.compile(r"\b(?:TABLE|EXISTS)\s*$", re.IGNORECASE)
_REFERS = re.compile(
    r"\bprincipal(?:Table|Column)\b|\breferences\b|\bIX_|\bFK_",
    re.IGNORECASE,
)
_ALTERED = re.compile(
    r"(?:\balter\s+table|\btable\s*[:=]|\b(?:add|drop|remove|rename)_(?:column|index|reference)s?)\W+(?:\w+\W+)??(\w+)",
    re.IGNORECASE,
)
"""The table to which something else is added, or from which it goes."""
_SAYS_TABLE = re.compile(r"table|\bInto\b|\bModelName|model_name|add_\w+[ (]+[:\"']|\bON\b", re.IGNORECASE)
_NEAR, _LONGEST_TABLE = 3, 60  # lines from an operation to the names that it is given, and of the columns of a table


@dataclass(frozen=True, slots=True)
class MigrationsAsked:
    """What migrations are wanted to do, one of `adds`, `drops`, `renames`, '' for anything, to a thing, maybe to one
    that is said to be a table, or to be of one."""

    does: str
    thing: str
    table: str
    is_table: bool = False


def migrations_asked(question: str) -> MigrationsAsked | None:
    """What a question wants the migrations of; None for another question."""
    for form in _FORMS:
        if (found := form.match(question)) is not None:
            does = next((one for one in _OPERATIONS if found[one]), "")
            thing, table = ((found[one] or "").rpartition(".")[2] for one in ("thing", "of"))
            return MigrationsAsked(does, thing, table, "table" in (found["kind"] or found["is"] or "").lower())
    return None


def migration_facts(index: LabelIndex, wanted: MigrationsAsked) -> FactsOrAbsent:
    """The first line of each migration that does what a question says, the oldest first; and that none does, but not
    that none adds what some name."""
    known = index.parts.shard().values("Path", index.scope())
    paths = [one for one in known if MIGRATION.search(one) and not _OF_A_MODEL.search(one) and not is_test_path(one)]
    texts = lines_of(index, paths)
    facts = [
        GraphFact(path.rpartition("/")[2].partition(".")[0], "", "", path, line, True, is_comment=True)
        for path, lines in sorted(texts.items(), key=lambda one: in_order((one[0], 0)))
        if (line := next(_doing(lines, wanted), 0))
    ]
    at = facts_at(facts[:MOST_LISTED], index)
    of = f"{wanted.thing} of {wanted.table}" if wanted.table else wanted.thing
    does, doing = _SAID.get(wanted.does, ("name", "naming"))
    heading = list_heading("migration", len(facts)).replace(":**", f" {doing} {of}:**")
    is_absent = bool(paths) and not at
    if is_absent and wanted.does == "adds":
        is_absent = not any(any(_doing(lines, MigrationsAsked("", wanted.thing, ""))) for lines in texts.values())
    absent = f"none of {len(paths):,} files of migrations is known to {does} {of}" if is_absent else ""
    return GraphFacts(tuple(at), len(facts), heading), at, absent


def _doing(lines: Mapping[int, str], wanted: MigrationsAsked) -> Iterator[int]:
    """The lines that name the thing, shortly below what is done to it, and the table, if it is of one."""
    things, tables = _spellings(wanted.thing), _spellings(wanted.table)
    for number, text in sorted(lines.items()):
        if _UNDOES.search(text):
            return
        around = [lines.get(at, "") for at in range(number - _NEAR, number + 1)]
        if (
            not things.isdisjoint(_words(text))
            and not _REFERS.search(text)
            and not (wanted.does and any(found in things for found in map(_bare, _ALTERED.findall(text))))
            and (not wanted.does or _is_done(text, around, wanted))
            and (not wanted.table or not tables.isdisjoint(_words(_table_of(lines, number))))
        ):
            yield number


def _is_done(text: str, around: Sequence[str], wanted: MigrationsAsked) -> bool:
    """Whether a line, or one shortly above it, says that something is done to what it names; to a table, and not to a
    part of one."""
    does = _OPERATIONS[wanted.does]
    if _OF_ANOTHER.search(text) or _spellings(wanted.thing).isdisjoint(_last_words(text)):
        return False
    if wanted.does == "adds" and not wanted.is_table and _DECLARES.search(text):
        return True
    said = [line for line in ((text,) if _OWN.search(text) else around) if does.search(line)]
    if wanted.is_table:
        said = [line for line in said if _DOES_TABLES.search(line)]
        return any(line is text or _NAMES_TABLE.search(text) or _GOES_ON.search(line) for line in said)
    return bool(said)


def _table_of(lines: Mapping[int, str], number: int) -> str:
    """The line that says of which table a line is: the nearest one above that says a table, or shortly below."""
    near = (*range(number, number + _NEAR), *range(number - 1, number - _LONGEST_TABLE, -1))
    return next((lines[at] for at in near if _SAYS_TABLE.search(lines.get(at, ""))), "")


def _words(text: str) -> set[str]:
    return set(map(_bare, re.findall(r"\w+", text)))


def _last_words(text: str) -> set[str]:
    """The words of a line that no dot follows: of `[sales].[Orders]` the last."""
    return set(map(_bare, re.findall(r"\w+(?!\w|[\]\"`]?\.)", text)))


def _bare(name: str) -> str:
    return name.replace("_", "").casefold()


def _spellings(name: str) -> set[str]:
    """A name without its marks, in the singular and in the plural."""
    bare = _bare(name)
    return {bare, singular(bare), plural(bare)} if bare else set()
