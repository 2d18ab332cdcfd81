"""Tells credentials from placeholders, names and labels. Precision comes first: code must stay readable."""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections import Counter
from enum import Enum


class AssignmentContext(Enum):
    """The kind of file around a value; it decides how much evidence a credential needs."""

    CODE = "code"
    PROSE = "prose"  # documents, and what has no file: commit subjects, questions, answers
    DATA = "data"  # JSON, YAML, XML …: also translations, where `"Password": "Passwort"` is a label
    SETTINGS = "settings"  # appsettings.json, .env, web.config …: a value assigned to a password is one


_MIN_PASSWORD = 6
_MIN_SETTING = 4
_MIN_KEY = 16
_MIN_KEY_IN_SETTINGS = 8
_MIN_BARE_TOKEN = 24
_MIN_WORDY_KEY = 32  # `SecretKeyThatIsLongEnoughForHmac…`: no identifier that names a setting is as long
_MAX_VALUE = 500  # characters; what is longer is a text
_MIN_ENTROPY = 3.0  # bits a character; hexadecimal tokens reach 3.3 and more, words of 16 letters about 3
_MIN_ENTROPY_OF_FORM = 2.5  # of a token known by its form; `ghp_abcabcabc…` has less
_MIN_ENTROPY_OF_LONG = 4.25  # 40 random characters have 4.4 and more, paths of that length 4.1
_SMALL_ALPHABET = 2  # `****`, `0000`; one more from 8 characters on: `xx-xx-xx`, `aaaabbbbcccc`
_MIN_FILLER = 8
_ENCODED_HEAD = 80  # characters of base64 with the first line of a private key

_TEMPLATE = re.compile(r"[{}<>]|\$\(|\A\$\w+\Z|%\w+%|\[\w[\w ]*\]|#\{|\.\.\.|…|\*\*\*")
_PLACEHOLDER_WORD = re.compile(
    r"x{4,}|example|placeholder|change[-_ ]?(?:me|this|it)|your|replace|todo|dummy|sample|redacted|insert|"
    r"not[-_ ]?a[-_ ]?secret|keyvault|fake",
    re.IGNORECASE,
)
_LEAST_SHARE = 6  # of these words in a placeholder, as 1:6; random tokens hold a short one now and then
_PLACEHOLDERS = frozenset(
    {"password", "passwd", "pwd", "pass", "secret", "token", "key", "apikey", "api_key", "api-key", "null", "none",
     "nil", "true", "false", "undefined", "empty", "string", "text", "value", "username", "user", "default", "test"}
)  # fmt: skip
_SEQUENCES = ("0123456789abcdefghijklmnopqrstuvwxyz", "01234567890123456789", "abcdefghijklmnopqrstuvwxyz0123456789")
# A name, a path, a dotted key, perhaps with a number at the end: `Password`, `user.password`, `/account/pwd`, `OAuth2`.
_NAME_LIKE = re.compile(r"[^\W\d]+(?:[.:/\\ -]+[^\W\d]+)*\d{0,3}|[/#.@$&~?-][\w./:#-]*")
# Words and numbers: `pm-27581-device-auth-key`, `valid_recovery_code_1`.
_WORDS = re.compile(
    r"(?:[A-Z]?[a-z]{1,15}\d{0,2}|[A-Z]{2,15}|\d{1,6})(?:[_.:/ -](?:[A-Z]?[a-z]{1,15}\d{0,2}|[A-Z]{2,15}|\d{1,6}))+"
)
_GUID = re.compile(r"\{?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\}?", re.IGNORECASE)
_KEY_CHARACTERS = re.compile(r"[\w+/=.~:@!#$%^&*-]+", re.ASCII)
_KEYWORD = re.compile(r"passw|pwd|secret|token|key", re.IGNORECASE)
_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def is_placeholder(value: str) -> bool:
    """True for a placeholder that readers should replace with their own value."""
    low = value.lower()
    words = sum(len(word.group()) for word in _PLACEHOLDER_WORD.finditer(low))
    return (
        low in _PLACEHOLDERS
        or len(set(low)) <= (_SMALL_ALPHABET if len(low) < _MIN_FILLER else _SMALL_ALPHABET + 1)
        or any(low in sequence for sequence in _SEQUENCES)
        or words * _LEAST_SHARE >= len(value)
        or _TEMPLATE.search(value) is not None
    )


