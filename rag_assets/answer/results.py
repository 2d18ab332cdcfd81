"""What `ask` returns: an answer or a refusal. A refusal says why, where to look oneself and what to ingest (E20).

The names of a question that nobody could translate still find code in any language. Its other words say nothing about
whether the index has an answer, so they do not count.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from rag_assets.answer.abstention import Signals
from rag_assets.answer.citations import CheckedSentence
from rag_assets.answer.cited_lines import Citation
from rag_assets.answer.context_pack import AnswerInputs
from rag_assets.answer.extractive import telling_line
from rag_assets.answer.passage_ranking import RankedPassages, signals_of
from rag_assets.answer.passages import Passage
from rag_assets.answer.question_analysis import Intent, roots_of
from rag_assets.answer.question_kinds import is_subject, says_something
from rag_assets.contracts.evidence import Evidence, lines_of
from rag_assets.contracts.llm import LlmUsage
from rag_assets.contracts.protocol_markers import defused
from rag_assets.index.keyword.terms import runs
from rag_assets.search import SearchResult

_CLOSEST = 3  # places to look at oneself after a refusal
_MOST_SAID = 4  # words of a question
_SHOWN_APART = 0.01
_OF_THE_GRAPH = {
    Intent.USAGE: "nobody",
    Intent.DEPENDENCIES: "nothing",
    Intent.TESTS: "no test",
    Intent.IMPLEMENTATIONS: "nobody",
}
"""What the graph answers, and what it then knows of where it has no answer."""


_EXAMPLE = 'rag-assets ask "what is this project about?"'


def asks_nothing(found: AnswerInputs) -> tuple[str, str]:
    """Why a text is no question that an index could answer, and what can be asked; two '' for a question."""
    from rag_assets.answer.question_form import is_courtesy  # start-up budget: of refusals

    question = found.search.question
    if is_courtesy(question.typed):
        askable = "ask what the code does, or where something is defined, used or configured"
        return "that asks nothing about what is indexed", f"{askable}; to begin with: {_EXAMPLE}"
    if found.empty:
        return "nothing is indexed that could be read", "see what was left out, and why: rag-assets status --skipped"
    if found.wish.intent in (Intent.OVERVIEW, Intent.LIST):
        return "", ""
    if says_something(question.text) or found.wish.names or question.phrases or found.signals.planned:
        return "", ""
    if not question.text:
        listing = f"rag-assets search {shlex.quote(question.typed)}"
        return "there is only a filter, and no question", f"add what you want to know; what it lets through: {listing}"
    said = list(dict.fromkeys(runs(question.text)))
    subject = "name what it is about: a type, a setting, an error message, a word of the documents"
    if not said:
        return "the question has no word", subject
    return f"the question does not say what it is about; it has only: {', '.join(said[:_MOST_SAID])}", subject


def reason(found: AnswerInputs, threshold: float) -> str:
    """Why what was read does not answer the question."""
    nothing, _ = asks_nothing(found)
    if nothing:
        return nothing
    if found.absent:
        return found.absent
    if not found.search.hits:
        return "nothing was found"
    if found.unknown:
        return f"nothing here is called {' or '.join(found.unknown)}"
    missing = _missing(found)
    said = f"; no section has the words {', '.join(missing)}" if missing else ""
    if found.lost:
        said += f"; {len(found.lost)} of the files that were found cannot be read"
    if found.confidence < threshold:
        fits = f"{found.confidence:.{2 if threshold - found.confidence >= _SHOWN_APART else 3}f} of {threshold:.2f}"
        return f"what was found does not fit the question well enough ({fits}){said}"
    return f"nothing that was found can be quoted for it{said}"


def _missing(found: AnswerInputs) -> list[str]:
    """What the question is about and no section says. Of what it asks about that, a missing word says nothing: code
    that computes a total need not say `calculated`."""
    typed = found.search.question.typed
    missing = [word.word for word in found.words if not word.known and is_subject(word)]
    written = (re.search(rf"\b{re.escape(word)}(?:e?s)?\b", typed, re.IGNORECASE) for word in missing)
    return [whole.group() if whole is not None else word for word, whole in zip(missing, written, strict=True)]


IN_ENGLISH = "without a model the index reads English: ask in English or by names of the code, or configure a model"


def suggestions(found: AnswerInputs, *, untranslated: bool = False) -> tuple[str, ...]:
    """What would help: names that there are, what to read oneself, and what to ingest or to repair. What to ingest is
    named by words that the index does not have: that it has nothing about one that it knows would be wrong."""
    _, instead = asks_nothing(found)
    if instead:
        return (instead,)
    if found.absent and found.outside:
        return ("ask without the filter",)
    if found.absent and found.search.question.places:
        return ("all that is left out: rag-assets status --skipped",)
    made = []
    if found.unknown and found.near:
        return (f"did you mean {', '.join(found.near)}?",)
    if found.meant:
        made.append(f"did you mean {' or '.join(found.meant)}?")
    if not found.unknown and found.search.hits and any(word.known for word in found.words):
        made.append(f"the closest are {', '.join(_closest(found))}")
    if untranslated and not found.unknown:
        return (*made, IN_ENGLISH)
    if found.lost:  # the answer may have been in there: nothing has to be ingested that is indexed
        return (*made, "run: rag-assets index --force, and ask again")
    labels = ", ".join(source.label for source in found.search.sources)
    about = list(found.unknown) or _missing(found)
    subject = f"about {', '.join(about)}" if about else "that have the answer"
    made.append(f"you may want to ingest the repository or the documents {subject}; only {labels} was searched")
    return tuple(made)


def _closest(found: AnswerInputs) -> list[str]:
    """Places to read, best first: of the passages that say some of the question the lines, the name and the line that
    says the most; without any, the hits."""
    told = [_place_told(one, found.passages) for one in closest_passages(found)]
    hits = [f"{hit.path}:{hit.start_line}-{hit.end_line}" for hit in found.search.hits]
    return (told or [*dict.fromkeys(hits)])[:_CLOSEST]


def closest_passages(found: AnswerInputs) -> list[Passage]:
    """The first passages that say some of the question."""
    return [found.passages.passages[at] for at in found.passages.chosen(_CLOSEST)]


def _place_told(passage: Passage, ranked: RankedPassages) -> str:
    name = passage.name or passage.evidence.name
    name = "" if passage.evidence.path.endswith(name) else name
    line = telling_line(passage, ranked)[1]
    said = " ".join(filter(None, (f"`{defused(name)}`" if name else "", f"“{defused(line)}”" if line else "")))
    where = lines_of(passage.evidence.path, passage.line_start, passage.line_end)
    return f"{where} ({said})" if said else where


def notes(found: AnswerInputs, evidence: Collection[Evidence]) -> tuple[str, ...]:
    """What quotes of the `evidence` leave out, and the command that shows it."""
    if found.absent:
        return (found.absent,)
    if found.unmentioned:
        return (f"nothing that was found mentions {found.unmentioned}",)
    outside = (f"{found.outside:,} more outside of the filter",) if found.outside else ()
    return (*outside, *_left_out(found, evidence))


def _left_out(found: AnswerInputs, evidence: Collection[Evidence]) -> tuple[str, ...]:
    ids = {piece.id for piece in evidence}
    unlisted = found.facts.total - sum(piece.id in ids for piece in found.at.values())
    if found.facts.command and unlisted > 0:
        labels = [source.label for source in found.search.sources]
        commands = [f"rag-assets {found.facts.command} --label {label}" for label in labels]
        return (f"{unlisted} more; list them with: {' and '.join(commands)}",)
    more = found.facts.total - len(found.facts.facts)
    if found.wish.intent in _OF_THE_GRAPH and found.wish.names and not found.at:
        none = _OF_THE_GRAPH[found.wish.intent]
        why = f"without a graph {none} can be told" if found.no_graph else f"the graph knows {none}"
        return (f"{why}: these are the places that fit {' and '.join(found.wish.names)} best",)
    if more <= 0 or not found.wish.names:
        return ()
    label = "" if len(found.search.sources) > 1 else f" --label {found.search.sources[0].label}"
    # a walk follows only the best edges of a hub, so that it would not list them all
    walk, depth = ("graph impact", " --depth 1 --nodes 1000") if found.wish.intent is Intent.USAGE else ("graph", "")
    return (f"{more} more in the graph; list them with: rag-assets {walk} '{found.wish.names[0]}'{depth}{label}",)


def as_it_is(found: AnswerInputs) -> AnswerInputs:
    """The reading by the words that the index knows; where nothing is unknown of its names, by these alone: a word of
    another language that some section happens to have would count as the rarest of all. Then what declares them is what
    is told first. A name that nothing declares is missing in any language."""
    from rag_assets.answer.question_form import is_function_word  # start-up budget: of other languages

    if found.unknown:
        return found
    telling = [word for word in found.words if not is_function_word(word.word)]
    known = tuple(word for word in telling if word.known)
    if not found.wish.names and 2 * len(known) < len(telling):  # the few that are there mean something else
        return replace(found, words=known, signals=Signals())
    of_names = roots_of(" ".join(found.wish.names))
    asked = tuple(word for word in known if word.root in of_names) or known
    wish = found.wish
    if wish.names and wish.intent is Intent.EXPLANATION:
        wish = replace(wish, intent=Intent.DEFINITION)
    signals = signals_of(found.passages.of_words(asked), wish.names, found.unknown, len(found.at))
    signals = replace(signals, keyword=found.signals.keyword)
    return replace(found, wish=wish, words=known, signals=signals)


EXTRACTIVE = "extractive"
"""The provider of an answer that no model wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`text` is Markdown with `[chunk: id]` marks; `citations` are what they mean, in order of first use, each at the
    lines that say it. An answer
    that `abstained` has the sentence of E20 (or what a model made of it in the language of the question), the reason
    and what could be ingested, and cites nothing. One that is `unsure` quotes what is closest, and says so.

    `read` is what the index has for the question: the search, and how well it fits. `checks` are the sentences with
    what the post-check says of each, before unsupported ones were flagged or dropped. `provider` is `extractive` or the
    model; `usage` what all calls of the turn took. `evidence` is all that the answer could be made from.
    `context_size` counts its tokens as it is packed for a model, at most the budget. `timings` are seconds per step.
    `notes` say what the answer leaves out.
    """

    question: str
    text: str
    abstained: bool
    unsure: bool = False
    provider: str
    citations: tuple[Citation, ...]
    checks: tuple[CheckedSentence, ...]
    evidence: tuple[Evidence, ...]
    read: AnswerInputs
    reason: str = ""
    suggestions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    context_size: Callable[[], int] = field(default=int, repr=False, compare=False)
    usage: LlmUsage | None = None

    @property
    def search(self) -> SearchResult:
        """The search for the question itself."""
        return self.read.search

    @property
    def context_tokens(self) -> int:
        """The tokens of the evidence as it is packed for a model: nobody reads it packed where none answers."""
        return self.context_size()

    @property
    def intent(self) -> Intent:
        return self.read.wish.intent

    @property
    def signals(self) -> Signals:
        return self.read.signals

    @property
    def confidence(self) -> float:
        """How likely the evidence answers the question, on the scale that the threshold of abstention is on."""
        return self.read.confidence
