"""The rules for credentials: provider tokens (of detect-secrets and our own) and names that announce a credential.

For the providers it knows, the rules of detect-secrets (Yelp, Apache-2.0) are used, because it has two small
dependencies; credsweeper has more rules and 33 dependencies, among them pandas, lxml and cryptography. The generic
rules of detect-secrets (entropy, keyword) are not used, because they flag C# code. A rule is tried only around one of
its literals, and most literals are searched only in the long words of a text (see Anchor).
"""

from __future__ import annotations

import importlib
import importlib.metadata
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache

from rag_assets.sources.secrets.entropy import is_basic_credentials, is_jwt, looks_random

LIBRARY = "detect-secrets"

Check = Callable[[str], bool]


class Anchor(Enum):
    """The text in which the literals of a rule are searched. Each search through a whole text costs 0.6 ms/MB."""

    WORDS = "words"  # the words of 16 and more characters that are not mere names: 2 % of C# code
    TEXT = "text"
    LOWER = "lower"  # the lower-case text


_IN_WORDS = frozenset(b"-_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
WORD_BYTES = bytes(byte if byte in _IN_WORDS else ord(" ") for byte in range(256))
"""Translation table that leaves words of letters, digits, `_` and `-`."""
MIN_WORD = 16  # the shortest token, an AWS key id, has 20


@dataclass(frozen=True, slots=True)
class TokenRule:
    """A credential with a recognisable form. `group` of `pattern` gets masked.

    Every match contains one of `literals`; `check` must accept the masked part.
    """

    name: str
    literals: tuple[str, ...]
    pattern: re.Pattern[str]
    group: int = 0
    check: Check | None = None
    probe: Anchor = Anchor.WORDS


@dataclass(frozen=True, slots=True)
class _LibraryRule:
    """The expressions of one detector: all of them, or number `expression`."""

    module: str
    detector: str
    literals: tuple[str, ...]
    group: int = 0
    probe: Anchor = Anchor.WORDS
    expression: int | None = None
    name: str = ""


_LIBRARY_RULES = (
    _LibraryRule("github_token", "GitHubTokenDetector", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    _LibraryRule("aws", "AWSKeyDetector", ("AKIA", "ASIA", "ABIA", "ACCA", "A3T"), expression=0),
    _LibraryRule(
        "aws", "AWSKeyDetector", ("aws",), group=1, probe=Anchor.LOWER, expression=1, name="aws-secret-access-key"
    ),
    _LibraryRule(
        "gitlab_token",
        "GitLabTokenDetector",
        (
            "glpat-",
            "gldt-",
            "glft-",
            "glsoat-",
            "glrt-",
            "GR1348941",
            "glcbt-",
            "glimt-",
            "glptt-",
            "glagent-",
            "gloas-",
        ),
    ),
    _LibraryRule("npm", "NpmDetector", ("_authtoken=",), group=1, probe=Anchor.LOWER),
    _LibraryRule("openai", "OpenAIDetector", ("T3BlbkFJ",)),
    _LibraryRule("pypi_token", "PypiTokenDetector", ("pypi-AgE",)),
    _LibraryRule("sendgrid", "SendGridDetector", ("SG.",), probe=Anchor.TEXT),
    _LibraryRule("slack", "SlackDetector", ("xox", "XOX")),
    _LibraryRule("slack", "SlackDetector", ("hook",), probe=Anchor.LOWER),
    _LibraryRule("square_oauth", "SquareOAuthDetector", ("sq0csp-",)),
    _LibraryRule("stripe", "StripeDetector", ("sk_live_", "rk_live_")),
    _LibraryRule("telegram_token", "TelegramBotTokenDetector", (":AA",), probe=Anchor.TEXT),
    _LibraryRule("mailchimp", "MailchimpDetector", ("-us",)),
)


def _own(
    name: str,
    literals: str | tuple[str, ...],
    pattern: str,
    group: int = 0,
    *,
    check: Check | None = None,
    probe: Anchor = Anchor.WORDS,
) -> TokenRule:
    named = (literals,) if isinstance(literals, str) else literals
    return TokenRule(name, named, re.compile(pattern, re.ASCII), group, check, probe)


_START = r"(?<![A-Za-z0-9_])"
_END = r"(?![A-Za-z0-9_])"
_SECURE_STRING = r"ConvertTo-SecureString\s+(?:-String\s+)?[\"']([^\"'\r\n]{4,200})[\"']"

OWN_RULES = (
    _own("json-web-token", "eyJ", _START + r"eyJ[\w-]{10,}(?:\.[\w-]+){1,4}", check=is_jwt),
    _own(
        "url-password",
        "://",
        r"://[^\s/:@\"'<>`]{0,100}:([^\s/@\"'<>`]{3,200})@(?=[\w.\[-])",
        1,
        probe=Anchor.TEXT,
    ),
    _own(
        "bearer-authorization",
        "authorization",
        r"(?i:authorization)[\"']?\s{0,4}[\],:=]{1,2}\s{0,4}[$@]?[\"']?(?i:bearer)\s+([\w.~+/-]{16,}={0,2})",
        1,
        check=looks_random,
        probe=Anchor.LOWER,
    ),
    _own(
        "basic-authorization",
        "asic ",
        r"\b(?i:basic) ([A-Za-z0-9+/]{12,}={0,2})" + _END,
        1,
        check=is_basic_credentials,
        probe=Anchor.TEXT,
    ),
    _own("github-fine-grained-token", "github_pat_", _START + r"github_pat_[A-Za-z0-9_]{22,255}"),
    _own("google-api-key", "AIza", _START + r"AIza[\w-]{35}" + _END),
    _own("google-oauth-secret", "GOCSPX-", _START + r"GOCSPX-[\w-]{28}"),
    _own("nuget-api-key", "oy2", _START + r"oy2[a-z0-9]{43}" + _END),
    _own("npm-token", "npm_", _START + r"npm_[A-Za-z0-9]{36}" + _END),
    _own("anthropic-api-key", "sk-ant-", _START + r"sk-ant-[\w-]{32,}"),
    _own("hugging-face-token", "hf_", _START + r"hf_[A-Za-z]{34}" + _END),
    _own("databricks-token", "dapi", _START + r"dapi[0-9a-f]{32}" + _END),
    _own("digitalocean-token", "_v1_", _START + r"do[opr]_v1_[0-9a-f]{64}"),
    _own(
        "shopify-token", ("shpat_", "shpca_", "shppa_", "shpss_"), _START + r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}" + _END
    ),
    _own("stripe-webhook-secret", "whsec_", _START + r"whsec_[A-Za-z0-9+/=]{24,}"),
    _own("stripe-test-key", ("sk_test_", "rk_test_"), _START + r"[sr]k_test_[0-9A-Za-z]{24,}"),
    _own("slack-app-token", "xapp-", _START + r"xapp-\d-[A-Z0-9]+-\d+-[a-z0-9]+"),
    _own("twilio-api-key", "SK", _START + r"SK[0-9a-f]{32}" + _END),
    _own("age-secret-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    _own("powershell-secure-string", "ConvertTo-SecureString", _SECURE_STRING, 1),
    _own("azure-client-secret", "8Q~", r"(?<![\w~.-])[\w~.-]{3}8Q~[\w~.-]{34}(?![\w~.-])", probe=Anchor.TEXT),
    _own("azure-shared-access-signature", "sig=", r"[?&;]sig=([A-Za-z0-9%+/]{30,}={0,2})", 1, probe=Anchor.TEXT),
    _own("discord-webhook", "hook", r"discord(?:app)?\.com/api/webhooks/\d+/([\w-]{40,})", 1, probe=Anchor.LOWER),
    _own("teams-webhook", "hook", r"webhook\.office\.com/webhookb2/([\w@/-]{40,})", 1, probe=Anchor.LOWER),
)

PRIVATE_KEY_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
PRIVATE_KEY_LITERAL = "PRIVATE KEY"

# Names that announce a credential, in lower case.
PASSWORD_NAMES = ("password", "passwd", "passphrase", "pwd")
SECRET_NAME = "secret"
# `key` alone means nothing in code; after one of these words it does (`api_key`, `ApiKey`). A bare `token` counts
# too, but only a long random value makes it a credential.
BARE_TOKEN = "token"
KEY_NAME = "key"
_KEY_QUALIFIERS = ("api", "access", "account", "auth", "master", "private", "encryption", "signing", "storage",
                   "subscription", "secret", "jwt", "validation", "decryption")  # fmt: skip
_TOKEN_QUALIFIERS = ("access", "auth", "bearer", "refresh", "sas")
KEY_QUALIFIERS = tuple(word + joint for word in _KEY_QUALIFIERS for joint in ("", "_", "-"))
LONGEST_QUALIFIER = max(map(len, KEY_QUALIFIERS))

# An identifier without `_` and `-` that holds a credential: it ends in such a name, give or take a neutral word.
ANNOUNCING = re.compile(
    rf"(?P<before>[a-z0-9]*?)(?P<name>{'|'.join(PASSWORD_NAMES)}|{SECRET_NAME}|(?:{'|'.join(_KEY_QUALIFIERS)})key|"
    rf"(?:{'|'.join(_TOKEN_QUALIFIERS)})token|{BARE_TOKEN})"
    r"(?:value|text|string|plain|plaintext|default|base64|hex|dev|test|prod|staging)?\d{0,2}"
)
# Words before the name if the value is a message, a flag or a digest instead.
MESSAGE_PREFIX = re.compile(
    r"(?:hashed|hash|encrypted|forgot|forgotten|reset|change|show|hide|invalid|wrong|incorrect|missing|require|"
    r"required|requires|publickey|use|uses|using|is|has|enter|validate|verify|check|update)$"
)
SHARED_KEY_NAMES = frozenset({"accountkey", "sharedaccesskey", "accesskey", "sharedsecretvalue", "sharedsecret"})
"""Keys of Azure's connection strings; base64 after one is a key in any context."""

# Keys that accompany a password in a connection string.
CONNECTION_KEYS = re.compile(
    r"\b(?:server|data ?source|host|hostname|addr|address|network address|user ?id|uid|user ?name|user|"
    r"initial ?catalog|database|trusted_connection|persist security info|integrated security|encrypt|port|"
    r"account(?:name|endpoint)|endpoint|ssl|sslmode|abortconnect|connecttimeout|multipleactiveresultsets|"
    r"trustservercertificate|virtualhost|provider)\s?=",
    re.IGNORECASE | re.ASCII,
)


@cache
def literals_of(probe: Anchor) -> tuple[str, ...]:
    """The distinct literals that the rules search in `probe`; does not load the library."""
    return tuple(dict.fromkeys(literal for rule in _rules_of(probe) for literal in rule.literals))


def rules_for(probe: Anchor, present: set[str]) -> Iterator[TokenRule]:
    """The rules with a literal present in `probe`."""
    for rule in _rules_of(probe):
        if not present.isdisjoint(rule.literals):
            yield from (rule,) if isinstance(rule, TokenRule) else _loaded(rule)


@cache
def _rules_of(probe: Anchor) -> tuple[_LibraryRule | TokenRule, ...]:
    return tuple(rule for rule in (*_LIBRARY_RULES, *OWN_RULES) if rule.probe is probe)


@cache
def _loaded(rule: _LibraryRule) -> tuple[TokenRule, ...]:
    """The expressions of one detector. The first call loads detect-secrets, which takes about 0.1 s."""
    detector = getattr(importlib.import_module(f"detect_secrets.plugins.{rule.module}"), rule.detector)
    patterns = detector.denylist if rule.expression is None else [detector.denylist[rule.expression]]
    name = rule.name or rule.module.replace("_", "-")
    return tuple(TokenRule(name, rule.literals, pattern, rule.group, probe=rule.probe) for pattern in patterns)


def rules_description() -> str:
    """Everything that decides what is masked, as one text for a fingerprint; does not load the library."""
    own = "\n".join(f"{rule.name} {rule.literals} {rule.pattern.pattern} {rule.group}" for rule in OWN_RULES)
    names = (ANNOUNCING.pattern, MESSAGE_PREFIX.pattern, CONNECTION_KEYS.pattern)
    return f"{LIBRARY} {importlib.metadata.version(LIBRARY)}\n{_LIBRARY_RULES}\n{own}\n{names}"
