"""`InvokeResult`: the outcome of an operation whose failures are expected (IDX-069 §5, rules A13, A17, A28)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Message:
    """One error or warning. `code` names the rule (`PAYLOAD.org-id`), so that reports can count by rule."""

    code: str
    text: str

    def __str__(self) -> str:
        return f"{self.code}: {self.text}"


@dataclass(frozen=True, slots=True)
class InvokeResult(Generic[T]):
    """A value or the reasons for its absence, plus advisory warnings.

    `successful` and `value is None` together mean "not applicable" (R15).
    """

    value: T | None = None
    errors: tuple[Message, ...] = ()
    warnings: tuple[Message, ...] = ()

    @property
    def successful(self) -> bool:
        return not self.errors

    @classmethod
    def create(cls, value: T, warnings: Iterable[Message] = ()) -> InvokeResult[T]:
        return cls(value=value, warnings=tuple(warnings))

    @classmethod
    def not_applicable(cls, warnings: Iterable[Message] = ()) -> InvokeResult[T]:
        return cls(warnings=tuple(warnings))

    @classmethod
    def failure(cls, errors: Iterable[Message], warnings: Iterable[Message] = ()) -> InvokeResult[T]:
        found = tuple(errors)
        if not found:
            raise ValueError("a failed InvokeResult needs at least one error")
        return cls(errors=found, warnings=tuple(warnings))


def aggregate(results: Iterable[InvokeResult[Any]]) -> InvokeResult[None]:
    """All errors and all warnings of `results`, in order, as one result (A28)."""
    errors: list[Message] = []
    warnings: list[Message] = []
    for result in results:
        errors.extend(result.errors)
        warnings.extend(result.warnings)
    return InvokeResult(errors=tuple(errors), warnings=tuple(warnings))
