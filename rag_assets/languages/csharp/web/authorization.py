"""Who may call an endpoint, from attributes and from the calls that minimal APIs chain."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rag_assets.languages.csharp.facts.expressions import arguments_of, last_name, literal
from rag_assets.languages.csharp.simple_names import attribute_name
from rag_assets.languages.csharp.web.endpoint_model import Authorization

_FILTERS = frozenset({"ConfirmedUser", "AppBuilder", "SystemAdmin", "OrgAdmin", "FinanceAdmin", "DeviceOwner"})
"""Attributes of the LagoVista framework that restrict access, and are not named like it."""

_ROLE_CALL = re.compile(r"\bRequireRole\s*\(([^()]*)\)")


def authorization_of(attributes: Iterable[str], *, inherited: bool = False) -> Authorization:
    """What a list of attributes says (`Authorize(Roles = "a,b")`, `AllowAnonymous`, custom `…Authorize`)."""
    policies: list[str] = []
    roles: list[str] = []
    filters: list[str] = []
    anonymous = required = False
    for attribute in attributes:
        name = attribute_name(attribute)
        if name == "AllowAnonymous":
            anonymous = True
        elif name in _FILTERS:
            required = True
            filters.append(name)
        elif name.endswith("Authorize"):
            required = True
            found = arguments_of(attribute)
            policies += [requirement] if (requirement := _type_argument(attribute)) else []
            policies += [_value(text) for text in (*found.positional[:1], found.named.get("Policy", "")) if text]
            for text in (found.named.get("Roles", ""), found.named.get("Role", "")):
                roles += [role for part in _value(text).split(",") if (role := part.strip())]
            if name != "Authorize":
                filters.append(name)
    if not (anonymous or required):
        return Authorization()
    return Authorization(anonymous, required, _once(policies), _once(roles), _once(filters), inherited)


def required_by_call(arguments: tuple[str, ...]) -> Authorization:
    """What `RequireAuthorization(…)` says: policy names, a policy builder, or nothing more than that it is needed."""
    policies = [_value(text) for text in arguments if "=>" not in text and not text.startswith("new")]
    roles = [
        _value(role)
        for text in arguments
        for call in _ROLE_CALL.findall(text)
        for role in call.split(",")
        if role.strip()
    ]
    return Authorization(required=True, policies=_once(policies), roles=_once(roles))


def combined(levels: Iterable[Authorization]) -> Authorization:
    """All of them together: anonymous access anywhere wins, otherwise every demand holds."""
    found = [level for level in levels if level != Authorization()]
    if not found:
        return Authorization()
    anonymous = any(level.anonymous for level in found)
    deciding = [level for level in found if level.anonymous == anonymous]
    return Authorization(
        anonymous=anonymous,
        required=not anonymous and any(level.required for level in found),
        policies=() if anonymous else _once(name for level in found for name in level.policies),
        roles=() if anonymous else _once(name for level in found for name in level.roles),
        filters=() if anonymous else _once(name for level in found for name in level.filters),
        inherited=all(level.inherited for level in deciding),
    )


def _type_argument(attribute: str) -> str:
    """`Authorize<ManageUsersRequirement>`: the requirement stands for a policy."""
    head = attribute.partition("(")[0]
    return head.partition("<")[2].rstrip().removesuffix(">").strip()


def _value(text: str) -> str:
    """The string of an expression, or the name of a constant that is declared elsewhere."""
    known = literal(text)
    return known if known is not None else last_name(text) or text.strip()


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))
