"""What one `plan` command does for each repository: the same targets as `index`, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_assets.contracts.errors import ExpectedError
from rag_assets.interfaces.cli.failures import describe
from rag_assets.interfaces.cli.indexing import Request, require_writable
from rag_assets.interfaces.cli.progress import shown_progress
from rag_assets.interfaces.cli.session import Session
from rag_assets.interfaces.cli.targets import chosen_repositories, refuse_takeover
from rag_assets.stages.labels import label_of
from rag_assets.stages.planning import BuildPlan, plan_build
from rag_assets.stores.home import Home


@dataclass(frozen=True, slots=True)
class Failed:
    """A repository that no plan could be made for; the reason has been said."""

    label: str
    failure: str


def plan_all(session: Session, named: Sequence[str], request: Request) -> Iterator[BuildPlan | Failed]:
    """Plans one repository after the other; one that fails does not stop the next.

    Errors that concern all of them (configuration, home) are raised.
    """
    settings = session.settings()
    if request.lexical_only:
        settings = settings.without_vectors()
    home = Home(settings.home)
    require_writable(home)
    for repository in chosen_repositories(settings, home, named, ref=request.ref, identifier=request.identifier):
        label = repository.id
        try:
            label, ref = label_of(settings, repository)
            repository = repository.model_copy(update={"ref": ref})
            refuse_takeover(settings, home, label, repository)
            with shown_progress(session.output) as progress:
                yield plan_build(home, settings, label, repository, progress, commit=request.commit)
        except (ExpectedError, OSError) as error:
            said = describe(error)
            session.output.error(said if label in said else f"{label}: {said}")
            yield Failed(label, said)
