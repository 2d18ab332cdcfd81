"""What holds for every C# text: pure, deterministic, exact ranges, nothing lost, linear time (A06, A07)."""

from __future__ import annotations

import builtins
import os
import socket
import subprocess
import sys
from dataclasses import dataclass, field

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rag_assets.contracts.segment import LineIndex, Member, ParseHealth, Segment, SegmentedFile
from rag_assets.languages.csharp.syntax import SEGMENTER_VERSION, segment_csharp

WORDS = """\
class struct interface enum record delegate namespace using static public void int string new this get where event
partial params ref out operator += extension allows field { } ( ) [ ] < > ; , : = => ? . ! ~ @x A B c 1"""
LITERALS = [
    '"a"',
    "'c'",
    '$"{x}"',
    '@"v""q"',
    '"""r"""',
    '"',
    "'",
    '$"{',
    "/*",
    "*/",
    "/// <summary>",
    "</summary>",
    "//",
]
ODD = ["é", "𝄞", "\ufeff", "\x00", chr(0xD800)]
TOKENS = [*WORDS.split(), *LITERALS, *ODD]
LINES = ["#if A", "#elif !B", "#else", "#endif", "#region R", "#endregion", "#pragma warning disable 1", "#:package A"]
SOUP = st.lists(st.sampled_from([*TOKENS, *(f"\n{line}\n" for line in LINES), "\n", "\r\n", "\r", "\t"])).map(" ".join)


def check_ranges(text: str, file: SegmentedFile) -> None:
    """Ranges in the text, lines that fit the characters, members inside their segment, unique ordinals in order."""
    lines = LineIndex(text)
    assert [segment.ordinal for segment in file.segments] == list(range(len(file.segments)))
    for segment in file.segments:
        assert segment.name
        assert segment.symbol
        assert segment.health is file.health
        check_range(text, lines, segment, (0, len(text)))


def check_range(text: str, lines: LineIndex, found: Segment | Member, within: tuple[int, int]) -> None:
    span = found.span
    assert within[0] <= span.char_start < span.char_end <= within[1]
    assert span == lines.span(span.char_start, span.char_end)
    assert "\n" not in found.signature
    for member in found.members:
        assert member.name
        check_range(text, lines, member, (span.char_start, span.char_end))


@pytest.mark.rule("A06", "A07")
@given(SOUP)
@example("class A { int a = 1, b\r\n; /* */ }\r// é")
@example('$"{x}" \n#if A\n { @"')
@example("#if A\n(\n" * 50)
@settings(max_examples=200)
def test_any_text_gives_segments_with_exact_ranges_twice_the_same(text: str) -> None:
    """A07: deterministic. Never raises, whatever the text."""
    file = segment_csharp(text, "a/B.cs")
    check_ranges(text, file)
    assert segment_csharp(text, "a/B.cs") == file
    assert bool(file.segments) or not text.strip(" \t\r\n\ufeff\x00") or file.detail


@given(st.text())
@settings(max_examples=100)
def test_any_unicode_text(text: str) -> None:
    check_ranges(text, segment_csharp(text))


@dataclass
class Expected:
    """A generated type: its source and what must be found in it."""

    text: str
    name: str
    members: list[Expected] = field(default_factory=list)


NAMES = st.text(st.sampled_from("abcXYZ_éßж名"), min_size=1, max_size=4).map(lambda text: "n" + text)
DOCS = st.sampled_from(["", "/// <summary>é</summary>\n", "// plain\n", "[A(1)]\n", "/** d */ "])
SHAPES = st.sampled_from(
    [
        "public int {};",
        'void {}(int a, string b = "}}") {{ if (a) {{ x(); }} }}',
        'public string {} {{ get; set; }} = $"{{1}}";',
        "Task<int> {}<T>() where T : class => null;",
        "event E {} {{ add {{ }} remove {{ }} }}",
        "delegate void {}();",
        "enum {} {{ One = 1, Two }}",
    ]
)


@st.composite
def types(draw: st.DrawFn, depth: int = 0) -> Expected:
    name = draw(NAMES)
    members = []
    for number in range(draw(st.integers(0, 4))):
        if depth < 2 and draw(st.booleans()):
            members.append(draw(types(depth + 1)))
        else:
            shape, own = draw(SHAPES), f"{draw(NAMES)}{number}"
            members.append(Expected(draw(DOCS) + shape.format(own), own))
    gap = draw(st.sampled_from(["\n", "\r\n", "\n\n    "]))
    kind = draw(st.sampled_from(["class", "public sealed class", "struct", "interface", "record"]))
    body = "".join(gap + member.text for member in members)
    return Expected(f"{draw(DOCS)}{kind} {name}{gap}{{{body}{gap}}}", name, members)


def check_found(text: str, found: Segment | Member, expected: Expected) -> None:
    assert found.name == expected.name
    assert found.span.slice(text) == expected.text
    if expected.members:
        assert len(found.members) == len(expected.members)
        for member, wanted in zip(found.members, expected.members, strict=True):
            check_found(text, member, wanted)


@pytest.mark.rule("A04", "A05", "A06")
@given(st.lists(types(), min_size=1, max_size=3), st.sampled_from(["", "namespace N.é;\n", "\ufeffusing A;\r\n"]))
@settings(max_examples=80)
def test_everything_declared_is_found_with_its_source(declared: list[Expected], header: str) -> None:
    """A04, A05, A06: `slice == text[range]` for generated files."""
    text = header + "\n".join(one.text for one in declared) + "\n"
    file = segment_csharp(text)
    assert file.health is ParseHealth.OK, file.detail
    for segment, expected in zip(file.segments, declared, strict=True):
        check_found(text, segment, expected)


