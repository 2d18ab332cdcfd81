"""`rag-assets eval mine`: a question set from the history of a repository, or from what an index declares."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_assets.cli.console import CommandError, short
from rag_assets.cli.options import CliSession, Force, check_new_file, complete_label, session_of
from rag_assets.index.layout import as_user_shares, label_named
from rag_assets.index.vectors.filters import PathClearance

if TYPE_CHECKING:
    from rag_assets.api import Index
    from rag_assets.evaluation.answer_mining import SyntheticQuestion
    from rag_assets.evaluation.mining import Mined
    from rag_assets.settings import RepositorySettings
    from rag_assets.sources.snapshot import Snapshot

_SHORTEST_GOOD_SET = 10  # questions: fewer say little about a mean


def mine(
    context: typer.Context,
    repository: Annotated[
        str,
        typer.Argument(metavar="REPO", help="Configured id, label, path or git URL.", autocompletion=complete_label),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the set there (.jsonl). Default: on stdout.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=2_000, help="How many questions at most.")] = 100,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="COMMIT|DATE",
            help="The commit that will be indexed: questions are of commits after it. Default: far enough back.",
        ),
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="COMMIT", help="The last commit to make questions of. Default: the newest.")
    ] = None,
    answers: Annotated[
        bool,
        typer.Option(
            "--answers",
            help="Instead, of the index that is served: questions that it can answer, and that it cannot.",
        ),
    ] = False,
    documentation: Annotated[
        bool,
        typer.Option(
            "--documentation",
            help="Instead, of the index that is served: first sentences of documentation, with the lines of the member "
            "that each is about, for `eval tokens`.",
        ),
    ] = False,
    beside: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL",
            help="With --answers: an index of another repository, whose questions this one cannot answer. Repeatable.",
            autocompletion=complete_label,
        ),
    ] = None,
    force: Force = False,
    as_json: Annotated[bool, typer.Option("--json", help="What was made, as one JSON object; needs --out.")] = False,
) -> None:
    """Make questions of what developers wrote about their commits; the files that they changed are the answers.

    Ask them of an index of an earlier commit: one that knows a commit finds it by its own words. With --answers the
    questions are about what the index declares, and half of them are about what it does not have: ask those with `eval
    run --answers`.

    Example: rag-assets eval mine shop --answers --out questions.jsonl
    """
    if as_json and out is None:
        raise typer.BadParameter("the set itself goes to stdout; name a file for it with --out", param_hint="--json")
    if out is not None and out.suffix != ".jsonl":
        raise typer.BadParameter(f"{out} is no .jsonl file, by which eval run knows the form", param_hint="--out")
    if out is not None:
        check_new_file(out, "--out", force=force)
    session = session_of(context)
    if beside and not answers:
        raise typer.BadParameter("it says what an index cannot answer; it needs --answers", param_hint="--beside")
    if answers or documentation:
        option = "--answers" if answers else "--documentation"
        if since is not None or until is not None:
            raise typer.BadParameter(
                f"{option} asks about the index that is served, not about commits", param_hint="--since, --until"
            )
        if answers and documentation:
            raise typer.BadParameter("choose one of them", param_hint="--answers, --documentation")
        if answers:
            _mine_answers(session, repository, beside or [], out, limit, as_json)
        else:
            _mine_documentation(session, repository, out, limit, as_json)
        return
    chosen = _repository(session, repository)
    with _history(session, chosen, since, until, limit) as (snapshot, found):
        name, commit = _name(snapshot, chosen), snapshot.info.commit_sha
    rows = [question.row(name, commit) for question in found.questions]
    leaky = sum(question.leaky for question in found.questions)
    _write(session, rows, out)
    if as_json:
        session.output.json(
            {
                "file": str(out),
                "repository": name,
                "snapshot": commit,
                "questions": len(rows),
                "leaky": leaky,
                "left_out": {reason.value: count for reason, count in sorted(found.left_out.items())},
            }
        )
        return
    _advise(session, repository, commit, out, found, leaky)


def _write(session: CliSession, rows: Sequence[dict[str, Any]], out: Path | None) -> None:
    """The rows of a set as JSON lines, to a file or to stdout."""
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    if out is not None:
        with as_user_shares():
            out.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
        return
    for line in lines:
        session.output.line(line)


def _advise(session: CliSession, repository: str, commit: str, out: Path | None, found: Mined, leaky: int) -> None:
    output, made = session.output, len(found.questions)
    output.note(f"{made} questions about commit {short(commit)}, of the commits after it; {leaky} name their answer")
    for reason, count in sorted(found.left_out.items(), key=lambda pair: (-pair[1], pair[0])):
        output.note((f"  left out {count:>5}  ", "dim"), reason.value)
    if made < _SHORTEST_GOOD_SET:
        output.warning(f"{made} questions say little; choose an earlier --since")
    home = Path(f"{session.home().root}-eval")
    file = "FILE" if out is None else shlex.quote(str(out))
    prefix = f"rag-assets --home {shlex.quote(str(home))}"
    output.note("to ask them of an index that does not know the answers:")
    output.note(f"  {prefix} index {shlex.quote(repository)} --commit {commit}")
    output.note(f"  {prefix} eval run --set {file}")


def _repository(session: CliSession, word: str) -> RepositorySettings:
    from rag_assets.cli.index.targets import repository_named

    settings, home = session.settings(), session.home()
    known = home.known_labels()
    if word not in known and not Path(word).exists() and any(label.partition("@")[0] == word for label in known):
        word = label_named(known, word)
    return repository_named(settings, home, word)


@contextmanager
def _history(
    session: CliSession, repository: RepositorySettings, since: str | None, until: str | None, limit: int
) -> Iterator[tuple[Snapshot, Mined]]:
    """The snapshot, open, and the questions about it. Raises SourceError, MiningError, CommandError."""
    from rag_assets.evaluation.mining import chosen_snapshot, commit_at, is_date, mine_after

    levels = PathClearance(repository.confidentiality, repository.confidential_paths)
    sees = cache(partial(levels.visible, clearance=session.clearance()))
    with _opened(session, repository, until) as newest:
        past = newest.past()
        if past is None:
            raise CommandError(f"{repository.location} has no history; mining needs a git repository")
        if since is None:
            since = chosen_snapshot(past, limit, sees)
        elif is_date(since):
            since = commit_at(past, since)
        with _opened(session, repository, since) as snapshot:
            yield snapshot, mine_after(past, snapshot, limit, sees)


def _opened(session: CliSession, repository: RepositorySettings, ref: str | None) -> Snapshot:
    from rag_assets.pipeline.discovered_files import open_repository

    chosen = repository if ref is None else repository.model_copy(update={"ref": ref})
    return open_repository(session.home(), session.settings(), chosen, None)


def _name(snapshot: Snapshot, repository: RepositorySettings) -> str:
    """What the set calls the repository: `owner/repo` of its address, else its id."""
    from rag_assets.evaluation.selection import name_of_address

    return name_of_address(snapshot.info.remote_url) or repository.id


def _mine_answers(
    session: CliSession, label: str, beside: Sequence[str], out: Path | None, limit: int, as_json: bool
) -> None:
    """Writes `limit` questions with and without an answer, half of each, to `out` or to stdout. Raises CommandError,
    GenerationError."""
    from rag_assets.evaluation.risk_coverage import FEWEST
    from rag_assets.evaluation.selection import name_of_address

    home = session.home()
    known = home.known_labels()
    with ExitStack() as stack:
        index = stack.enter_context(_opened_index(session, label_named(known, label)))
        others = [stack.enter_context(_opened_index(session, label_named(known, other), index)) for other in beside]
        made = _mined(index, others, limit)
        manifest = index.manifest
    name = name_of_address(manifest.remote_url) or manifest.repository_id
    _write(session, [question.row(name, manifest.commit_sha) for question in made], out)
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


def _mine_documentation(session: CliSession, label: str, out: Path | None, limit: int, as_json: bool) -> None:
    """Writes `limit` questions of documentation, with spans, to `out` or to stdout. Raises CommandError,
    GenerationError."""
    from rag_assets.evaluation.documentation_mining import documentation_questions
    from rag_assets.evaluation.selection import name_of_address

    with _opened_index(session, label_named(session.home().known_labels(), label)) as index:
        made, manifest = documentation_questions(index, limit), index.manifest
    if not made:
        raise CommandError(f"{label} has no documented members; make questions of commits with: rag-assets eval mine")
    name = name_of_address(manifest.remote_url) or manifest.repository_id
    _write(session, [question.row(name, manifest.commit_sha) for question in made], out)
    if as_json:
        about = {"file": str(out), "label": manifest.index_label, "commit": manifest.commit_sha}
        session.output.json(about | {"questions": len(made)})
        return
    file = "FILE" if out is None else shlex.quote(str(out))
    session.output.note(f"{len(made)} questions of documentation of {manifest.index_label}; to see what answers cost:")
    session.output.note(f"  {session.command()} eval tokens {file} --label {manifest.index_label}")


def _mined(index: Index, others: Sequence[Index], limit: int) -> list[SyntheticQuestion]:
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


def _opened_index(session: CliSession, label: str, beside: Index | None = None) -> Index:
    """The index as the role sees it; `beside` another one it must be of the same organisation and of another
    repository."""
    from rag_assets.api import open_index

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
