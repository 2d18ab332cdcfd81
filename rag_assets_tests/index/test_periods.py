"""Dates as people write them, and the periods they make."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from rag_assets.index.vectors.filters import ALWAYS, Period, PeriodError, moment

DAY = datetime(2026, 1, 31, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2026", datetime(2026, 1, 1, tzinfo=UTC)),
        ("2026-02", datetime(2026, 2, 1, tzinfo=UTC)),
        ("2026-01-31", DAY),
        (" 20260131 ", DAY),
        ("2026-01-31T12:30", DAY + timedelta(hours=12, minutes=30)),
        ("2026-01-31 12:30:05.5", DAY + timedelta(hours=12, minutes=30, seconds=5.5)),
        ("2026-01-31T01:00:00+01:00", DAY),
        ("2026-01-31T00:00:00Z", DAY),
        (date(2026, 1, 31), DAY),
        (datetime(2026, 1, 31), DAY),
        (datetime(2026, 1, 31, 1, tzinfo=timezone(timedelta(hours=1))), DAY),
    ],
    ids=str,
)
def test_a_date_is_its_first_moment(written: str | date, expected: datetime) -> None:
    assert moment(written) == expected


@pytest.mark.parametrize("written", ["", "yesterday", "2026-13", "0000", "31.01.2026", "2026-02-30", "2026-1-1", "26"])
def test_what_is_no_date_is_explained(written: str) -> None:
    with pytest.raises(PeriodError, match="is not a date; write 2026, 2026-01, 2026-01-31"):
        moment(written)


def test_two_periods_allow_what_both_allow() -> None:
    early, late = DAY, DAY + timedelta(days=9)
    assert Period(since=early).within(Period(before=late)) == Period(since=early, before=late)
    assert Period(since=early, before=late).within(Period(since=late - timedelta(1))).since == late - timedelta(1)
    assert Period(before=early).within(Period(before=late)).before == early
    assert ALWAYS.within(ALWAYS) == ALWAYS
    assert (bool(ALWAYS), bool(Period(since=early)), bool(Period(before=early))) == (False, True, True)


@pytest.mark.parametrize("days", [0, 1])
def test_a_period_without_a_moment_is_refused(days: int) -> None:
    with pytest.raises(PeriodError, match="nothing is changed since 2026-02-01"):
        Period(since=datetime(2026, 2, 1, tzinfo=UTC), before=datetime(2026, 2, 1, tzinfo=UTC) - timedelta(days=days))