@given(types(), st.data())
@settings(max_examples=60)
def test_a_damaged_file_loses_no_line(declared: Expected, data: st.DataObject) -> None:
    text = f"using A;\nnamespace N\n{{\n{declared.text}\nclass Last {{ }}\n}}\n"
    at = data.draw(st.integers(text.index("{") + 1, len(text) - 1))
    damage = data.draw(st.sampled_from(["", "(", ")", "}", "{", '"', "<<<", "class", " @ ", ";"]))
    broken = text[:at] + damage + text[at + 1 :]
    file = segment_csharp(broken, "x.cs")
    check_ranges(broken, file)
    if file.health in (ParseHealth.PARTIAL, ParseHealth.TEXT_FALLBACK):
        covered = {n for s in file.segments for n in range(s.span.line_start, s.span.line_end + 1)}
        for number, line in enumerate(broken.split("\n"), 1):
            if number > 3 and line.strip(" \r{};"):
                assert LineIndex(broken).line_of(sum(len(x) + 1 for x in broken.split("\n")[: number - 1])) in covered


PAIRS = ("class A { int a; }", "namespace N;\n#if X\nclass A : B {\n#else\nclass A {\n#endif\n}", "((((", "x = 1;")


@pytest.mark.rule("A03", "A07")
def test_segmentation_touches_nothing_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A07, A03: no file is opened, no process started, nothing connected."""
    before = [segment_csharp(text, "a.cs") for text in PAIRS]  # loads the grammar

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("side effect")

    for module, name in ((builtins, "open"), (os, "open"), (os, "stat"), (socket, "socket"), (subprocess, "Popen")):
        monkeypatch.setattr(module, name, refused)
    after = [segment_csharp(text, "a.cs") for text in PAIRS]
    monkeypatch.undo()
    assert after == before


@pytest.mark.rule("A07")
def test_results_do_not_depend_on_the_hash_seed() -> None:
    """A07"""
    program = (
        "from rag_assets.languages.csharp.syntax import segment_csharp\n"
        f"print([segment_csharp(text, 'a.cs') for text in {PAIRS!r}])\n"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


def test_the_path_names_only_segments_without_a_symbol_of_their_own() -> None:
    assert segment_csharp("class A { }", "a.cs") == segment_csharp("class A { }", "b.cs")
    assert segment_csharp("// x", "a/b.cs").segments[0].symbol == "a/b.cs"


def test_the_version_is_an_integer_to_raise() -> None:
    assert isinstance(SEGMENTER_VERSION, int)


HOSTILE = {
    "nested-parens": "class A{int F(){return " + "(" * 10_000 + "1" + ")" * 10_000 + ";}}",
    "open-parens": "class A{int F(){return " + "(" * 10_000,
    "nested-braces": "class A{void F()" + "{" * 10_000 + "}" * 10_000 + "}",
    "nested-classes": "class A{" * 10_000 + "}" * 10_000,
    "unclosed-classes": "class A{" * 10_000,
    "nested-namespaces": "namespace A{" * 10_000 + "}" * 10_000,
    "nested-brackets": "class A{int[] x=" + "[" * 10_000 + "]" * 10_000 + ";}",
    "lambda-chain": "class A{object x=" + "a=>" * 10_000 + "1;}",
    "nested-holes": "class A{string x=" + '$"{' * 3_000 + "1" + '}"' * 3_000 + ";}",
    "nested-if": "#if A\n" * 10_000 + "class A { }\n" + "#endif\n" * 10_000,
    "nested-split-if": "#if A\n(\n" * 5_000 + "#endif\n" * 5_000,
    "elif-chain": "#if A\nclass B{}\n" + "#elif C\nclass D{}\n" * 1_000 + "#endif\n",
    "split-members": "class A{" + "\n#if A\nint a(\n#else\nint b(\n#endif\n);\n" * 500 + "}",
    "split-types": "class A{\n#if A\nint a(\n#else\nint b(\n#endif\n);}\n" * 500,
    "conditional-chain": "class A{void F(){a" + "?.b" * 20_000 + "=1;}}",
    "unclosed-extensions": "class A{" + "{extension(string s" * 5_000,
    "unterminated-strings": 'class A{ string s="abc;\n void F(){}\n}' * 200,
    "unterminated-raw": 'class A{ string s="""abc;\n void F(){}\n}' * 200,
    "nuls": "class A{\0\0int x;\0}" * 200,
    "noise": "%%^&*( )) }{ " * 2_000,
    "pragmas": "class A{ void F( {\n" + "#pragma warning disable x\n" * 5_000,
    "attributes": "class A{void F(" + "[X] int a," * 5_000 + "int b){}}",
    "comments": "// a\n\n" * 20_000 + "class A{}",
    "bases-of-masks": "class A{" + "void F(){ ( }\n" * 1_000 + "}",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_neither_recurses_nor_explodes(text: str) -> None:
    """Quadratic work on these would take minutes, recursion would raise."""
    check_ranges(text, segment_csharp(text, "x.cs"))


def test_one_line_of_two_megabytes() -> None:
    text = 'class A{void F(){var s="' + "x" * 2_000_000 + '";}int last;}'
    file = segment_csharp(text)
    assert [m.name for m in file.segments[0].members] == ["F", "last"]
    check_ranges(text, file)
