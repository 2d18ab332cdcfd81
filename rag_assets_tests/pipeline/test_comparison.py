"""What changed between two generations, counted against what the test itself changed."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.index import parquet_parts
from rag_assets.index.generations import Generation, read_generation
from rag_assets.pipeline.generation_diff import GenerationDiff, TwoOrganisations, compare
from rag_assets.pipeline.run_stages import run_stages
from rag_assets_tests.generation_history import SERVICE, History, new_history


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    return new_history(tmp_path_factory.mktemp("history"))


def generation(history: History, generation_id: str) -> Generation:
    return read_generation(history.home, history.label, generation_id)


def compared(history: History, old: int, new: int, limit: int | None = None) -> GenerationDiff:
    return compare(generation(history, history.ids[old]), generation(history, history.ids[new]), limit=limit)


def counts(found: GenerationDiff) -> tuple[int, int, int, int]:
    return found.added, found.changed, found.removed, found.moved


def test_a_changed_symbol_is_changed_and_nothing_else(history: History) -> None:
    found = compared(history, 0, 1)
    assert (found.added, found.removed, found.moved) == (0, 0, 0)
    assert {(change.path, change.symbol) for change in found.changes} == {("src/OrderService.cs", "Shop.OrderService")}
    assert found.changed == sum(change.changed for change in found.changes) > 0
    assert found.changed + found.unchanged == found.new.counts["points"]


def test_both_directions_mirror_each_other(history: History) -> None:
    forth, back = compared(history, 1, 2), compared(history, 2, 1)
    assert counts(forth) == (forth.added, 0, 0, 0) and forth.added > 0
    assert counts(back) == (0, 0, forth.added, 0)
    assert [change.path for change in forth.changes] == [change.path for change in back.changes] == ["src/Refund.cs"]


def test_a_generation_equals_itself(history: History) -> None:
    found = compared(history, 2, 2)
    assert found.equal and found.changes == () and found.unchanged == found.new.counts["points"]


def test_the_limit_bounds_the_list_and_not_the_counts(history: History) -> None:
    whole, listed = compared(history, 0, 2), compared(history, 0, 2, limit=1)
    assert counts(listed) == counts(whole) and listed.groups == whole.groups == len(whole.changes) == 2
    assert listed.changes == whole.changes[:1]


def test_buckets_may_differ_in_number(history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository that grows gets more buckets; every file lies in another one then."""
    mine = history.copy(tmp_path)
    monkeypatch.setattr(parquet_parts, "FILES_PER_BUCKET", 1)
    build, _ = mine.index(force=True)
    forced = generation(mine, build.spec.generation_id)
    assert forced.manifest.bucket_count == 4
    assert compare(generation(mine, mine.ids[2]), forced).equal
    found = compare(generation(history, history.ids[0]), forced)  # pruned in `mine` by now
    assert counts(found) == counts(compared(history, 0, 2))


def test_a_renamed_file_and_a_deleted_one(history: History, tmp_path: Path) -> None:
    mine = history.copy(tmp_path)
    mine.source.git("mv", "src/OrderService.cs", "src/Service.cs")
    (mine.source.path / "docs/guide.md").unlink()
    made = mine.commit({})
    found = compare(generation(mine, mine.ids[2]), generation(mine, made))
    by_path = {change.path: change for change in found.changes}
    assert set(by_path) == {"docs/guide.md", "src/Service.cs"}
    assert by_path["docs/guide.md"].removed == found.removed > 0
    assert by_path["src/Service.cs"].moved_from == "src/OrderService.cs"
    assert by_path["src/Service.cs"].moved + by_path["src/Service.cs"].changed == found.moved + found.changed > 0
    assert found.added == 0


def test_two_labels_of_one_repository(history: History, tmp_path: Path) -> None:
    mine = history.copy(tmp_path)
    mine.source.git("checkout", "--quiet", "-b", "dev")
    mine.source.commit({"src/OrderService.cs": SERVICE.format("Counts for dev.", 3)})
    build, _ = run_stages(mine.settings, "shop@dev", mine.repository.model_copy(update={"ref": "dev"}))
    found = compare(generation(mine, mine.ids[2]), read_generation(mine.home, "shop@dev", build.spec.generation_id))
    assert counts(found) == (0, found.changed, 0, 0)
    assert {change.path for change in found.changes} == {"src/OrderService.cs"}
    assert found.notes == ()


def test_what_else_differs_is_said(history: History) -> None:
    one = generation(history, history.ids[2])
    other = dataclasses.replace(
        one.manifest, embedding_model="other", dimension=384, repository_id="zoo", stage_versions={"segments": "9"}
    )
    notes = " ".join(compare(one, dataclasses.replace(one, manifest=other)).notes)
    assert "two embedding spaces: lexical-only (0) and other (384)" in notes
    assert "two repositories" in notes
    assert "segments" in notes


@pytest.mark.rule("E12")
def test_each_side_shows_what_its_own_levels_let_be_seen(history: History) -> None:
    """A file that became confidential is gone for who may not see it any more, and is not a change for others."""
    one = generation(history, history.ids[2])
    guarded = dataclasses.replace(one.manifest, confidential_paths={"src/Refund.cs": Confidentiality.RESTRICTED})
    later = dataclasses.replace(one, manifest=guarded)
    for clearance, removed in ((Confidentiality.INTERNAL, {"src/Refund.cs"}), (Confidentiality.RESTRICTED, set())):
        found = compare(one, later, clearance=clearance)
        assert {change.path for change in found.changes if change.removed} == removed == {c.path for c in found.changes}
    assert compare(later, later, clearance=Confidentiality.INTERNAL).unchanged < compare(later, later).unchanged
    assert compare(one, later, clearance=Confidentiality.PUBLIC).unchanged == 0


@pytest.mark.rule("B02")
def test_two_organisations_are_never_compared(history: History) -> None:
    one = generation(history, history.ids[2])
    other = dataclasses.replace(one, manifest=dataclasses.replace(one.manifest, org_id="globex"))
    with pytest.raises(TwoOrganisations, match=r"labels of several organisations \(local, globex\) are never compared"):
        compare(one, other)
