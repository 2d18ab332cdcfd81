"""Which points fulfil a condition, for a store that scans: payload fields as columns, asked all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import msgspec
import numpy as np

from rag_assets.index.vectors.conditions import (
    Absent,
    AllOf,
    AnyOf,
    BeginsWith,
    Between,
    Condition,
    Equal,
    HasId,
    Not,
    OneOf,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]


class FieldColumn(msgspec.Struct, frozen=True):
    """The values of one payload field: entry i says that point `rows[i]` (int32) has `values[codes[i]]` (int32). A
    field that is a list has several entries of one point, one that is absent none."""

    values: list[str]
    rows: bytes
    codes: bytes

    @classmethod
    def of(cls, found: Iterable[Any]) -> Self:
        """The column of a field that has these contents, point by point; None and '' are absent."""
        numbers: dict[str, int] = {}
        rows, codes = [], []
        for row, content in enumerate(found):
            for value in dict.fromkeys(content if isinstance(content, list) else (content,)):
                if value not in (None, ""):
                    rows.append(row)
                    codes.append(numbers.setdefault(value, len(numbers)))
        return cls(list(numbers), np.array(rows, np.int32).tobytes(), np.array(codes, np.int32).tobytes())

    def having(self, points: int, matches: Callable[[str], bool] | None = None) -> Mask:
        """Which points have a value, or one that matches."""
        rows = np.frombuffer(self.rows, np.int32)
        mask = np.zeros(points, np.bool_)
        if matches is None:
            mask[rows] = True
        else:
            wanted = np.fromiter((matches(value) for value in self.values), np.bool_, len(self.values))
            mask[rows[wanted[np.frombuffer(self.codes, np.int32)]]] = True
        return mask

    def counts(self, mask: Mask) -> dict[str, int]:
        """Value → how many of the points of the mask have it; those that none has are left out."""
        codes = np.frombuffer(self.codes, np.int32)[mask[np.frombuffer(self.rows, np.int32)]]
        found = np.bincount(codes, minlength=len(self.values)).tolist()
        return {value: count for value, count in zip(self.values, found, strict=True) if count}


class FieldMasks:
    """Conditions over the columns of all points. Safe to use from several threads."""

    def __init__(self, columns: Mapping[str, FieldColumn], row_of: Mapping[str, int]) -> None:
        """`row_of` has every point by its id."""
        self._columns = columns
        self._row_of = row_of

    def all_of(self, conditions: Sequence[Condition]) -> Mask:
        mask = np.ones(len(self._row_of), np.bool_)
        for condition in conditions:
            mask &= self._mask(condition)
        return mask

    def counts(self, key: str, mask: Mask) -> dict[str, int]:
        return self._columns[key].counts(mask)

    def _mask(self, condition: Condition) -> Mask:
        match condition:
            case AllOf():
                return self.all_of(condition.conditions)
            case AnyOf():
                mask = np.zeros(len(self._row_of), np.bool_)
                for one in condition.conditions:
                    mask |= self._mask(one)
                return mask
            case Not():
                return ~self._mask(condition.condition)
            case HasId():
                mask = np.zeros(len(self._row_of), np.bool_)
                mask[[self._row_of[known] for known in condition.ids if known in self._row_of]] = True
                return mask
            case Absent():
                return ~self._having(condition.key)
            case Equal():
                return self._having(condition.key, condition.value.__eq__)
            case OneOf():
                return self._having(condition.key, frozenset(condition.values).__contains__)
            case BeginsWith():
                prefix = condition.prefix
                return self._having(condition.key, lambda value: value.startswith(prefix))
            case Between():
                return self._having(condition.key, condition.holds)

    def _having(self, key: str, matches: Callable[[str], bool] | None = None) -> Mask:
        return self._columns[key].having(len(self._row_of), matches)
