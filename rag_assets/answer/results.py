"""What `ask` returns: an answer or a refusal. A refusal says why, where to look oneself and what to ingest (E20).

The names of a question that nobody could translate still find code in any language. Its other words say nothing about
whether the index has an answer, so they do not count.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rag_assets.answer.abstention import Signals
from rag_assets.answer.citations import CheckedSentence
from rag_assets.answer.cited_lines import Citation
from rag_assets.answer.context_pack import AnswerInputs
from rag_assets.answer.passage_ranking import signals_of
from rag_assets.answer.question_analysis import Intent, roots_of
from rag_assets.contracts.evidence import Evidence
from rag_assets.search import SearchResult

if TYPE_CHECKING:
    from rag_assets.contracts.llm import LlmUsage


_CLOSEST = 3  # places to look at oneself after a refusal
_OF_THE_GRAPH = (Intent.USAGE, Intent.IMPLEMENTATIONS)


def reason(found: AnswerInputs, threshold: float) -> str:
    """Why what was read does not answer the question."""
    if not found.search.hits:
        return "nothing was found"
    if found.unknown:
        return f"nothing here is called {' or '.join(found.unknown)}"
    missing = [word.word for word in found.words if not word.known]
    said = f"; no section has the words {', '.join(missing)}" if missing else ""
    if found.lost:
        said += f"; {len(found.lost)} of the files that were found cannot be read"
    if found.confidence < threshold:
        return f"what was found does not fit the question well enough ({found.confidence:.2f} of {threshold:.2f}){said}"
    return f"nothing that was found can be quoted for it{said}"


def suggestions(found: AnswerInputs) -> tuple[str, ...]:
    """What would help: names that there are, where to look oneself, and what to ingest or to repair. What to ingest is
    named by words that the index does not have: that it has nothing about one that it knows would be wrong."""
    made = []
    if found.unknown and found.near:
        made.append(f"did you mean {', '.join(found.near)}?")
    elif not found.unknown and found.search.hits and any(word.known for word in found.words):
        places = dict.fromkeys(f"{hit.path}:{hit.start_line}-{hit.end_line}" for hit in found.search.hits)
        made.append(f"the closest are {', '.join([*places][:_CLOSEST])}")
    if found.lost:  # the answer may have been in there: nothing has to be ingested that is indexed
        return (*made, "run: rag-assets index --force, and ask again")
    labels = ", ".join(source.label for source in found.search.sources)
    about = list(found.unknown) or [word.word for word in found.words if not word.known]
    subject = f"about {', '.join(about)}" if about else "that have the answer"
    made.append(f"you may want to ingest the repository or the documents {subject}; only {labels} was searched")
    return tuple(made)


def notes(found: AnswerInputs, evidence: Collection[Evidence]) -> tuple[str, ...]:
    """What quotes of the `evidence` leave out, and the command that shows it."""
    ids = {piece.id for piece in evidence}
    unlisted = found.facts.total - sum(piece.id in ids for piece in found.at.values())
    if found.facts.command and unlisted > 0:
        labels = [source.label for source in found.search.sources]
        commands = [f"rag-assets {found.facts.command} --label {label}" for label in labels]
        return (f"{unlisted} more; list them with: {' and '.join(commands)}",)
    more = found.facts.total - len(found.facts.facts)
    if found.wish.intent in _OF_THE_GRAPH and found.wish.names and not found.at:
        return (f"the graph knows nobody: these are the places that fit {' and '.join(found.wish.names)} best",)
    if more <= 0 or not found.wish.names:
        return ()
    label = "" if len(found.search.sources) > 1 else f" --label {found.search.sources[0].label}"
    return (f"{more} more in the graph; list them with: rag-assets graph '{found.wish.names[0]}'{label}",)


def as_it_is(found: AnswerInputs) -> AnswerInputs:
    """The reading by the words that the index knows; where nothing is unknown of its names, by these alone: a word of
    another language that some section happens to have would count as the rarest of all. Then what declares them is what
    is told first. A name that nothing declares is missing in any language."""
    if found.unknown:
        return found
    known = tuple(word for word in found.words if word.known)
    of_names = roots_of(" ".join(found.wish.names))
    telling = tuple(word for word in known if word.root in of_names) or known
    wish = found.wish
    if wish.names and wish.intent is Intent.EXPLANATION:
        wish = replace(wish, intent=Intent.DEFINITION)
    signals = signals_of(found.passages.of_words(telling), wish.names, found.unknown, len(found.at))
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
    `context_tokens` is the size of it as it was packed, at most the budget. `timings` are seconds per step. `notes` say
    what the answer leaves out.
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
    context_tokens: int = 0
    usage: LlmUsage | None = None

    @property
    def search(self) -> SearchResult:
        """The search for the question itself."""
        return self.read.search

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
