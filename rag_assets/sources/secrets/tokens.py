"""Credentials that are known by their form: the rules of Betterleaks, and those for .NET, Azure and HTTP that it lacks.

`token_rules.json` holds expressions of Betterleaks (MIT, see LICENSE.betterleaks) as they are there;
`benchmarks/secret_rules.py` writes it. Betterleaks reports tokens in code, and this masks them anywhere: what must
follow a token there, such as a quote, need not follow it here, and a longer one is masked to its end.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import msgspec

from rag_assets.serialization import from_json
from rag_assets.sources.secrets.entropy import (
    has_letters_and_digits,
    is_basic_credentials,
    is_encoded_private_key,
    is_jwt,
    is_placeholder,
    is_token_of_form,
    looks_random,
)
from rag_assets.sources.secrets.rules import SecretCandidate, SecretRule

RULES_FILE = Path(__file__).with_name("token_rules.json")
LICENSE_FILE = Path(__file__).with_name("LICENSE.betterleaks")


class _Published(msgspec.Struct):
    id: str
    keywords: list[str]
    regex: str
    group: int = 0


class _RulesFile(msgspec.Struct):
    source: str
    revision: str
    license: str
    rules: list[_Published]


_END_OF_VALUE = r"""(?:\\?['"\x60]|[\s;]|\\[nr]|$)"""
"""With it an expression of Betterleaks ends: a quote, white space, `;`, or the end of the text."""
_END_OF_WORD = r"(?:[^\w+/=-]|$)"
_OPENING = re.compile(r"(?:\(\?\w+\)|\\b|\((?:\?:)?)*")
_MIN_PREFIX = 4  # characters that no other text begins with


def _adapted(rule: _Published) -> SecretRule:
    """The expression without what must be around the token, where the token has a prefix that says enough."""
    opening = _OPENING.match(rule.regex)
    begin = opening.end() if opening else 0
    text = rule.regex[begin:].replace("\\", "").lower()
    has_prefix = any(len(keyword) >= _MIN_PREFIX and text.startswith(keyword) for keyword in rule.keywords)
    pattern = rule.regex
    if has_prefix:
        pattern = rule.regex[:begin].replace(r"\b", "") + rule.regex[begin:].removesuffix(r"\b")
    if pattern.endswith(_END_OF_VALUE):
        pattern = pattern.removesuffix(_END_OF_VALUE) + ("" if has_prefix else _END_OF_WORD)
    is_secret = _has_form if has_prefix else _is_random
    return SecretRule(rule.id, tuple(rule.keywords), pattern, is_secret, is_token=True, group=rule.group)


def _has_form(found: SecretCandidate) -> bool:
    return is_token_of_form(found.value)


def _is_random(found: SecretCandidate) -> bool:
    return is_token_of_form(found.value) and looks_random(found.value)


def _value(test: Callable[[str], bool]) -> Callable[[SecretCandidate], bool]:
    return lambda found: test(found.value)


def _rule(
    name: str, keywords: tuple[str, ...], pattern: str, is_secret: Callable[[SecretCandidate], bool]
) -> SecretRule:
    return SecretRule(name, keywords, pattern, is_secret, is_token=True)


_is_own = _value(lambda value: not is_placeholder(value))
_SIGNATURES = (r"AS[bt]", "AEh", "ARm", "ABa", "AMC", "ACR")  # after a `+`
_MARKS = ("AIoT", "ACDb", "APIM", "AzCa", "AzFu", "AzSe", "AZEG", "AzML")
_WEBHOOKS = (
    r"discord(?:app)?\.com/api/webhooks/\d+/([\w-]{40,})|webhook\.office\.com/webhookb2/([\w@/-]{40,})|"
    r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/-]{20,})"
)
_OWN_RULES = (
    _rule("json-web-token", ("eyj",), r"eyJ[\w-]{10,}(?:\.[\w-]+){1,4}", _value(is_jwt)),
    _rule("url-password", ("://",), r"://[^\s/:@\"'<>`]{0,100}:([^\s/@\"'<>`]{3,200})@[\w.\[-]", _is_own),
    _rule(
        "bearer-authorization",
        ("authorization",),
        r"(?i)authorization\\?[\"']?\s{0,4}[\],:=]{1,2}\s{0,4}[$@]?\\?[\"']?(?:bearer|token|apikey)\s+"
        r"([\w.~+/-]{16,}={0,2})",
        _value(looks_random),
    ),
    _rule("basic-authorization", ("basic ",), r"(?i)\bbasic ([A-Z0-9+/]{12,}={0,2})", _value(is_basic_credentials)),
    _rule("curl-user", ("curl",), r"curl\b[^\r\n]{0,500}?\s(?:-u|--user)[ =][\"']?[^\s:\"']+:([^\s\"']{3,})", _is_own),
    _rule(
        "powershell-secure-string",
        ("convertto-securestring",),
        r"(?i)ConvertTo-SecureString\s+(?:-String\s+)?[\"']([^\"'\r\n]{4,200})[\"']",
        _is_own,
    ),
    _rule("sshpass", ("sshpass",), r"\bsshpass\s+-p\s*[\"']?([^\s\"'<>`\\]{4,})", _is_own),
    _rule(
        "mysql-password",
        ("mysql", "mariadb"),
        r"\b(?:mysql|mariadb)\S*\s(?:[^\r\n]{0,300}?\s)?-p([^\s\"':<>`\\]{4,})(?:[\s\"']|$)",
        _value(lambda value: has_letters_and_digits(value) and not is_placeholder(value)),
    ),
    _rule("netrc-password", ("machine",), r"\bmachine\s+\S+\s+login\s+\S+\s+password\s+([^\s\"'<>`\\]{4,})", _is_own),
    _rule(
        "pgpass-password",
        (":5432:", ":*:"),
        r"(?m)(?:^|[\"'])[^:\s\"']+:(?:5432|\*):[^:\s]+:[^:\s]+:([^:\s]{4,})\s*$",
        _is_own,
    ),
    _rule("npm-password", (":_password=", ":_auth="), r":_(?:password|auth)=\"?([\w+/=.-]{8,})", _is_own),
    _rule(
        "docker-auth", ('auth"',), r"\"auth\\?\"\s*:\s*\\?\"([A-Za-z0-9+/]{12,}={0,2})", _value(is_basic_credentials)
    ),
    _rule(
        "encoded-private-key", ("ls0tls1crudjti",), r"LS0tLS1CRUdJTi[A-Za-z0-9+/=]{40,}", _value(is_encoded_private_key)
    ),
    _rule("putty-key", ("private-lines",), r"Private-Lines: \d+\s+([A-Za-z0-9+/=\r\n]{40,})", _is_own),
    _rule(
        "json-web-key",
        ('"kty"',),
        r"\"kty\"[^{}]*?\"[dk]\"\s*:\s*\"([\w-]{30,})\"|\"[dk]\"\s*:\s*\"([\w-]{30,})\"[^{}]*?\"kty\"",
        _value(looks_random),
    ),
    _rule(
        "symmetric-key",
        ("symmetricsecuritykey",),
        r"SymmetricSecurityKey\s*\([^\"\r\n]{0,100}GetBytes\s*\(\s*@?\"([^\"\r\n]{16,300})\"",
        _is_own,
    ),
    _rule("npm-token", ("_authtoken=",), r"(?i)_authToken=([\w.~+/=-]{16,})", _has_form),
    # Form and place of the mark: github.com/microsoft/security-utilities (MIT).
    _rule(
        "azure-key",
        ("+asb", "+ast", "+aeh", "+arm", "+aba", "+amc", "+acr", *(mark.lower() for mark in _MARKS)),
        rf"([\w+/-]{{33,76}}(?:\+(?:{'|'.join(_SIGNATURES)})|{'|'.join(_MARKS)})[\w+/-]{{5,6}}={{0,2}}){_END_OF_WORD}",
        _value(looks_random),
    ),
    _rule("azure-annotated-key", ("jqqj9",), r"[A-Za-z0-9]{52}JQQJ9[9DH][A-Za-z0-9]{20,}", _has_form),
    _rule("azure-shared-access-signature", ("sig=",), r"[?&;]sig=([A-Za-z0-9%+/]{30,}={0,2})", _has_form),
    _rule("azure-devops-token", ("azdo",), r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}", _has_form),
    _rule("webhook", ("hook",), f"(?i)(?:{_WEBHOOKS})", _has_form),
    _rule(
        "aws-key-id", ("akia", "asia", "abia", "acca", "a3t"), r"(?:A3T[A-Z0-9]|A[KSB]IA|ACCA)[A-Z0-9]{16}\b", _has_form
    ),
    _rule("google-oauth-secret", ("gocspx-",), r"GOCSPX-[\w-]{20,}", _has_form),
    _rule("sendgrid-key", ("sg.",), r"SG\.[\w-]{16,32}\.[\w-]{16,64}", _has_form),
    _rule("entra-client-secret", ("7q~", "8q~"), r"[\w~.-]{3}[78]Q~[\w~.-]{31,34}", _has_form),
    _rule("hugging-face-token", ("hf_",), r"hf_[A-Za-z0-9]{34,}", _has_form),
    _rule("nuget-api-key", ("oy2",), r"oy2[a-z0-9]{43}\b", _has_form),
    _rule("new-relic-key", ("nrak-", "nrii-", "nrjs-", "nraa-"), r"NR(?:AK|II|JS|AA)-[\w-]{19,}", _has_form),
    _rule("new-relic-license", ("nral",), r"[0-9a-f]{36}NRAL\b", _has_form),
    _rule("sonar-token", ("squ_", "sqp_", "sqa_"), r"sq[upa]_[0-9a-f]{40}\b", _has_form),
    _rule("doppler-token", ("dp.",), r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,}", _has_form),
    _rule("vault-token", ("hvs.", "hvb.", "hvr."), r"hv[sbr]\.[\w-]{24,}", _has_form),
    _rule("openai-key", ("sk-",), r"sk-(?:proj|svcacct|admin|ant|or)-[\w-]{32,}", _has_form),
    _rule("slack-token", ("xox", "xapp-"), r"(?i)(?:xox[a-z](?:\.xox[a-z])?|xapp)-[\w-]{20,}", _has_form),
    _rule("gitlab-token", ("gl",), r"gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|oas|ffct)-[\w-]{20,}", _has_form),
    _rule("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{36,}", _has_form),
    _rule("github-fine-grained-token", ("github_pat_",), r"github_pat_\w{22,}", _has_form),
    _rule("atlassian-token", ("tt3xff",), r"AT[ABC]TT3xFf[\w=-]{40,}", _has_form),
    _rule("bitbucket-app-password", ("atbb",), r"ATBB[A-Za-z0-9]{32}\b", _has_form),
    _rule("square-token", ("sq0",), r"sq0(?:atp|csp|idp)-[\w-]{22,}", _has_form),
    _rule("octopus-key", ("api-",), r"API-[A-Z0-9]{25,40}\b", _value(looks_random)),
    _rule("stripe-key", ("_live_", "_test_", "whsec_"), r"(?:[srp]k_(?:live|test)|whsec)_[\w+/=]{24,}", _has_form),
    _rule("telegram-token", (":aa",), r"\d{8,10}:AA[\w-]{33}", _has_form),
    _rule("linear-token", ("lin_",), r"lin_(?:api|oauth|wh)_[A-Za-z0-9]{32,}", _has_form),
    _rule("figma-token", ("fig",), r"fig[dor]_[\w-]{38,}", _has_form),
    _rule("twilio-api-key", ("sk",), r"SK[0-9a-f]{32}\b", _has_form),
    _rule("mailchimp-key", ("-us",), r"[0-9a-f]{32}-us\d{1,2}\b", _has_form),
    _rule("openai-legacy-key", ("t3blbkfj",), r"sk-\w{20}T3BlbkFJ\w{20}", _has_form),
)
TOKEN_RULES = (
    *map(_adapted, from_json(RULES_FILE.read_bytes(), _RulesFile).rules),
    *_OWN_RULES,
)
