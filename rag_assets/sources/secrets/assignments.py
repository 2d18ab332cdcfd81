"""Rules for credentials by the name of their variable or setting: `"Password": "…"`, `string ApiKey = "…"`, `Pwd=…`."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from itertools import pairwise

from rag_assets.contracts.source_file import name_copied_to
from rag_assets.sources.default_ignores import PROSE, extension_of
from rag_assets.sources.secrets.entropy import AssignmentContext, is_key, is_password, is_placeholder, is_token
from rag_assets.sources.secrets.rules import SecretCandidate, SecretRule

_SETTINGS_EXTENSIONS = frozenset(
    {".bicepparam", ".cfg", ".conf", ".config", ".env", ".ini", ".properties", ".publishsettings", ".pubxml",
     ".settings", ".tfvars"}
)  # fmt: skip
_DATA_EXTENSIONS = frozenset(
    {".bash", ".bat", ".bicep", ".cmd", ".csproj", ".fsproj", ".http", ".json", ".json5", ".jsonc", ".props", ".rest",
     ".runsettings", ".sh", ".targets", ".tf", ".toml", ".vbproj", ".xml", ".yaml", ".yml"}
)  # fmt: skip
_SETTINGS_NAMES = re.compile(
    r"(?:application|appsettings|bootstrap|launchsettings|secrets?|local\.settings|connectionstrings?|docker-(?:compose|stack)|compose|values|"
    r"credentials?|web|app)(?:[.-].*)?\.(?:jsonc?|ya?ml|xml|config|toml)|\.env(?:\..*)?|.*\.env|"
    r"dockerfile(?:\..*)?|\.npmrc|\.pypirc"
)
_TRANSLATIONS = frozenset({".resx", ".resw", ".xlf", ".xliff", ".po", ".pot", ".arb"})
"""Files of user interface texts: `Password` there is a word to show."""


def context_of(path: str) -> AssignmentContext:
    """The assignment context of a file, by its path; prose without one. A file to copy is as what it is copied to."""
    name = path.rpartition("/")[2].lower()
    name = name_copied_to(name) or name
    extension = extension_of(name)
    if extension in _SETTINGS_EXTENSIONS or _SETTINGS_NAMES.fullmatch(name):
        return AssignmentContext.SETTINGS
    if extension in _DATA_EXTENSIONS or extension in _TRANSLATIONS:
        return AssignmentContext.DATA
    return AssignmentContext.PROSE if extension in PROSE else AssignmentContext.CODE


# The end of an identifier that holds a credential, give or take a neutral word. `key` alone means nothing in code;
# after one of these words it does (`api_key`, `ApiKey`). A bare `token` counts, but only with a long random value.
_NAME = (
    r"(?:passw(?:or)?d|passphrase|pwd|secret|"
    r"(?:api|access|account|admin|auth|master|private|encryption|signing|storage|subscription|secret|jwt|validation|"
    r"decryption|functions?|host|registry|search|cosmos|shared|sas|license)(?:[_-]|__|:)?key|"
    r"(?:(?:access|auth|bearer|refresh|sas)[_-]?)?token)"
    r"(?:[_-]?(?:value|text|string|plain(?:text)?|default|base64|hex|dev|test|prod|staging))?[_-]?\d{0,2}"
)
_KEYWORDS = ("passw", "passphrase", "pwd", "secret", "key", "token")
_ASSIGNS = (
    r"(?:\\?[\"'`]?[\])]{0,2}\s{0,20}(?:=>|:=|===?|!==?|=|:)\s{0,20}|"
    r"\\?[\"'`][ \t]{0,20},[ \t]{0,20}|"  # after a quoted name, see _PAIR
    r"\"?\s{1,20}value\s{0,4}=\s{0,4})"
)
_STRING = (
    r"(?:[@$]{1,2}|N|u8|[fFbBrR]{1,2})?"
    r"(?:\"(?:\"\")?((?:[^\"\\\r\n]|\\[^\r\n])+)\"|'((?:[^'\\\r\n]|\\[^\r\n])+)'|`([^`\r\n]+)`|"
    r"\\\"([^\"\\\r\n]+)\\\")"
)
_BARE = r"([^\s\"'{}<>]*[^\s\"'{}<>,;])"

_LONGEST_IDENTIFIER = 64  # on the left of the name
_LONGEST_LINE_START = 200
_IDENTIFIER = re.compile(rb"[\w-]*\Z")
_TAG = re.compile(rb"[<:][\w.-]*\Z")
_LINE_START = re.compile(rb"(?:\A|\n)[ \t]*(?:-[ \t]+|export[ \t]+|set[ \t]+|ENV[ \t]+|ARG[ \t]+|\$env:)?[\w.:-]*\Z")
_PAIR = re.compile(rb"[({\[,][ \t]*[@$]?\\?[\"'`][\w:.@ -]*\Z")
"""Of a name and its value in a call or an initializer: `("Password", "…")`. In JSON a quoted name can be a value."""
MESSAGE_PREFIX = re.compile(
    rb"(?:hashed|hash|encrypted|forgot|forgotten|reset|change|show|hide|invalid|wrong|incorrect|missing|require|"
    rb"required|requires|publickey|use|uses|using|is|has|enter|validate|verify|check|update)\Z"
)
"""Words before the name if the value is a message, a flag or a digest instead."""


def _fits_name(found: SecretCandidate) -> bool:
    """Whether the value is what the name before it announces."""
    if found.extension in _TRANSLATIONS:
        return False
    if _begins_message(_before(found, _IDENTIFIER, _LONGEST_IDENTIFIER) or b""):
        return False
    name = found.text[found.match_start : found.start].lower().lstrip(b" \t-")
    if b"," in name and _before(found, _PAIR, _LONGEST_LINE_START) is None:
        return False
    return _is_announced(name, found.value, found.context)


def _begins_message(before: bytes) -> bool:
    return MESSAGE_PREFIX.search(before.lower().replace(b"_", b"").replace(b"-", b"")) is not None


def _is_announced(name: bytes, value: str, context: AssignmentContext) -> bool:
    """Whether a value is the password, token or key that a name announces."""
    low = name.lower()
    if b"passw" in low or b"passphrase" in low or b"pwd" in low:
        return is_password(value, context)
    return (is_token if low.startswith(b"token") else is_key)(value, context)


def _before(found: SecretCandidate, form: re.Pattern[bytes], reach: int) -> bytes | None:
    """What stands before the match, in this form; None for something else."""
    match = form.search(found.text, max(0, found.match_start - reach), found.match_start)
    return match.group() if match else None


def _begins_line(found: SecretCandidate) -> bool:
    return _before(found, _LINE_START, _LONGEST_LINE_START) is not None and _fits_name(found)


def _is_element(found: SecretCandidate) -> bool:
    return _before(found, _TAG, _LONGEST_IDENTIFIER) is not None and _fits_name(found)


_ENTRY = re.compile(rb"(?i:\b(?:name|key|variable))[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?P<before>[\w.:-]*)\Z")
_OF_ENVIRONMENT = re.compile(rb"[A-Z][A-Z\d]*(?:_[A-Z\d]+)*\Z")


def _is_entry(found: SecretCandidate) -> bool:
    """Whether a name and its value are an entry of a list: of variables of the environment, which are settings, or of
    others."""
    reach = max(0, found.match_start - _LONGEST_LINE_START)
    entry = _ENTRY.search(found.text, reach, found.match_start)
    if entry is None:
        return False
    name = entry["before"] + re.split(rb"[^\w.:-]", found.text[found.match_start : found.start], maxsplit=1)[0]
    context = AssignmentContext.SETTINGS if _OF_ENVIRONMENT.match(name) else found.context
    return _is_announced(name, found.value, context) and not _begins_message(entry["before"])


def _is_of_argument(found: SecretCandidate) -> bool:
    """Whether what a command line gives a variable is the password or key that it is called as."""
    given = found.text[found.match_start : found.start].lstrip(b" \t,").rpartition(b" ")[2].strip(b"\"'=")
    return _is_announced(given.rpartition(b"=")[2], found.value, found.context)


_KIND_OF_SECRET = re.compile(rb"^kind:[ \t]*Secret[ \t]*\r?$", re.MULTILINE)
_OBJECT_ENDS = re.compile(rb"^---", re.MULTILINE)
_HELD = re.compile(rb"^(?:data|stringData):[^\n]*\n(?:(?:[ \t\r#][^\n]*)?(?:\n|\Z))*", re.MULTILINE)


@lru_cache(maxsize=1)  # asked for each value of a file
def _held_by_secrets(text: bytes) -> list[tuple[int, int]]:
    """From where to where the Kubernetes objects of the kind Secret in a text hold values."""
    ends = [0, *(found.start() for found in _OBJECT_ENDS.finditer(text)), len(text)]
    objects = [(begin, end) for begin, end in pairwise(ends) if _KIND_OF_SECRET.search(text, begin, end)]
    return [found.span() for begin, end in objects for found in _HELD.finditer(text, begin, end)]


def _is_in_kubernetes_secret(found: SecretCandidate) -> bool:
    held = _held_by_secrets(found.text)
    at = bisect_right(held, (found.match_start, len(found.text))) - 1
    return at >= 0 and found.match_start < held[at][1] and not is_placeholder(found.value)


def _is_of_sql(found: SecretCandidate) -> bool:
    return found.extension == ".sql" and _fits_name(found)


def _is_said(found: SecretCandidate) -> bool:
    """A password after `:` or `is` can be a word of the sentence: it must not look like one."""
    if _is_harmless_string(found):
        return False
    if b"=" not in found.text[found.match_start : found.start]:
        kinds = (str.isdigit, str.islower, str.isupper)
        if not all(any(map(kind, found.value)) for kind in kinds):
            return False
    return _fits_name(found)


_COMPANION_KEY = (
    r"(?:server|data ?source|host|hostname|addr|address|network address|user ?id|uid|user ?name|user|"
    r"initial ?catalog|database|trusted_connection|persist security info|integrated security|encrypt|port|"
    r"account(?:name|endpoint)|endpoint|ssl|sslmode|abortconnect|connecttimeout|multipleactiveresultsets|"
    r"trustservercertificate|virtualhost|provider)"
)
COMPANION = re.compile(rf"\b{_COMPANION_KEY}\s?=".encode(), re.IGNORECASE)
"""Keys that accompany a password in a connection string."""
_HARMLESS_KEY = (
    rf"(?:{_COMPANION_KEY}|timeout|(?:connection|command) ?timeout|pooling|(?:min|max)(?:imum)? ?pool ?size|charset|"
    r"app|application ?name|file|attachdbfilename|schema|search ?path|version)"
)
HARMLESS_STRING = re.compile(
    # The placeholder: up to three stars are taken for marks of emphasis before the value.
    r"(?:\**|\$?\{[^{}]*\}|\$\([^()]*\))"
    # No value holds a `=`: it could be the parameters of an address, or pairs behind another separator.
    rf"(?:;+{_HARMLESS_KEY}=[^;=]*)*"
    # A key with a space in it ends the value: `User` of `User Id=sa`.
    r"(?:;+(?P<cut>[a-z]+))?",
    re.IGNORECASE,
)
"""A placeholder and the rest of its connection string: `***;Database=shop;SslMode=None`."""
_HARMLESS_PAIR = re.compile(rf"{_HARMLESS_KEY}=".encode(), re.IGNORECASE)


def _is_harmless_string(found: SecretCandidate) -> bool:
    """Whether nothing in it can be a password. `test;Key=…` can be one, and `***;Pin=…` holds one."""
    match = HARMLESS_STRING.fullmatch(found.value)
    if match is None:
        return False
    cut = match["cut"]
    return cut is None or _HARMLESS_PAIR.match(found.text, found.end - len(cut)) is not None


_COMMENT = re.compile(rb"\s*(?://|--|#|\*|/\*)")
_COMPANION_REACH = 400
_LONGEST_STATEMENT = 2_000  # characters of a line; what is longer is a string


def _has_companions(found: SecretCandidate) -> bool:
    """Whether a password stands beside other keys of a connection string."""
    value = found.value.strip("'")
    if is_placeholder(value) or (value.endswith(".") and value[:-1].isdecimal()):  # `Password=101.` ends a sentence
        return False
    if found.context is AssignmentContext.CODE:
        before = _line_before(found)
        if not any(before.count(quote) % 2 for quote in (b'"', b"'", b"`")):
            # Two statements on a line or in a comment, or a string of several lines.
            is_spaced = b" " in found.text[found.match_start + 1 : found.start]
            if is_spaced or not (_COMMENT.match(before) or is_password(found.value, found.context)):
                return False
    begin, end = max(0, found.match_start - _COMPANION_REACH), found.end + _COMPANION_REACH
    return bool(
        COMPANION.search(found.text, begin, found.match_start + 1) or COMPANION.search(found.text, found.end, end)
    )


def _line_before(found: SecretCandidate) -> bytes:
    """The line up to the match, or the end of a very long one."""
    nearest = max(0, found.match_start - _LONGEST_STATEMENT)
    return found.text[nearest : found.match_start + 1].rpartition(b"\n")[2]


def _is_own_value(found: SecretCandidate) -> bool:
    return not is_placeholder(found.value)


_PLAIN = frozenset({AssignmentContext.DATA, AssignmentContext.SETTINGS})
_PROSE = frozenset({AssignmentContext.PROSE})
_SETTINGS = frozenset({AssignmentContext.SETTINGS})
_CONNECTION_KEY = r"(?i)[;,\"':=>`\s](?:password|passwd|pwd)\s{0,2}=\s{0,2}"
_PIECE = r"[^;,&\"'\s<>`\\=]+"
_PIECES = rf"({_PIECE}(?:(?:&amp;|[,&]){_PIECE})+)(?:[;\"'\s<>`\\]|$)"  # a comma or `&` that begins no other key
_LOGIN = (
    r"(?:NetworkCredential|HTTPBasicAuth|\bauth\s{0,2}=)\s{0,2}\(\s{0,9}(?:[\w.]+|[\"'][^\"'\r\n]{1,100}[\"'])\s{0,9},"
)
NAMED_RULES = (
    SecretRule("assignment", _KEYWORDS, f"(?i){_NAME}{_ASSIGNS}{_STRING}", _fits_name),
    SecretRule(
        "setting",
        _KEYWORDS,
        rf"(?i){_NAME}[\"']?\s{{0,8}}[:=]\s{{0,8}}{_BARE}[,;]?(?:[ \t]+#[^\n]*|[ \t]*)(?:\r?\n|$)",
        _begins_line,
        _PLAIN,
    ),
    SecretRule(
        "setting",
        _KEYWORDS,
        rf"(?im)^[ \t]*ENV[ \t]+\w*{_NAME}[ \t]+{_BARE}[ \t]*\r?$",
        _fits_name,
        _SETTINGS,
    ),
    SecretRule(
        "environment",  # of Kubernetes, pipelines, container tasks, applications of Azure
        _KEYWORDS,
        rf"(?i){_NAME}[\"']?\s{{0,4}}(?:,\s{{0,200}}|\s{{1,200}})[\"']?value[\"']?\s{{0,4}}[:=]\s{{0,4}}"
        r"(?:\"([^\"\r\n]+)\"|'([^'\r\n]+)'|([^\s\"'{}\[\],]+))",
        _is_entry,
        _PLAIN,
    ),
    SecretRule(
        "login",
        ("networkcredential", "httpbasicauth", "auth"),
        rf"{_LOGIN}\s{{0,9}}[@$]?[\"']([^\"'\r\n]{{4,200}})[\"']",
        lambda found: is_password(found.value, found.context),
    ),
    SecretRule(
        "variable-argument",
        _KEYWORDS,
        rf"(?i)(?:\s(?:-e|--env|--set(?:-string)?|--from-literal|--build-arg)[ =]|,)[\"']?[\w.-]{{0,64}}?{_NAME}=[\"']?"
        r"([^\s\"',;`]+)",
        _is_of_argument,
        _PLAIN | _PROSE,
    ),
    SecretRule(
        "sql-client-password",
        ("sqlcmd", "bcp "),
        r"(?i)\b(?:sqlcmd|bcp)(?:\.exe)?\s[^\r\n]{0,200}?\s(?-i:-P)[ \t]{0,4}[\"']?([^\s\"'`]+)",
        lambda found: is_password(found.value, AssignmentContext.SETTINGS),
    ),
    SecretRule(
        "default",
        _KEYWORDS,
        rf"(?i)\bvariable\s{{1,4}}\"[\w-]{{0,64}}?{_NAME}\"\s{{0,4}}\{{[^{{}}]{{0,400}}?\bdefault\s{{0,20}}=\s{{0,20}}\"([^\"\r\n]+)\""
        rf"|\bparam\s{{1,4}}\w{{0,64}}?{_NAME}\s{{1,4}}string\s{{0,4}}=\s{{0,4}}'([^'\r\n]+)'",
        lambda found: is_password(found.value, found.context),
        _PLAIN,
    ),
    SecretRule(
        "kubernetes-secret",
        ("kind: secret",),
        r"(?m)^[ \t]{1,8}[\w.-]{1,128}:[ \t]{1,8}[\"']?([^\s\"'#|>][^\r\n\"']*)",
        _is_in_kubernetes_secret,
        _PLAIN,
    ),
    SecretRule("element", _KEYWORDS, rf"(?i){_NAME}>\s*([^<>\s]+)\s*</", _is_element, _PLAIN | _PROSE),
    SecretRule("argument", _KEYWORDS, rf"(?i)\s--?(?:[a-z]+-)*{_NAME}[ =][\"']?{_BARE}", _fits_name, _PLAIN | _PROSE),
    SecretRule(
        "sentence",
        _KEYWORDS,
        rf"(?i){_NAME}[\"'`*]{{0,3}}\s{{0,4}}(?:[:=]|\bis\b|\bwas\b)\s{{0,4}}[\"'`*]{{0,3}}([^\s\"'`<>]*[^\s\"'`<>.,;:)\]])",
        _is_said,
        _PROSE,
    ),
    SecretRule("sql-password", ("passw",), r"(?i)passw(?:or)?d\s{1,4}N?'([^'\r\n]+)'", _is_of_sql),
    SecretRule("sql-password", ("identified",), r"(?i)identified\s+by\s+[\"']([^\"'\r\n]{4,200})[\"']", _is_own_value),
    SecretRule(
        "connection-string-password",
        ("passw", "pwd"),
        rf"{_CONNECTION_KEY}(?:('[^'\r\n]{{3,200}}')|{_PIECES}|([^;,&\"'\s<>`\\]{{3,}}))",
        _has_companions,
    ),
    SecretRule(
        "connection-string-password",
        ("passw", "pwd"),
        rf"{_CONNECTION_KEY}\"\s{{0,9}}[+&.]\s{{0,40}}[@$]{{0,2}}\"([^\"\\\r\n]{{3,200}})\"",
        _has_companions,
    ),
    SecretRule(
        "shared-key",
        ("accountkey", "accesskey", "sharedsecret"),
        r"(?i)\b(?:accountkey|sharedaccesskey|accesskey|sharedsecretvalue|sharedsecret)=([A-Z0-9+/]{20,}={0,2})",
        _is_own_value,
    ),
    # Names too short to announce anything elsewhere: the key of a token section, the password of a mail section.
    SecretRule(
        "signing-key",
        ("key",),
        r"(?i)\"(?:jwt|token|bearer|auth)\w*\"\s*:\s*\{[^{}]*?\"(?:key|symmetrickey)\"\s*:\s*\"([^\"\\\r\n]{16,})\"",
        lambda found: is_key(found.value, found.context),
        _SETTINGS,
    ),
    SecretRule(
        "short-password",
        ("pass",),
        r"(?i)\b(?:smtp|mail|email|db|database|ftp|proxy|user)?_?pass\"?\s{0,20}[:=]\s{0,20}\"?([^\"\\\s]{4,})",
        lambda found: is_password(found.value, found.context),
        _SETTINGS,
    ),
)
