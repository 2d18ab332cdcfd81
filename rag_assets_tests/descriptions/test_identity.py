"""Unique symbols (R1): the census of a label and the final symbols of its files."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.contracts.identity import disambiguated_symbol
from rag_assets.contracts.segment import Segment, Span
from rag_assets.descriptions.processor import SymbolCounter, final_symbol, final_symbols


def segment(symbol: str, kind: str = "class", ordinal: int = 0) -> Segment:
    return Segment(
        name=symbol.rsplit(".", 1)[-1],
        symbol=symbol,
        kind=kind,
        span=Span(1, 1, 0, 1),
        language="csharp",
        ordinal=ordinal,
    )


def test_a_symbol_of_one_part_stays() -> None:
    only = segment("Shop.Order")
    assert final_symbol(only, "a.cs", SymbolCounter([only])) == "Shop.Order"


@pytest.mark.rule("R1")
def test_partials_and_copies_get_the_hash_of_their_path() -> None:
    """R1: `~` and 8 hex digits; stable when other symbols come and go."""
    part = segment("Shop.Order")
    census = SymbolCounter([part, part])
    assert final_symbol(part, "a.cs", census) == disambiguated_symbol("Shop.Order", "a.cs")
    assert final_symbol(part, "b.cs", census) != final_symbol(part, "a.cs", census)
    census.add([segment("Shop.Other")])
    assert final_symbol(part, "a.cs", census) == disambiguated_symbol("Shop.Order", "a.cs")


@pytest.mark.rule("R1")
def test_case_variants_are_one_symbol() -> None:
    """A32 lower-cases: `Foo` and `foo` would be one point."""
    upper, lower = segment("Shop.Foo"), segment("Shop.foo")
    census = SymbolCounter([upper, lower])
    symbols = [final_symbol(upper, "a.cs", census), final_symbol(lower, "b.cs", census)]
    assert len({symbol.lower() for symbol in symbols}) == 2
    assert all("~" in symbol for symbol in symbols)


def test_one_name_of_two_types_in_different_files_stays() -> None:
    """The symbol type is part of the semantic id."""
    census = SymbolCounter([segment("A.B"), segment("A.B", "enum")])
    assert final_symbol(segment("A.B"), "a.cs", census) == "A.B"
    assert census.repeated() == {}


@pytest.mark.rule("R1", "R3")
def test_repetitions_within_a_file_are_told_apart() -> None:
    """Both branches of an `#if`, also as class and struct: blob URIs know no symbol type (R3)."""
    same = [segment("A.B"), segment("A.B", ordinal=1), segment("A.b", "struct", 2), segment("A.C", ordinal=3)]
    symbols = final_symbols(same, "a.cs", SymbolCounter(same))
    assert len({symbol.lower() for symbol in symbols}) == 4
    assert symbols[3] == "A.C"
    mixed = [segment("A.B"), segment("A.B", "struct", 1)]
    assert len(set(final_symbols(mixed, "a.cs", SymbolCounter(mixed)))) == 2


def test_the_order_of_buckets_does_not_matter() -> None:
    buckets = [[segment("A"), segment("B")], [segment("a")], [segment("C"), segment("B")]]
    results = set()
    for order in permutations(buckets):
        census = SymbolCounter()
        for bucket in order:
            census.merge(SymbolCounter(bucket).counts())
        results.add((tuple(census.repeated().items()), tuple(final_symbols(buckets[0], "x.cs", census))))
    assert len(results) == 1
    assert results.pop()[0] == ((("class", "a"), 2), (("class", "b"), 2))


FILES = st.dictionaries(
    st.sampled_from(["a.cs", "b.cs", "A.cs", "c/a.cs"]),
    st.lists(
        st.builds(segment, st.sampled_from(["N.A", "N.a", "N.B", "N.B`1"]), st.sampled_from(["class", "enum"])),
        max_size=5,
    ),
)


@pytest.mark.rule("R1", "R3")
@given(FILES)
def test_ids_and_uris_are_unique_in_a_label(files: dict[str, list[Segment]]) -> None:
    """R1, R3: (symbol type, symbol) over the label and (path, symbol) over a file, both lower-cased, occur once."""
    census = SymbolCounter(found for segments in files.values() for found in segments)
    ids, uris = [], []
    for path, segments in files.items():
        for found, symbol in zip(segments, final_symbols(segments, path, census), strict=True):
            ids.append((found.kind, symbol.lower()))
            uris.append((path, symbol.lower()))
    assert len(set(ids)) == len(ids)
    assert len(set(uris)) == len(uris)
