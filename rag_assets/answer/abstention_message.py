"""What a refusal says besides its sentence: why, where to look oneself, and what to ingest (E20); and what an answer
leaves out. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_assets.answer.intent import Intent

if TYPE_CHECKING:
    from rag_assets.answer.context_pack import AnswerInputs

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


def notes(found: AnswerInputs) -> tuple[str, ...]:
    """What quotes leave out."""
    more = found.facts.total - len(found.facts.facts)
    if found.wish.intent in _OF_THE_GRAPH and found.wish.names and not found.at:
        return (f"the graph knows nobody: these are the places that fit {' and '.join(found.wish.names)} best",)
    if more <= 0 or not found.wish.names:
        return ()
    label = "" if len(found.search.sources) > 1 else f" --label {found.search.sources[0].label}"
    return (f"{more} more in the graph; list them with: rag-assets graph '{found.wish.names[0]}'{label}",)
