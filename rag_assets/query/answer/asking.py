"""`ask`: from a question to an answer with checked citations, or to an honest refusal.

Search, evidence, the decision whether that is enough, and then quotes or a model. Everything but the model is
deterministic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rag_assets.query.answer import abstention
from rag_assets.query.answer.checking import Policy, Report, check
from rag_assets.query.answer.citations import citations_of
from rag_assets.query.answer.extractive import answer_of
from rag_assets.query.answer.intents import Intent
from rag_assets.query.answer.packing import DEFAULT_BUDGET, Context, TokenCounter, pack
from rag_assets.query.answer.prompting import is_refusal
from rag_assets.query.answer.reading import Read, read
from rag_assets.query.answer.results import EXTRACTIVE, Answer
from rag_assets.query.retrieval import Clock

if TYPE_CHECKING:
    from rag_assets.contracts.llm import LlmUsage
    from rag_assets.query.answer.writing import Writer
    from rag_assets.query.results import SearchResult
    from rag_assets.query.searching import Searchable

MOST_CHUNKS = 15
"""`maxChunksForContext` of the seed (E13)."""

_CLOSEST = 3  # places to look at oneself after a refusal
_OF_THE_GRAPH = (Intent.USAGE, Intent.IMPLEMENTATIONS)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskOptions:
    """`limit` hits are looked at; evidence takes `budget` tokens by `count` (None: the estimate for byte-pair models).
    Below `threshold` of confidence the answer is a refusal; None: the calibrated one. `policy` is what becomes of
    unsupported sentences. `model` writes the answer; None: quotes."""

    limit: int = MOST_CHUNKS
    budget: int = DEFAULT_BUDGET
    count: TokenCounter | None = None
    threshold: float | None = None
    policy: Policy = Policy.FLAG
    model: Writer | None = None


def answer(
    question: str,
    target: Searchable,
    *,
    options: AskOptions | None = None,
    on_text: Callable[[str], None] = lambda text: None,
    **narrowing: Any,
) -> Answer:
    """Answers a question from an index or several; arguments as of `Searchable.ask`. Raises what a search raises.

    A model that fails does not lose the evidence: quotes answer then, and `warnings` say why.
    """
    options = _configured(target) if options is None else options
    clock = Clock()
    with clock.step("search"):
        result = target.search(question, limit=options.limit, **narrowing)
    with clock.step("evidence"):
        found = read(result, target)
    signals = abstention.signals_of(found.words, found.wish.names, found.unknown, found.evidence, len(found.at))
    sure = abstention.confidence(signals)
    threshold = abstention.THRESHOLD if options.threshold is None else options.threshold
    with clock.step("pack"):
        context = pack(found.evidence, options.budget, options.count or _estimate())
    told = _Told("", EXTRACTIVE)
    report = Report("", ())
    if context.pieces and sure >= threshold:
        with clock.step("answer"):
            told = _told(question, found, context, options.model, on_text)
        with clock.step("check"):
            report = check(told.text, context.evidence, options.policy)
    citations = citations_of(report.text, context.evidence)
    refused = not citations
    return Answer(
        question=question,
        text=abstention.SENTENCE if refused else report.text,
        abstained=refused,
        provider=told.provider,
        intent=found.wish.intent,
        confidence=sure,
        signals=signals,
        citations=citations,
        checks=() if refused else report.sentences,
        evidence=context.evidence,
        search=result,
        reason=_reason(found, result, sure, threshold, told) if refused else "",
        suggestions=_suggestions(found, result) if refused else (),
        notes=() if refused or told.usage else _notes(found, target),
        warnings=(*result.warnings, *found.warnings, *told.warnings),
        timings=clock.seconds(),
        context_tokens=context.tokens,
        usage=told.usage,
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """An answer before it is checked, and who gave it."""

    text: str
    provider: str
    usage: LlmUsage | None = None
    warnings: tuple[str, ...] = ()


def _told(question: str, found: Read, context: Context, model: Writer | None, on_text: Callable[[str], None]) -> _Told:
    if model is not None:
        outcome = model.write(question, context, on_text)
        if outcome.value is not None:
            written = outcome.value
            return _Told("" if is_refusal(written.text) else written.text, written.model, written.usage)
        quotes = _told(question, found, context, None, on_text)
        why = "; ".join(error.text for error in outcome.errors)
        return replace(quotes, warnings=(f"quotes only, the model did not answer: {why}",))
    in_context = {piece.id: piece for piece in context.evidence}
    at = {fact: in_context[piece.id] for fact, piece in found.at.items() if piece.id in in_context}
    return _Told(answer_of(found.wish, found.words, context.evidence, found.facts, at), EXTRACTIVE)


def _configured(target: Searchable) -> AskOptions:
    """As the configuration says that the first of the indexes was opened with."""
    from rag_assets.query.answer.configured import configured

    home, config = next(iter(target.members.values())).parts.configuration
    return configured(home, config)


def _reason(found: Read, result: SearchResult, sure: float, threshold: float, told: _Told) -> str:
    if told.usage is not None:
        return f"{told.provider} did not find the answer in what was retrieved, or cited nothing of it"
    if not result.hits:
        return "nothing was found"
    if found.unknown:
        return f"nothing here is called {' or '.join(found.unknown)}"
    missing = [word.word for word in found.words if not word.known]
    said = f"; no section has the words {', '.join(missing)}" if missing else ""
    if sure < threshold:
        return f"what was found does not fit the question well enough ({sure:.2f} of {threshold:.2f}){said}"
    return f"nothing that was found can be quoted for it{said}"


def _notes(found: Read, target: Searchable) -> tuple[str, ...]:
    more = found.facts.total - len(found.facts.facts)
    if found.wish.intent in _OF_THE_GRAPH and found.wish.names and not found.at:
        return (f"the graph knows nobody: these are the places that fit {' and '.join(found.wish.names)} best",)
    if more <= 0 or not found.wish.names:
        return ()
    label = "" if len(target.members) > 1 else f" --label {next(iter(target.members))}"
    return (f"{more} more in the graph; list them with: rag-assets graph '{found.wish.names[0]}'{label}",)


def _suggestions(found: Read, result: SearchResult) -> tuple[str, ...]:
    """What would help: names that there are, where to look oneself, and what to ingest."""
    made = []
    if found.unknown and found.near:
        made.append(f"did you mean {', '.join(found.near)}?")
    elif not found.unknown and any(word.known for word in found.words):
        places = dict.fromkeys(f"{hit.path}:{hit.start_line}-{hit.end_line}" for hit in result.hits)
        made.append(f"the closest are {', '.join([*places][:_CLOSEST])}")
    labels = ", ".join(source.label for source in result.sources)
    about = list(found.unknown) or [word.word for word in found.words if not word.known]
    about = about or [word.word for word in sorted(found.words, key=lambda word: -word.weight)[:3]]
    subject = f" about {', '.join(about)}" if about else ""
    made.append(f"you may want to ingest the repository or the documents{subject}; only {labels} was searched")
    return tuple(made)


def _estimate() -> TokenCounter:
    from rag_assets.models.endpoint_tokens import estimate_tokens

    return estimate_tokens
