"""Numbers of runs in the catalog: written, replaced, read back, kept beyond their generation, gone with their label."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag_assets.evaluation.summary import record_of, summarise_answers
from rag_assets.index.catalog import forget_label, forget_stale, open_catalog
from rag_assets.index.catalog.eval_runs import keep_record, read_records
from rag_assets.index.catalog.history import Tenant
from rag_assets.index.eval_records import EvalRecord
from rag_assets.settings import StoreSettings
from rag_assets_tests.evaluation.made_answers import answers
from rag_assets_tests.evaluation.made_runs import result, run
from rag_assets_tests.index.catalog.conftest import LABEL, Catalog, point

pytestmark = pytest.mark.rule("E24", "E07")


def record(catalog: Catalog, generation: str, rank: int = 1) -> EvalRecord:
    return record_of(run([result("a", rank, tags=("x",)), result("b", 0)], generation), catalog.manifest(generation))


def kept(catalog: Catalog, one: EvalRecord) -> list[str]:
    return keep_record(catalog.settings, catalog.manifest(one.generation_id), one)


def read(catalog: Catalog, tenant: Tenant | None = None) -> list[EvalRecord]:
    with open_catalog(catalog.settings) as database:
        return read_records(database, tenant or catalog.tenant)


def test_what_is_written_is_read_back_and_a_newer_run_takes_its_place(catalog: Catalog) -> None:
    catalog.build("g1", [point(1)])
    first, second = record(catalog, "g1"), record(catalog, "g2", rank=2)
    assert [kept(catalog, one) for one in (first, second, first)] == [[], [], []]
    assert read(catalog) == [first, second]
    again = record(catalog, "g1", rank=3)
    other = replace(first, set="another")
    assert [kept(catalog, one) for one in (again, other)] == [[], []]
    assert read(catalog) == [other, again, second]


def test_another_tenant_sees_nothing(catalog: Catalog) -> None:
    catalog.build("g1", [point(1)])
    kept(catalog, record(catalog, "g1"))
    assert read(catalog, Tenant("other", "shop", LABEL)) == []
    assert read(catalog, Tenant("acme", "shop", "other@main")) == []


def test_numbers_outlive_their_generation_and_go_with_their_label(catalog: Catalog) -> None:
    catalog.build("g1", [point(1)])
    catalog.build("g2", [point(2)])
    made = record(catalog, "g1")
    kept(catalog, made)
    assert forget_stale(catalog.home, LABEL, ["g2"]) == ["g1"]
    assert read(catalog) == [made]
    assert forget_label(catalog.home, LABEL)
    with catalog.opened() as database, database.transaction("read") as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM rag_eval_runs").scalar_one() == 0


def test_what_goes_wrong_is_said_and_does_not_stop_the_measuring(catalog: Catalog) -> None:
    catalog.build("g1", [point(1)])
    stranger = replace(catalog.manifest("g1"), index_label="never@built")
    (said,) = keep_record(catalog.settings, stranger, record(catalog, "g1"))
    assert "does not know never@built yet" in said and "rag-assets index" in said


def test_an_unreachable_catalog_is_said_too(on_postgres: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_ASSETS_CATALOG_URL", "postgresql://a:b@127.0.0.1:1/none")
    (said,) = kept(on_postgres, record(on_postgres, "g1"))
    assert "does not have the numbers of questions" in said


def test_without_a_catalog_there_is_nothing_to_do(catalog: Catalog) -> None:
    without = catalog.settings.model_copy(update={"stores": StoreSettings(catalog="none")})
    assert keep_record(without, catalog.manifest("g1"), record(catalog, "g1")) == []


def test_answers_are_kept_with_their_run(catalog: Catalog) -> None:
    catalog.build("g1", [point(1)])
    bare = record(catalog, "g1")
    assert bare.answers is None
    answered = replace(bare, answers=summarise_answers(answers([0.9, 0.2], [0.1])))
    assert kept(catalog, answered) == []
    assert read(catalog) == [answered] and answered.answers is not None
