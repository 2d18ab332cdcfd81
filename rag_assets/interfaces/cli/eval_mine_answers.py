"""`rag-assets eval mine --answers`: questions that an index can answer, and as many that it cannot."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.interfaces.cli.failures import CommandError
from rag_assets.interfaces.cli.labels import label_named
from rag_assets.interfaces.cli.session import Session

if TYPE_CHECKING:
    from rag_assets.evaluation.answer_mining import MinedQuestion
    from rag_assets.query import Index


def mine_answers(
    session: Session, label: str, beside: Sequence[str], out: Path | None, limit: int, as_json: bool
) -> None:
    """Writes `limit` questions with and without an answer, half of each, to `out` or to stdout. Raises CommandError,
    GenerationError."""
    from rag_assets.evaluation.risk import FEWEST
    from rag_assets.evaluation.selection import name_of_address

    home = session.home()
    known = home.known_labels()
    with ExitStack() as stack:
        index = stack.enter_context(_opened(session, label_named(known, label)))
        others = [stack.enter_context(_opened(session, label_named(known, other), index)) for other in beside]
        made = _mined(index, others, limit)
        manifest = index.manifest
    name = name_of_address(manifest.remote_url) or manifest.repository_id
    text = "".join(json.dumps(question.row(name, manifest.commit_sha), ensure_ascii=False) + "\n" for question in made)
    if out is None:
        for line in text.splitlines():
            session.output.line(line)
    else:
        out.write_text(text, encoding="utf-8")
    kinds = Counter(question.kind for question in made)
    answerable = sum(question.answerable for question in made)
    if as_json:
        counts = {"questions": len(made), "answerable": answerable, "unanswerable": len(made) - answerable}
        about = {"file": str(out), "label": index.label, "commit": manifest.commit_sha, "kinds": dict(kinds)}
        session.output.json(about | counts)
        return
    session.output.note(f"{answerable} questions that {index.label} answers, {len(made) - answerable} that it does not")
    for kind, count in kinds.items():
        session.output.note((f"  {count:>5}  ", "dim"), kind)
    if min(answerable, len(made) - answerable) < FEWEST:
        session.output.warning(f"fewer than {FEWEST} of either: they set no threshold; ask for more with --limit")
    elsewhere = [other for other in known if other != index.label and other not in beside]
    if not beside and elsewhere:
        session.output.note(f"questions to another repository are the hardest to refuse: --beside {elsewhere[0]}")
    file = "FILE" if out is None else shlex.quote(str(out))
    session.output.note("to ask them, and to set the threshold of this index by them:")
    session.output.note(f"  {session.command()} eval run {index.label} --set {file} --answers")


def _mined(index: Index, others: Sequence[Index], limit: int) -> list[MinedQuestion]:
    """Half of the questions have an answer; of the others all kinds, the same share of each."""
    from rag_assets.evaluation.answer_mining import Minable, evenly

    own = Minable(index)
    half = limit // 2
    answerable = evenly(own.answerable(half), limit - half)
    if not answerable:
        raise CommandError(
            f"{index.label} declares no types and has no doc comments that questions could be made of; write questions "
            "yourself, or make some from its history with: rag-assets eval mine"
        )
    return [*answerable, *evenly(own.unanswerable([Minable(other) for other in others], limit), half)]


def _opened(session: Session, label: str, beside: Index | None = None) -> Index:
    """The index as the role sees it; `beside` another one it must be of the same organisation and of another
    repository."""
    from rag_assets.query import open_index

    org_id = None if beside is None else beside.manifest.org_id
    found = open_index(
        label,
        home=session.home().root,
        config=session.config_option,
        clearance=session.clearance(),
        org_id=org_id,
    )
    if beside is not None and found.manifest.repository_id == beside.manifest.repository_id:
        found.close()
        raise CommandError(f"{label} is of the same repository as {beside.label}, which can answer questions to it")
    return found
