"""History: the generations of a label, and how well they answered."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.contracts.confidentiality import Confidentiality, may_see, most_confidential
from rag_assets.evaluation.report import Report, known_records, make_report
from rag_assets.index.eval_records import Decision, EvalRecord, read_decision
from rag_assets.index.generation_refs import named_generation
from rag_assets.index.generations import GenerationError, Manifest, read_generation
from rag_assets.index.inventory import GenerationEntry, inventory
from rag_assets.index.layout import IndexHome
from rag_assets.serving.access import Caller
from rag_assets.serving.index_pool import IndexPool, is_seen
from rag_assets.settings.config_file import config_of


@dataclass(frozen=True, slots=True)
class GenerationRow:
    """A finished generation; `decision` is that of the promotion gate, None where it was not asked."""

    entry: GenerationEntry
    manifest: Manifest
    decision: Decision | None


def generations(home: IndexHome, label: str, caller: Caller) -> tuple[GenerationRow, ...]:
    """The finished generations of which a caller may see something, newest commit first."""
    rows = []
    for entry in inventory(home, label):
        try:
            known = read_generation(home, label, entry.generation_id)
        except GenerationError:  # unfinished or damaged: nobody can be served from it
            continue
        if is_seen(known.manifest, caller):
            rows.append(GenerationRow(entry, known.manifest, read_decision(known.directory)))
    return tuple(rows)


def evaluation(pool: IndexPool, label: str, name: str, caller: Caller) -> Report:
    """The report about a generation of a label. Raises NothingMeasured, and GenerationError for one that the caller may
    not see."""
    from rag_assets.settings import load_settings

    found = read_generation(pool.home, *named_generation(pool.home, [label], name))
    if not is_seen(found.manifest, caller):
        raise GenerationError(f"{label} has no generation {name!r}")
    settings = load_settings(config_of(pool.home.root, pool.config)).model_copy(update={"home": pool.home.root})
    records, _ = known_records(pool.home, found.manifest, settings)
    seen = [record for record in records if _is_within(record, caller.clearance)]
    return make_report(found, seen, clearance=caller.clearance)


def _is_within(record: EvalRecord, clearance: Confidentiality) -> bool:
    """Whether the searches behind numbers reached nothing above a clearance."""
    return may_see(clearance, Confidentiality(record.conditions.clearance))


def sees_all(manifest: Manifest, clearance: Confidentiality) -> bool:
    """Whether numbers of a whole generation say nothing that a reader may not know."""
    return may_see(clearance, most_confidential([manifest.confidentiality, *manifest.confidential_paths.values()]))
