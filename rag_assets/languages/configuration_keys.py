"""The keys of a configuration file (YAML, JSON, TOML, INI, XML), read from its lines: for outlines, not for values; and
where code reads settings.

A line is a key where it is written as one; what is indented below it belongs to it. That is how people lay these files
out, and what a parser of one of the formats would say of the others' dialects is no better. A file on one line has no
keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rag_assets.languages.sliding_window import numbered_lines

_DEEPEST = 3
"""Levels of keys: `services.web.ports`. Below are values."""
_MOST_CHARS = 120  # of a line
_LONGEST_LINE = 1_000  # a longer one is data

_KEY = re.compile(
    r"""(?:-\s+)?(?:
      "(?P<quoted>[^"\n]{1,80})"\s*:                      # JSON
    | <(?P<element>[A-Za-z][\w.:-]{0,80})(?P<attributes>\b[^>]*)
    | \[{1,2}(?P<table>[^\]\n]{1,80})\]{1,2}\s*(?:[#;].*)?$  # TOML, INI
    | (?P<plain>[A-Za-z_][\w.$/-]{0,80})\s*(?::(?=\s|$)|:?=)  # YAML, TOML, INI, .env
    )""",
    re.VERBOSE,
)
_CALLED = re.compile(r"""\b(?:Include|Name|name|key|Key|id|Id|Update)\s*=\s*["']([^"'\n]{1,80})""")
_COMMENT = re.compile(r"[#;]|//|<!--|-->")
_CLOSING = re.compile(r"[\]}),;\s]*$|</")


@dataclass(frozen=True, slots=True)
class ConfigurationKey:
    """A key with the keys around it (`logging.level`), and the characters of its own line and of all below it."""

    name: str
    line: str
    start: int
    end: int


def configuration_keys(text: str) -> Iterator[ConfigurationKey]:
    """The keys of the upper levels, in text order. Pure; never raises for any text."""
    found: list[tuple[int, str, str, int]] = []  # indentation, key, line, start
    ends: list[int] = []
    open_keys: list[int] = []  # numbers in `found`, the outermost first
    table = -1  # the number of the last `[table]`
    for start, line in numbered_lines(text):
        content = line.strip()
        if not content or _COMMENT.match(content) or len(line) > _LONGEST_LINE:
            continue
        indent = len(line) - len(line.lstrip())
        closes = _CLOSING.match(content) is not None
        while open_keys and (found[open_keys[-1]][0] > indent or (found[open_keys[-1]][0] == indent and not closes)):
            if open_keys[-1] == table and not content.startswith("["):
                break
            open_keys.pop()
        for number in open_keys:
            ends[number] = start + len(line.rstrip())
        key = None if closes else _KEY.match(content)
        if key is None:
            continue
        if key["table"] is not None:
            open_keys, table = [], len(found)
        open_keys.append(len(found))
        found.append((indent, _name(key), content[:_MOST_CHARS], start))
        ends.append(start + len(line.rstrip()))
    return _named(found, ends)


def _name(key: re.Match[str]) -> str:
    if key["element"] is not None:
        called = _CALLED.search(key["attributes"])
        return f"{key['element']} {called[1]}" if called else key["element"]
    return str(key["quoted"] or key["table"] or key["plain"]).strip()


def _named(found: list[tuple[int, str, str, int]], ends: list[int]) -> Iterator[ConfigurationKey]:
    around: list[tuple[int, str]] = []  # (end, key)
    for (_, name, line, start), end in zip(found, ends, strict=True):
        while around and around[-1][0] < end:
            around.pop()
        around.append((end, name))
        if len(around) <= _DEEPEST:
            yield ConfigurationKey(".".join(key for _, key in around), line, start, end)


KEY_READ = re.compile(
    r'\bGet(?:Required)?Section\s*\(\s*"([^"\r\n]+)"'
    r'|ConfigurationManager\s*\.\s*(?:AppSettings|ConnectionStrings)\s*(?:\.\s*Get\s*\(|[\[(])\s*"([^"\r\n]+)"'
    r"|\b\w*[cC]onfig(?:uration)?(?:Root)?\s*(?:\.\s*(?:GetValue\s*(?:<[^<>()]*>)?|GetConnectionString|Require|Optional)"
    r'\s*\(|\[)\s*"([^"\r\n]+)"'
)
"""Where code asks a configuration of .NET, or of .NET Framework, for a key or a section by a literal text."""

_NAMED_KEY = re.compile(
    r"\b\w*[cC]onfig(?:uration)?(?:Root)?\s*(?:\.\s*GetValue\s*(?:<[^<>()]*>)?\s*\(|\[)\s*nameof\s*\(\s*(?:\w+\.)*(\w+)\s*\)"
    r"|\bMy\.Settings\.(?!(?:Default|Reload|Reset|Save|Upgrade)\b)([A-Z]\w*)"  # Visual Basic
    r"|\bviper\.(?:Get\w*|IsSet)\s*\(\s*\"([^\"\r\n]+)\""  # Go
    r"|\b(?:k|ko|koanf)\.(?:Must)?(?:Bool|Duration|Float64|Int(?:64)?|String(?:Map)?|Time)s?\(\s*\"([^\"\r\n]+)\""
    r"|@Value\s*\(\s*\"\$\{([^}:\"\r\n]+)|\b(?:getProperty|getRequiredProperty)\s*\(\s*\"([^\"\r\n]+)\""  # Java
    r"|\b\w*[cC]onfig(?:Service)?\.get(?:OrThrow)?\s*(?:<[^<>()]*>)?\s*\(\s*[\"']([^\"'\r\n]+)[\"']"  # JavaScript
)
_VARIABLE = re.compile(
    r"\b(?:GetEnvironmentVariable|[gG]etenv|get_env|LookupEnv|BindEnv|env::var(?:_os)?|fetch_env!?|ENV\.fetch)"
    r"\s*\(\s*[\"']([^\"'\r\n]+)[\"']"
    r"|\b(?!un?set|set|put|with|add|remove|delete)(?:\w+_)?env(?:_\w+|[A-Z]\w*)?\s*\(\s*[\"']([A-Z][A-Z\d]*_[A-Z\d_]+)[\"']"
    r"|\b(?!un?[sS]et|[sS]et|[pP]ut|[wW]ith|[aA]dd|[rR]emove|[dD]elete)\w*Env(?:[A-Z]\w*)?\s*(?:<[^<>()]*>)?"
    r"\(\s*[\"']([A-Z][A-Z\d]*_[A-Z\d_]+)[\"']"  # functions of one's own: `bool_from_env("SHOP_OPEN")`
    r"|\b(?:env(?:\.\w+)?|config)\s*\(\s*[\"']([A-Z][A-Z\d_]+)[\"']"  # Django, Laravel, Scala, Deno, decouple
    r"|\b(?:environ\.get\s*\(|(?:environ(?:ment)?|_?ENV)\s*\[)\s*[\"']"
    r"(?!HTTP_|PATH_INFO|QUERY_|REMOTE_|REQUEST_|SCRIPT_|wsgi\.)([^\"'\r\n]+)[\"']"  # Python (not WSGI), Ruby, PHP
    r"|\b(?:process|import\.meta)\.env(?:\.(\w+)|\[\s*[\"']([^\"'\r\n]+)[\"'])"  # JavaScript
    r"|[{,]\s*([A-Z][A-Z\d_]*)\b(?=[^{}();]{0,400}\}\s*=\s*process\.env\b)"
    r"|\b(?:env|envvar|envconfig|EnvVars?)(?::|\s*=\s*\[?|:\s*\[\]string\{)\s*[\"']([A-Z][A-Z\d_]+)"  # options, fields
    r"|\b\w*(?:EnvVar|Env_?Name|ENV)\w*\s*(?::[^=\n]{0,40})?\s=\s*[\"']([A-Z][A-Z\d_]+)[\"']"  # a constant that is read
    r"|\$env:(\w+)"  # PowerShell
    r"|\$\{([A-Z][A-Z\d_]+):?[-=?]"  # shell, where another value stands in for it
    r"|\[ -[nz] \"?\$\{?([A-Z][A-Z\d]*_[A-Z\d_]+)\b"  # or it is looked whether there is one
)
"""What names a variable of the environment where it is read, or where an option or field is declared that takes it."""
_AS_VARIABLE = re.compile(
    r"\b\w*[cC]onfig(?:uration)?\s*(?:\.\s*GetValue\s*(?:<[^<>()]*>)?\s*\(|\[)\s*\"([A-Z][A-Z\d]+_\w+)\""
)
"""A key of a configuration of .NET that is called as only variables are: `configuration["KEY_VAULT_ENDPOINT"]`."""

_READING = (
    (KEY_READ, ("onfig", "Section")),
    (
        _NAMED_KEY,
        ("onfig", "viper", "k.", "ko.", "koanf.", "@Value", "etProperty", "etRequiredProperty", "My.Settings"),
    ),
    (_VARIABLE, ("env", "Env", "ENV", "${", "[ -", "config(")),
)
"""Each pattern with what a text without any of cannot have: most sections have none, and to look takes a tenth."""

_OPTION = re.compile(r"#\[(?:arg|clap)\([^\]]{0,400}?\benv\s*[,)][^\]]{0,400}\]\s*(?:pub\s+)?(\w+)\s*:")  # clap
_SETTINGS_CLASS = re.compile(r"^class\s+\w+\([^()\n]*\bBaseSettings\b[^()\n]*\):", re.MULTILINE)  # pydantic
_FIELD = re.compile(r"^(?:    |\t)(?!model_config\b)(\w+)[ \t]*:[ \t]*\w|^(?=[^\s#)\]}])", re.MULTILINE)
_PREFIX = re.compile(r"\benv_prefix\s*=\s*[\"'](\w*)")

_SCHEMA = re.compile(r"\b(?:z|zod|yup|[jJ]oi)\.(?:strictO|o)bject\(|\b(?:cleanEnv|createEnv|parseEnv|envsafe)\(")
"""What checks the variables of JavaScript by a schema: zod, joi, yup, envalid, t3-env."""
_SCHEMA_KEY = re.compile(r"^[ \t]*([A-Z][A-Z\d_]{2,})[ \t]*:[ \t]*\w[\w.]*[.(]", re.MULTILINE)
_MAP_KEY = re.compile(r"^[ \t]*\"([A-Z][A-Z\d_]{2,})\":[ \t]*(?:&?[\w.]*\{|\w[\w.]*\()", re.MULTILINE)
"""What a map of Go has for each of its variables: `"SHOP_PORT": {value: "80"},`."""
_OF_VARIABLES = re.compile(r"conf|env|option|setting", re.IGNORECASE)
VARIABLES_FILE = re.compile(
    r"(?:^|/)(?:\.env(?:\.\w+)?|\.?env[\w.-]*(?:dist|example|sample|template)[\w.-]*"
    r"|[\w.-]*(?:dist|example|sample|template)[\w.-]*\.env)$"
)
"""A file that gives variables of the environment their values, or shows how: `.env`, `.env.example`."""
_VARIABLE_GIVEN = re.compile(r"^[ \t]*#?[ \t]*(?:export[ \t]+)?([A-Z][A-Z\d_]{2,})=", re.MULTILINE)

_SECTION_KEPT = re.compile(r'\b(\w+)\s*=\s*[\w.]+\.Get(?:Required)?Section\s*\(\s*"([^"\r\n]+)"\s*\)\s*;')
_OF_SECTION = r'(?<![\w.]){0}\s*(?:\[|\.\s*(?!Get(?:Required)?Section\b)\w+\s*(?:<[^<>()]*>)?\s*\()\s*"([^"\r\n]+)"'
"""What is asked of a section that a variable keeps, also by a function of one's own: `smtp.Require("Server")`."""

_PLACEHOLDER = re.compile(r"\$\{([A-Z][A-Z\d_]+)[:}]")


def _of_fields(text: str) -> Iterator[tuple[str, int]]:
    """The variables that are called as the fields are that take them."""
    for found in _OPTION.finditer(text):
        yield found[1].upper(), found.start(1)
    for declared in _SETTINGS_CLASS.finditer(text):
        prefix = _PREFIX.search(text, declared.end())
        for field in _FIELD.finditer(text, declared.end()):
            if field[1] is None:
                break
            yield f"{prefix[1] if prefix else ''}{field[1]}".upper(), field.start(1)


def _of_sections(text: str) -> Iterator[tuple[str, int]]:
    """The keys that code of .NET asks sections for, until the variable keeps another one."""
    kept = list(_SECTION_KEPT.finditer(text))
    for at, section in enumerate(kept):
        end = next((one.start() for one in kept[at + 1 :] if one[1] == section[1]), len(text))
        for found in re.compile(_OF_SECTION.format(section[1])).finditer(text, section.end(), end):
            yield f"{section[2]}:{found[1]}", found.start()


def variables_given(text: str) -> Iterator[tuple[str, int]]:
    """The variables of the environment that a file gives a value, or shows with one in a comment: `# SHOP_PORT=80`."""
    return ((found[1], found.start(1)) for found in _VARIABLE_GIVEN.finditer(text))


def variables_declared(path: str, text: str) -> Iterator[tuple[str, int]]:
    """The variables that a schema of JavaScript or a map of Go declares, which the rest of the code then reads by those
    names."""
    is_go, is_of_variables = path.endswith(".go"), _OF_VARIABLES.search(path.rpartition("/")[2]) is not None
    if (is_go and _OF_VARIABLES.search(path)) or (not is_go and (is_of_variables or _SCHEMA.search(text))):
        for found in (_MAP_KEY if is_go else _SCHEMA_KEY).finditer(text):
            yield found[1], found.start(1)


def variables_named(text: str) -> Iterator[tuple[str, int]]:
    """The variables of the environment that a configuration of Spring takes values from: `${SHOP_PORT:80}`."""
    return ((found[1], found.start()) for found in _PLACEHOLDER.finditer(text))


def settings_read(text: str, *, variables: bool = False) -> Iterator[tuple[str, int]]:
    """(setting, where code asks for it by a literal text), in no order; `variables`: of the environment alone."""
    below = {} if variables or "Section" not in text else {at: key for key, at in _of_sections(text)}
    for pattern, marks in (_READING[-1], (_AS_VARIABLE, ("onfig",))) if variables else _READING:
        for found in pattern.finditer(text) if any(mark in text for mark in marks) else ():
            if found.start() not in below:
                yield found[found.lastindex or 0], found.start()
    yield from _of_fields(text)
    yield from ((key, at) for at, key in below.items())
