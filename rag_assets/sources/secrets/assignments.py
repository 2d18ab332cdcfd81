"""Finds credentials by the name they are assigned to: `"Password": "…"`, `const string ApiKey = "…"`, `Pwd=…;`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_assets.sources.default_ignores import extension_of
from rag_assets.sources.secrets.entropy import AssignmentContext, is_key, is_password, is_placeholder, is_token
from rag_assets.sources.secrets.rules import (
    ANNOUNCING,
    BARE_TOKEN,
    CONNECTION_KEYS,
    KEY_NAME,
    KEY_QUALIFIERS,
    LONGEST_QUALIFIER,
    MESSAGE_PREFIX,
    PASSWORD_NAMES,
    SECRET_NAME,
    SHARED_KEY_NAMES,
)

_SETTINGS_EXTENSIONS = frozenset(
    {".bicepparam", ".cfg", ".conf", ".config", ".env", ".ini", ".properties", ".publishsettings", ".pubxml",
     ".settings", ".tfvars"}
)  # fmt: skip
_DATA = _SETTINGS_EXTENSIONS | {
    ".bash", ".bat", ".bicep", ".cmd", ".csproj", ".fsproj", ".http", ".json", ".json5", ".jsonc", ".props", ".rest",
    ".runsettings", ".sh", ".targets", ".tf", ".toml", ".vbproj", ".xml", ".yaml", ".yml",
}  # fmt: skip
_SETTINGS_NAMES = re.compile(
    r"(?:appsettings|launchsettings|secrets?|local\.settings|connectionstrings?|docker-compose|compose|values|"
    r"credentials?|web|app)(?:[.-].*)?\.(?:jsonc?|ya?ml|xml|config|toml)|\.env(?:\..*)?|.*\.env|"
    r"dockerfile(?:\..*)?|\.npmrc|\.pypirc"
)
_TRANSLATIONS = frozenset({".resx", ".resw", ".xlf", ".xliff", ".po", ".pot", ".arb"})
"""Files of user interface texts: `Password` there is a word to show."""

_REACH = 600  # characters after a name within which its value must end
_LONGEST_IDENTIFIER = 64  # on either side of the name
_IDENTIFIER_LEFT = re.compile(r"[\w-]*\Z", re.ASCII)
_IDENTIFIER_RIGHT = re.compile(r"[\w-]{0,64}", re.ASCII)
# name, its closing quote or bracket, an operator, prefixes of string literals, then the value in quotes
_QUOTED = re.compile(
    r"(?P<closing>\\?[\"'`]?[\])]{0,2})"
    r"(?:\s{0,20}(?P<operator>=>|:=|===?|!==?|=|:|,)\s{0,20}|\"?\s{1,20}(?i:value)\s{0,4}=\s{0,4}|(?P<sql>\s{1,4}))"
    r"(?:[@$]{1,2}|N|u8|[fFbBrR]{1,2})?"
    r"(?:\"(?P<double>(?:[^\"\\\r\n]|\\.){4,500})\"|'(?P<single>(?:[^'\\\r\n]|\\.){4,500})'|`(?P<back>[^`\r\n]{4,500})`"
    r"|\\\"(?P<escaped>[^\"\\\r\n]{4,500})\\\")"
)
_UNQUOTED = re.compile(
    r"[\"']?\s{0,8}[:=]\s{0,8}(?P<value>[^\s\"'#,;{}\[\]<>()&|]{4,300})[ \t]*(?:#[^\n]*)?(?=\r?\n|\Z)"
)
_LINE_START = re.compile(r"[ \t]*(?:-[ \t]+|export[ \t]+|set[ \t]+|ENV[ \t]+|ARG[ \t]+|\$env:)?[\w.:-]*", re.ASCII)
_ELEMENT = re.compile(r">(?P<value>[^<>\s]{4,300})</")
_IN_CONNECTION_STRING = re.compile(
    r"\s{0,2}=\s{0,2}(?P<value>[^;,\"'\s<>&`\\]{3,200}|'[^'\r\n]{3,200}')(?=[;,\"'\s<>&`\\]|\Z)"
)
_CONNECTION_REACH = 400
_LINE_START_REACH = 200
_LONGEST_COUNTED_LINE = 2_000
# Code is full of tokens: only those with an assignment are examined.
_ASSIGNED_TOKEN = re.compile(rf"{BARE_TOKEN}[a-z0-9]{{0,10}}\\?[\"'`]?[\])]{{0,2}}(?:\s{{0,20}}[=:,>]|\s{{1,20}}value)")
_BEFORE_CONNECTION_KEY = frozenset(";,\"':=>")  # the separator before it, or the start of the string
_SHARED_KEY = re.compile(r"=(?P<value>[A-Za-z0-9+/]{20,}={0,2})")


def assigned_secrets(text: str, low: str, path: str) -> Iterator[tuple[str, int, int]]:
    """(rule, start, end) of each value whose name makes it a credential. `low` is `lower(text)`."""
    context = context_of(path)
    yield from _settings_secrets(text, context)
    extension = extension_of(path.rpartition("/")[2])
    done = 0
    for hit in _name_hits(low):
        if hit < done:
            continue
        start, done = _identifier(low, hit)
        found = _in_connection_string(text, low, start, done, context)
        if found is None and extension not in _TRANSLATIONS:
            announced = ANNOUNCING.fullmatch(low[start:done].replace("_", "").replace("-", ""))
            if announced is not None and not MESSAGE_PREFIX.search(announced["before"]):
                found = _value(text, start, done, announced["name"], context, extension)
        if found is not None:
            yield found
            done = max(done, found[2])


# Names too short to announce anything elsewhere: the signing key of a token section, the password of a mail section.
_TOKEN_SECTION_KEY = re.compile(
    r"\"(?:jwt|token|bearer|auth)\w{0,40}\"\s{0,20}:\s{0,20}\{[^{}]{0,600}?\"(?:key|symmetrickey)\"\s{0,20}:\s{0,20}"
    r"\"(?P<value>[^\"\\\r\n]{16,500})\"",
    re.IGNORECASE,
)
_SHORT_PASSWORD = re.compile(
    r"\"(?:smtp|mail|email|db|database|ftp|proxy|user)?_?pass\"\s{0,20}:\s{0,20}\"(?P<value>[^\"\\\r\n]{4,300})\"",
    re.IGNORECASE,
)


def _settings_secrets(text: str, context: AssignmentContext) -> Iterator[tuple[str, int, int]]:
    """The secrets that settings files call simply `Key` and `Pass`."""
    if context is not AssignmentContext.SETTINGS:
        return
    for rule, pattern, judge in (
        ("signing key", _TOKEN_SECTION_KEY, is_key),
        ("password", _SHORT_PASSWORD, is_password),
    ):
        for match in pattern.finditer(text):
            if judge(match["value"], context):
                yield rule, match.start("value"), match.end("value")


_JUDGES = {"password": is_password, "key": is_key, "token": is_token}


def context_of(path: str) -> AssignmentContext:
    """The assignment context of a file, by its path."""
    name = path.rpartition("/")[2].lower()
    extension = extension_of(name)
    if extension in _SETTINGS_EXTENSIONS or _SETTINGS_NAMES.fullmatch(name):
        return AssignmentContext.SETTINGS
    return AssignmentContext.DATA if extension in _DATA else AssignmentContext.CODE


def lower(text: str) -> str:
    """`text` in lower case with the same length: a few letters (`İ`) would become two."""
    low = text.lower()
    return low if len(low) == len(text) else text.translate(_ASCII_LOWER)


_ASCII_LOWER = {ord(character): character.lower() for character in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


def _name_hits(low: str) -> list[int]:
    """Positions of names that announce a credential, in text order; `key` counts only with a qualifying word."""
    hits = [position for name in (*PASSWORD_NAMES, SECRET_NAME) for position in _positions(low, name)]
    hits += [match.start() for match in _ASSIGNED_TOKEN.finditer(low)]
    hits += [
        position
        for position in _positions(low, KEY_NAME)
        if low.endswith(KEY_QUALIFIERS, max(0, position - LONGEST_QUALIFIER), position)
    ]
    return sorted(hits)


def _positions(low: str, literal: str) -> Iterator[int]:
    position = low.find(literal)
    while position != -1:
        yield position
        position = low.find(literal, position + len(literal))


def _identifier(low: str, hit: int) -> tuple[int, int]:
    """Start and end of the identifier around a hit."""
    left = _IDENTIFIER_LEFT.search(low, max(0, hit - _LONGEST_IDENTIFIER), hit)
    right = _IDENTIFIER_RIGHT.match(low, hit)
    return (left.start() if left else hit), (right.end() if right else hit)


def _value(
    text: str, name_start: int, name_end: int, announced: str, context: AssignmentContext, extension: str
) -> tuple[str, int, int] | None:
    rule = "password" if announced in PASSWORD_NAMES else "token" if announced == BARE_TOKEN else "key"
    judge = _JUDGES[rule]
    match = _QUOTED.match(text, name_end, name_end + _REACH)
    if match is not None and _is_assignment(match, extension):
        group = match.lastgroup or "double"
        if judge(match[group], context):
            return f"{rule}-assignment", match.start(group), match.end(group)
        return None
    if context is AssignmentContext.CODE:
        return None
    if text[name_start - 1 : name_start] == "<" or text[name_start - 1 : name_start] == ":":
        match = _ELEMENT.match(text, name_end, name_end + _REACH)
    else:
        match = None
    if match is None and _LINE_START.fullmatch(text, _line_start(text, name_start, _LINE_START_REACH), name_start):
        match = _UNQUOTED.match(text, name_end, name_end + _REACH)
    if match is not None and judge(match["value"], context):
        return f"{rule}-setting", match.start("value"), match.end("value")
    return None


def _is_assignment(match: re.Match[str], extension: str) -> bool:
    """A comma assigns only after a quoted name, a mere space only in SQL (`PASSWORD 'x'`)."""
    if match["sql"] is not None:
        return extension == ".sql"
    return match["operator"] != "," or bool(match["closing"].strip("])"))


def _in_connection_string(
    text: str, low: str, start: int, end: int, context: AssignmentContext
) -> tuple[str, int, int] | None:
    """The value of `Password=` or `Pwd=` beside other keys of a connection string, or of a shared key of Azure."""
    name = low[start:end]
    if name in SHARED_KEY_NAMES:
        shared = _SHARED_KEY.match(text, end)
        return None if shared is None else ("shared-key", shared.start("value"), shared.end("value"))
    if name not in PASSWORD_NAMES:
        return None
    match = _IN_CONNECTION_STRING.match(text, end, end + _REACH)
    if match is None or is_placeholder(match["value"].strip("'")):
        return None
    before = text[_line_start(text, start, _CONNECTION_REACH) : start]
    if before.rstrip()[-1:] not in _BEFORE_CONNECTION_KEY:
        return None
    if context is AssignmentContext.CODE and not _in_string(text, start):
        return None  # two statements on a line
    after = text[match.end() : match.end() + _CONNECTION_REACH].partition("\n")[0]
    if not CONNECTION_KEYS.search(before) and not CONNECTION_KEYS.search(after):
        return None
    return "connection-string-password", match.start("value"), match.end("value")


def _line_start(text: str, position: int, reach: int) -> int:
    """The start of the line of `position`, or `reach` characters before `position` if that is nearer."""
    nearest = max(0, position - reach)
    found = text.rfind("\n", nearest, position)
    return nearest if found == -1 else found + 1


def _in_string(text: str, position: int) -> bool:
    """True within a string literal, judged by the quotes earlier on the line."""
    start = _line_start(text, position, _LONGEST_COUNTED_LINE)
    if position - start == _LONGEST_COUNTED_LINE:
        return True  # statements are not that long
    return text.count('"', start, position) % 2 == 1
