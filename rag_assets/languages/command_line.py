"""The options and commands that code gives a program on its command line, read from the calls, attributes and
annotations of the libraries that parse one."""

from __future__ import annotations

import re
from collections.abc import Iterator

OPTION_WORDS = (
    "add_argument add_option argparse click option typer Flags PersistentFlags flag pflag StringVar BoolVar IntVar arg"
    " clap structopt Arg long Option CommandOption opts OptionParser commander requiredOption yargs args argv"
)
COMMAND_WORDS = (
    "command group add_parser add_subparsers click typer cobra AddCommand clap Subcommand subcommand Command"
    " SubCommand Verb commander yargs CommandConfiguration AsCommand signature desc"
)
"""The words of code that declares them."""

_DASHED = re.compile(
    r"\b(?:add_argument|add_option|requiredOption|opts?\.on|parser\.on)\s*\("
    r"|(?:@(?:\w+\.)?[oO]ption|\.[oO]ption|\btyper\.Option|\bby\s+option)\s*\("
    r"|\bnew\s+(?:\w+\.)*Option\s*(?:<[^()]*?>)?\s*\(|\[(?:Command)?Option\s*\("
)
"""What is given an option as it is typed, in the first text with dashes: `add_argument("-p", "--port")`."""
_AS_TYPED = re.compile(r"[\"'|, ](--[a-z\d][\w-]*)", re.IGNORECASE)
_SHORT = re.compile(r"[\"'](-[A-Za-z\d])\b")
_CONSTANT = re.compile(r"\s*(?:\w+\.)*([A-Za-z_]\w*)\s*[,)]")
_COMPARED = re.compile(
    r"(?:\bcase\s+\"[-/][\w-]+\"\s*:\s*)+"
    r"|\b(?:argv?|args)(?:\[\w+\])?\s*(?:==|\bis)\s*\"-[\w-]+\""
    r"|\b(?:argv?|args)(?:\[\w+\])?\s*\.\s*(?:Contains|Equals|contains|equals|includes)\(\s*[\"']-[\w-]+[\"']"
    r"|\b[sS]tring\.Equals\(\s*(?:argv?|args)(?:\[\w+\])?\s*,\s*\"-[\w-]+\""
    r"|\bstrcmp\(\s*\w*argv?\w*(?:\[\w+\])?\s*,\s*\"-[\w-]+\""
)
"""What a program without a library for it compares its arguments with, in one `case` for all names of an option."""
_COMPARED_WITH = re.compile(r"[\"'](--?[A-Za-z][\w-]*)[\"']")
_MOST_CHARS = 200  # between such a call and the names of its option
_CLAP = r"#\[(?:arg|clap|structopt)\("
_GO_FLAGS = r"(?:\bp?flag|\b\w*[fF]lags(?:\(\))?|\b\w*[fF]lag[sS]et|\bfs)"
_GO_NAMES = (
    r"\s*\.\s*(?:Bool|Count|Duration|Float|Func|IP|Int|String|Text|Uint|Var)\w*\(\s*"
    r"(?:&?[\w.]+(?:\(\))?,\s*)?\"([\w.-]+)\""
)
_GO_OPTION = _GO_FLAGS + _GO_NAMES
_GO_FLAG_SET = re.compile(rf"\b(?!{_GO_FLAGS}\s*:?=)(\w+)\s*:?=\s*(?:\w+\.)*(?:NewFlagSet|(?:Persistent)?Flags)\(")
"""A set of flags that a function calls otherwise: `f := flag.NewFlagSet("shop", flag.ExitOnError)`."""
_NAMED = re.compile(
    rf"{_GO_OPTION}"  # flag, pflag
    r"|\bcli\.\w+Flag\s*\{\s*Name:\s*\"([\w-]+)"  # urfave/cli
    r"|\.long\(\s*\"([\w-]+)\""  # clap
    rf"|{_CLAP}[^\]]*?\blong\s*=\s*\"([\w-]+)\""
    r"|\.option\(\s*[\"'](\w[\w-]*)[\"']\s*,\s*\{"  # yargs
    r"|\[Option\((?:\s*'.'\s*,)?\s*\"(\w[\w-]*)\""  # CommandLineParser
)
_CALLED_AS_FIELD = re.compile(
    rf"{_CLAP}[^\]]*?\blong\b(?!\s*=)[^\]]*\]\s*(?:(?://[^\n]*|#\[[^\]]*\])\s*)*(?:pub(?:\([^)]*\))?\s+)?(\w+)\s*:"
    r"|@(?:Option|Flag)(?:\((?:[^()]|\([^()]*\))*\))?\s+(?:(?:public|private|internal)\s+)?var\s+(\w+)"  # Swift
)
_ARGUMENT = re.compile(
    r"\badd_argument\s*\(\s*[\"'](\w[\w-]*)[\"']|@(?:\w+\.)?argument\s*\(\s*[\"'](\w[\w-]*)[\"']"
    r"|\[CommandArgument\s*\(\s*\d+\s*,\s*\"([^\"]+)\"|\bnew\s+(?:\w+\.)*Argument\s*(?:<[^()]*?>)?\s*\(\s*\"([\w-]+)\""
    r"|@Argument(?:\([^()]*\))?\s+var\s+(\w+)"
)
_OF_JAVASCRIPT = re.compile(r"\.command\s*\(\s*[\"']([\w:-]+)")  # commander, yargs
_COMMANDS = {
    "go": re.compile(
        r"Command\s*\{[^{}]{0,1000}?\bUse:\s*\"([\w-]+)|\bcli\.Command\s*\{\s*Name:\s*\"([\w-]+)"
    ),  # cobra, urfave/cli
    "python": re.compile(
        r"\badd_parser\s*\(\s*[\"']([\w-]+)"
        r"|@\w+(?:\.\w+)?\.(?:command|group)\s*\(\s*(?:name\s*=\s*)?[\"']([\w-]+)[\"']"  # click, typer
    ),
    "rust": re.compile(
        r"\b(?:Command::new|SubCommand::with_name)\(\s*\"([\w-]+)\"\s*\)\s*"
        r"\.(?:about|version|subcommand|arg\(\s*(?:clap::)?Arg\b)"  # clap, and no process
    ),
    "csharp": re.compile(
        r"\bnew\s+Command\s*\(\s*\"([\w-]+)\"|\.(?:Add)?Command\s*(?:<[^()]*?>)?\s*\(\s*\"([\w-]+)\""
        r"|\[(?:Verb|Command)\s*\(\s*(?:Name\s*=\s*)?\"([\w-]+)\""
    ),
    "java": re.compile(r"@Command\s*\(\s*(?:[^()]*?\b)?name\s*=\s*\"([\w-]+)\""),  # picocli
    "php": re.compile(r"#\[AsCommand\(\s*(?:name:\s*)?['\"]([\w:-]+)|\$signature\s*=\s*['\"]([\w:-]+)"),
    "ruby": re.compile(
        r"^[ \t]*desc[ (]+[\"']([\w:-]+)[^\"'\n]*[\"'],\s*[\"'](?![^\n]*\bhide:\s*true)", re.MULTILINE
    ),  # Thor, and no task of Rake
    "swift": re.compile(r"\bcommandName:\s*\"([\w-]+)\""),
} | dict.fromkeys(("javascript", "typescript"), _OF_JAVASCRIPT)
"""By languages: what is called so elsewhere runs another program, or reads a database."""
_CALLED_AS_FUNCTION = re.compile(
    r"@\w+(?:\.\w+)?\.(?:command|group)\s*\((?!\s*(?:name\s*=\s*)?[\"'])[^\n]*\)[ \t]*\n"
    r"(?:[^\n]+\n){0,40}?\s*(?:async\s+)?def (\w+)"
)
_SUBCOMMANDS = re.compile(r"#\[derive\([^\]]*\bSubcommand\b[^\]]*\][^{};]*?\benum\s+\w+[^{]*\{")
_VARIANT = re.compile(r"^(?P<indent>[ \t]+)(?P<name>[A-Z]\w*)\s*(?=[,({]|$)", re.MULTILINE)
_COMMENTS = re.compile(r"^\s*//.*$", re.MULTILINE)
_NOT_TYPED = re.compile(r"\b(?:flatten|external_subcommand|hide\s*=\s*true)\b")
_TYPED = re.compile(r"\bname\s*=\s*\"([\w-]+)\"")


