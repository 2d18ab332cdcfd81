"""Declared target state against a store that only remembers what it was told."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from rag_assets.index.vectors.vector_api import DeclaredPoints, StoredPoint, bring_to

DIGESTS = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from("123"))


@dataclass
class Remembering:
    """A target; `calls` is what it was asked for, in order."""

    points: dict[str, str]
    calls: list[str] = field(default_factory=list)

    def stored(self) -> dict[str, str]:
        return dict(self.points)

    def upsert(self, batch: Sequence[StoredPoint]) -> None:
        self.calls.append("upsert")
        self.points.update((point.id, point.digest) for point in batch)

    def delete(self, ids: Sequence[str]) -> None:
        self.calls.append("delete")
        for key in ids:
            del self.points[key]

    def finish(self) -> None:
        self.calls.append("finish")


def portions(declared: dict[str, str], size: int) -> Iterator[DeclaredPoints]:
    keys = sorted(declared)
    for start in range(0, len(keys), size):
        part = {key: declared[key] for key in keys[start : start + size]}

        def load(wanted: Collection[str], part: dict[str, str] = part) -> Iterator[list[StoredPoint]]:
            assert set(wanted) <= part.keys()
            yield [StoredPoint(key, None, ((), ()), {}, part[key]) for key in sorted(wanted)]  # type: ignore[arg-type]

        yield DeclaredPoints(part, load)


@given(DIGESTS, DIGESTS, DIGESTS, st.integers(1, 4))
def test_every_target_ends_with_what_is_declared(
    declared: dict[str, str], one: dict[str, str], other: dict[str, str], size: int
) -> None:
    targets = [Remembering(dict(one)), Remembering(dict(other))]
    found = bring_to(targets, portions(declared, size))
    assert [target.points for target in targets] == [declared, declared]
    assert found.upserts == {key for key, digest in declared.items() if other.get(key) != digest}
    assert set(found.deletes) == other.keys() - declared.keys()
    for target in targets:
        assert target.calls[-1] == "finish" and target.calls.count("finish") == 1
        assert sorted(target.calls[:-1], reverse=True) == target.calls[:-1], "upserts before deletes"


@given(DIGESTS)
def test_what_is_there_is_left_alone(declared: dict[str, str]) -> None:
    target = Remembering(dict(declared))
    assert bring_to([target], portions(declared, 2)).is_empty
    assert target.calls == ["finish"]


def test_points_without_a_digest_are_written_again() -> None:
    """A store of an earlier version has none."""
    target = Remembering({"a": ""})
    assert bring_to([target], portions({"a": "1"}, 1)).upserts == {"a"}
