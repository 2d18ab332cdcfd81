"""What the documents tell readers to type can be typed: commands, settings, programs and links. `make docs` checks the
site itself.
"""

from __future__ import annotations

import doctest
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml
from pydantic import ValidationError
from typer.core import TyperGroup

from rag_assets.cli import PROGRAM, app
from rag_assets.settings import Settings

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), ROOT / "training" / "README.md"]

_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(rf"`({PROGRAM} [^`\n]+)`")
_LINK = re.compile(r"!?\[(?:[^\[\]`]|`[^`]*`|\[[^\]]*\])*\]\(([^()\s]+)\)")
_ADDRESS = re.compile(r"https?://[\w.-]+(:\d+)?(/[^\s|<>]*)?")
_ENDS_COMMAND = re.compile(r"[|&;()]+")
_SHELL = ("sh", "console", "bash")


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for fence in _FENCE.finditer(text):
        inside = re.sub(rf"^{fence[1]}", "", fence[3], flags=re.MULTILINE)
        found.append(Block(fence[2], inside, text[: fence.start()].count("\n") + 1))
    return found


def prose(page: Path) -> str:
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


@pytest.fixture(params=PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def page(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


def commands(text: str) -> Iterator[list[str]]:
    """The words behind `rag-assets` of each command of a shell text."""
    for line in text.replace("\\\n", " ").splitlines():
        reader = shlex.shlex(line.removeprefix("$ "), posix=True, punctuation_chars="|&;()<>")
        reader.whitespace_split = True
        words: list[str] = []
        for word in [*reader, ";"]:
            if not _ENDS_COMMAND.fullmatch(word):
                words.append(word)
                continue
            while words and re.fullmatch(r"\w+=.*", words[0]):
                words.pop(0)
            redirected = next((at for at, one in enumerate(words) if set(one) <= set("<>&") and one), len(words))
            if words and Path(words[0]).name == PROGRAM:
                yield words[1:redirected]
            words = []


@cache
def program() -> Any:
    return typer.main.get_command(app)


def misused(words: list[str], *, is_whole: bool) -> str:
    """What the real parser has against a command; '' for nothing. Values are not looked at: a file need not be there,
    and `N` stands for a number. In prose, arguments may be left out."""
    command, context, rest, name = program(), None, words, PROGRAM
    while True:
        try:
            context = command.make_context(name, list(rest), parent=context)
            if not isinstance(command, TyperGroup):
                return ""
            rest = [*context._protected_args, *context.args]
            if not rest:
                return "" if not is_whole or context.command.invoke_without_command else "no command"
            name, command, rest = command.resolve_command(context, list(rest))
        except typer.Exit:
            return ""  # --help and --version
        except typer.TyperException as wrong:
            kind = type(wrong).__name__
            if kind == "BadParameter" or (not is_whole and kind in ("MissingParameter", "NoArgsIsHelpError")):
                return ""
            return f"{kind}: {wrong}"


def test_commands_are_those_of_the_program(page: Path) -> None:
    wrong = []
    for block in blocks(page):
        if block.language in _SHELL:
            text = block.text
            if block.language == "console":
                text = "\n".join(line for line in text.splitlines() if line.startswith("$ "))
            wrong += [(words, said) for words in commands(text) if (said := misused(words, is_whole="…" not in words))]
    for found in _INLINE.finditer(prose(page)):
        wrong += [(words, said) for words in commands(found[1]) if (said := misused(words, is_whole=False))]
    assert wrong == []


def test_blocks_can_be_read_by_what_they_are_for(page: Path) -> None:
    for block in blocks(page):
        place = f"{page.name}:{block.line}"
        if block.language == "python":
            examples = doctest.DocTestParser().get_examples(block.text)
            compile("".join(one.source for one in examples) or block.text, place, "exec")
        elif block.language == "toml":
            tomllib.loads(block.text)
        elif block.language == "json":
            for text in [block.text] if block.text.count("\n{") == 0 else block.text.splitlines():
                json.loads(text)
        elif block.language == "yaml":
            for document in yaml.load_all(block.text, yaml.CSafeLoader):
                assert unknown_settings(document) == [], place


def unknown_settings(document: object) -> list[str]:
    """Settings that there are not, where a block is a configuration or a part of one."""
    if not isinstance(document, dict) or not set(document) <= set(Settings.model_fields):
        return []
    try:
        Settings.model_validate(document)
    except ValidationError as wrong:
        return [str(one["loc"]) for one in wrong.errors() if one["type"] != "missing"]
    return []


@cache
def anchors(page: Path) -> set[str]:
    """Those that hosts and the site make of the headings of a page."""
    found: set[str] = set()
    for heading in re.findall(r"^#{1,6} (.+?)\s*$", _FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        found.add(slug if slug not in found else f"{slug}-1")
    return found


def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for link in _LINK.findall(re.sub(r"`[^`\n]*`", "`code`", prose(page))):
        if ":" in link.partition("#")[0]:
            if not (_ADDRESS.fullmatch(link) or link.startswith("mailto:")):
                broken.append(link)
            continue
        target, _, anchor = link.partition("#")
        path = (page.parent / target).resolve() if target else page
        if not path.exists() or (anchor and path.suffix == ".md" and anchor not in anchors(path)):
            broken.append(link)
    assert broken == []


MISTAKES = [
    ("search x --lable y", "No such option"),
    ("serch x", "No such command"),
    ("search", "Missing parameter: query"),
    ("generations lisst", "No such command"),
]


@pytest.mark.parametrize(("typed", "said"), MISTAKES)
def test_a_mistake_is_found(typed: str, said: str) -> None:
    (words,) = commands(f"cd x && RAG=1 {PROGRAM} {typed} > out.txt  # comment")
    assert said in misused(words, is_whole=True)


def test_a_setting_that_there_is_not_is_found() -> None:
    assert unknown_settings({"embedder": {"provider": "minilm", "presicion": "int8"}})


@pytest.mark.parametrize("picture", sorted((ROOT / "docs" / "images").glob("*.png")), ids=lambda path: path.name)
def test_pictures_are_small_and_shown(picture: Path) -> None:
    data = picture.read_bytes()
    width = int.from_bytes(data[16:20])  # of a PNG: behind its signature, and the length and name of its first chunk
    assert width <= 1600 and len(data) <= 200_000, (width, len(data))
    assert any(f"images/{picture.name})" in page.read_text("utf-8") for page in (ROOT / "docs").rglob("*.md"))
