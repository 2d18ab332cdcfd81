"""Reads the price list of a nursery and prints the SQL that updates the catalogue."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation


class PriceListError(ValueError):
    """A row that cannot be imported; the message names its line."""


@dataclass(frozen=True)
class PriceRow:
    """One product of the price list."""

    sku: str
    name: str
    price: Decimal

    def to_sql(self) -> str:
        """The statement that stores the new price."""
        name = self.name.replace("'", "''")
        return f"UPDATE [catalog].[Products] SET Name = N'{name}', Price = {self.price} WHERE Sku = '{self.sku}';"


def read_rows(lines: Iterable[str]) -> Iterator[PriceRow]:
    """Rows of a price list with the columns sku, name and price. Raises PriceListError."""
    for number, row in enumerate(csv.DictReader(lines), start=2):
        try:
            yield PriceRow(row["sku"].strip().upper(), row["name"].strip(), Decimal(row["price"]))
        except (KeyError, InvalidOperation) as error:
            raise PriceListError(f"line {number}: {error}") from error


def main() -> int:
    """Reads standard input, writes standard output."""
    for row in read_rows(sys.stdin):
        print(row.to_sql())
    return 0


if __name__ == "__main__":
    sys.exit(main())
