"""Names of types and attributes without qualification, arguments and generics."""

from __future__ import annotations

import re
from functools import lru_cache

_CUT = re.compile(r"[<(\[\s]")
_INTERFACE_NAME = re.compile(r"I[A-Z]")  # the .NET naming rule; base lists do not say which entry is an interface
_ATTRIBUTE_SUFFIX = "Attribute"


@lru_cache(maxsize=16_384)
def simple_name(type_text: str) -> str:
    """`Acme.Repo<Order>` → `Repo`; `Base(x)` → `Base`; `global::System.Exception` → `Exception`."""
    head = _CUT.split(type_text.strip(), maxsplit=1)[0]
    return head.rsplit(".", 1)[-1].rsplit(":", 1)[-1]


@lru_cache(maxsize=16_384)
def attribute_name(attribute: str) -> str:
    """`Xunit.FactAttribute(Skip = "x")` → `Fact`; `return: NotNull` → `NotNull`."""
    name = simple_name(attribute.split(":", 1)[1] if _has_target(attribute) else attribute)
    return name.removesuffix(_ATTRIBUTE_SUFFIX) or name


def _has_target(attribute: str) -> bool:
    head, colon, rest = attribute.partition(":")
    return bool(colon) and not rest.startswith(":") and head.strip().isidentifier()


def is_interface_name(name: str) -> bool:
    return _INTERFACE_NAME.match(name) is not None