def is_token_of_form(value: str) -> bool:
    """Whether a text in the form of a provider's token is one."""
    return entropy(value) >= _MIN_ENTROPY_OF_FORM and not is_placeholder(value) and not _WORDS.fullmatch(value)


def is_password(value: str, context: AssignmentContext) -> bool:
    """Whether a text assigned to something called password is one."""
    if len(value) > _MAX_VALUE or is_placeholder(value) or any(map(str.isspace, value)) or _URL.match(value):
        return False
    if context is AssignmentContext.SETTINGS:
        return len(value) >= _MIN_SETTING
    if len(value) < _MIN_PASSWORD or _NAME_LIKE.fullmatch(value):
        return False
    has_digit = any(map(str.isdigit, value))
    return has_digit or (not _KEYWORD.search(value) and not value.isalpha())


def is_key(value: str, context: AssignmentContext) -> bool:
    """Whether a text assigned to something called key, secret or token is one."""
    if len(value) > _MAX_VALUE or is_placeholder(value) or not _KEY_CHARACTERS.fullmatch(value) or _URL.match(value):
        return False
    if context is AssignmentContext.SETTINGS:
        return len(value) >= _MIN_KEY_IN_SETTINGS and not value.isdigit()
    if _GUID.fullmatch(value):
        return False
    if value.isalpha():
        return len(value) >= _MIN_WORDY_KEY
    if len(value) < _MIN_KEY or _is_name(value):
        return False
    return looks_random(value)


def is_token(value: str, context: AssignmentContext) -> bool:
    """Whether a text assigned to something called just token is a credential; parsers have tokens too."""
    long_enough = context is AssignmentContext.SETTINGS or len(value) >= _MIN_BARE_TOKEN
    return long_enough and not value.isalpha() and is_key(value, context)


def _is_name(value: str) -> bool:
    """Whether it has the form of a name or a path; a long random text can have it as well."""
    if not _NAME_LIKE.fullmatch(value) and not _WORDS.fullmatch(value):
        return False
    return len(value) < _MIN_WORDY_KEY or entropy(value) < _MIN_ENTROPY_OF_LONG


def looks_random(value: str) -> bool:
    """True for letters and digits with the entropy of a random text rather than of a name."""
    return has_letters_and_digits(value) and entropy(value) >= _MIN_ENTROPY


def has_letters_and_digits(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def entropy(value: str) -> float:
    """Shannon entropy in bits a character; 0 for an empty text."""
    total = len(value)
    return -sum(count / total * math.log2(count / total) for count in Counter(value).values())


def is_jwt(value: str) -> bool:
    """Whether the first part is the header of a JSON web token. It is not parsed: it may be nested as deep as it is
    long."""
    header = value.split(".", 1)[0]
    try:
        decoded = base64.urlsafe_b64decode(header + "=" * (-len(header) % 4))
    except binascii.Error:
        return False
    return b'"alg"' in decoded or b'"typ"' in decoded


def is_encoded_private_key(value: str) -> bool:
    """Whether base64 is a private key in its text form, and no certificate."""
    try:
        return b"PRIVATE KEY" in base64.b64decode(value[:_ENCODED_HEAD])
    except binascii.Error:
        return False


def is_basic_credentials(value: str) -> bool:
    """Whether a base64 text is `user:password`."""
    try:
        decoded = base64.b64decode(value, validate=True).decode("utf-8")
    except ValueError:
        return False
    user, colon, password = decoded.partition(":")
    return bool(user and colon and password) and decoded.isprintable() and not is_placeholder(password)