DEFAULT_WORDS = "SetDefault set_default setdefault Flags PersistentFlags flag pflag add_argument option default"
"""The words of code that gives options, and keys of a configuration, a default."""
_DEFAULT = re.compile(
    r"\b[sS]et_?[dD]efault\(\s*[\"']([\w.:-]+)[\"']\s*,\s*(?![\"']{2}|None\b|nil\b)(?=[\w\"'\[{-])"  # viper, config
    rf"|{_GO_OPTION}\s*,\s*(?:\"\w?\"\s*,\s*)?(?!\"\"|nil\b)(?=[\w\"-])"
    r"|[\"']--([a-z][\w-]*)[\"'][^()]{0,200}?\bdefault\s*=\s*(?![\"']{2}|None\b)(?=[\w\"'\[{-])"  # argparse, click
)


def defaults_given(text: str) -> Iterator[tuple[str, int]]:
    """(option or key of a configuration, where code gives it a default), in text order."""
    return ((found[found.lastindex or 0], found.end()) for found in _DEFAULT.finditer(text))


def options_declared(text: str) -> Iterator[tuple[str, int]]:
    """(option as it is typed, where code declares it), in no order."""
    for call in _DASHED.finditer(text):
        given = text[call.end() : call.end() + _MOST_CHARS]
        given = given[: _end_of_call(given)]
        named = _AS_TYPED.search(given)
        constant = _CONSTANT.match(given) if named is None else None
        of_constant = constant and re.search(rf"\b{constant[1]}\s*=\s*\"(--[\w-]+)\"", text)
        if constant and of_constant:
            yield of_constant[1], call.end() + constant.start(1)
        elif named := named or _SHORT.search(given):
            yield named[1], call.end() + named.start(1)
    for compared in _COMPARED.finditer(text):
        names = [*_COMPARED_WITH.finditer(compared.group())]
        if names:
            longest = max(names, key=lambda name: len(name[1]))
            yield longest[1], compared.start() + longest.start(1)
    yield from ((f"--{name}", at) for name, at in _matched(_NAMED, text))
    for kept in _GO_FLAG_SET.finditer(text):
        end = text.find("\n}", kept.end())
        for found in re.compile(rf"(?<![\w.]){kept[1]}{_GO_NAMES}").finditer(
            text, kept.end(), end if end > 0 else len(text)
        ):
            yield f"--{found[1]}", found.start(1)
    yield from ((f"--{_kebab(name)}", at) for name, at in _matched(_CALLED_AS_FIELD, text))


