"""When a file was changed last, as a condition of a search (E08). Pure: dates are never relative to now."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime

from rag_assets.contracts.errors import WrongUsage

_YEAR_OR_MONTH = re.compile(r"(?P<year>\d{4})(?:-(?P<month>\d{2}))?")


class PeriodError(WrongUsage, ValueError):
    """Something that is no date, or a period without a moment in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """From `since`, inclusive, to `before`, exclusive; None is open. Aware times. Raises PeriodError where no moment
    fulfils both."""

    since: datetime | None = None
    before: datetime | None = None

    def __post_init__(self) -> None:
        if self.since is not None and self.before is not None and self.since >= self.before:
            raise PeriodError(f"nothing is changed since {self.since:%F %T} and before {self.before:%F %T}")

    def __bool__(self) -> bool:
        """Whether it says anything."""
        return self.since is not None or self.before is not None

    def within(self, other: Period) -> Period:
        """What both allow. Raises PeriodError for none."""
        since = [moment for moment in (self.since, other.since) if moment is not None]
        before = [moment for moment in (self.before, other.before) if moment is not None]
        return Period(since=max(since, default=None), before=min(before, default=None))


ALWAYS = Period()


def moment(written: str | date) -> datetime:
    """The first moment of `2026`, `2026-01`, `2026-01-31` or a `date`, in UTC, or the time that is written out (ISO
    8601, UTC unless it says otherwise). Raises PeriodError."""
    if isinstance(written, datetime):
        made = written
    elif isinstance(written, date):
        made = datetime(written.year, written.month, written.day)
    else:
        made = _parsed(written.strip())
    return made if made.tzinfo is not None else made.replace(tzinfo=UTC)


def _parsed(written: str) -> datetime:
    short = _YEAR_OR_MONTH.fullmatch(written)
    try:
        return datetime(int(short["year"]), int(short["month"] or 1), 1) if short else datetime.fromisoformat(written)
    except ValueError:
        raise PeriodError(f"{written!r} is not a date; write 2026, 2026-01, 2026-01-31 or 2026-01-31T12:00") from None