def arguments_declared(text: str) -> Iterator[tuple[str, int]]:
    """As `options_declared`, with what has no name where it is typed."""
    yield from options_declared(text)
    yield from _matched(_ARGUMENT, text)


def commands_declared(text: str, language: str) -> Iterator[tuple[str, int]]:
    """(command as it is typed, where code declares it), in no order."""
    if language in _COMMANDS:
        yield from _matched(_COMMANDS[language], text)
    for found in _CALLED_AS_FUNCTION.finditer(text):
        yield found[1].replace("_", "-"), found.start(1)
    for declared in _SUBCOMMANDS.finditer(text):
        yield from _variants(text, declared.end())


def _matched(pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, int]]:
    return ((found[found.lastindex or 0], found.start(found.lastindex or 0)) for found in pattern.finditer(text))


def _variants(text: str, start: int) -> Iterator[tuple[str, int]]:
    """The variants of an enumeration of Rust, as clap calls them, but not those that are hidden, or whose own commands
    stand in for them."""
    end = text.find("\n}", start)
    indent, before = "", start
    for found in _VARIANT.finditer(text, start, end if end >= 0 else len(text)):
        indent = indent or found["indent"]
        if found["indent"] != indent:
            continue
        above = _COMMENTS.sub("", text[before : found.start()])
        before = found.end()
        if _NOT_TYPED.search(above) is None:
            typed = _TYPED.search(above)
            yield typed[1] if typed is not None else _kebab(found["name"]), found.start("name")


def _end_of_call(text: str) -> int:
    """Where the bracket that stands open before a text is closed, or the text ends."""
    depth = 1
    for at, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if depth == 0:
            return at
    return len(text)


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z\d])(?=[A-Z])", "-", name).replace("_", "-").lower()
