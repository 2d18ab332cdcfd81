"""Hostile files of every format that is read: deep, endless, huge, broken, lying, in wrong encodings. All different.

`hostile_files()` gives them by path; the folder of a file is its kind, the name says what is wrong with it.
"""

from __future__ import annotations

import base64
import io
import json
import random
import struct
import zipfile
import zlib
from collections.abc import Iterator

DEEP = 20_000
_LINE = 8_000
"""Below the longest line that is read: a longer one keeps a file from its parser."""


def hostile_files() -> dict[str, bytes]:
    """Path → content."""
    kinds = {
        "csharp": _csharp,
        "code": _code,
        "sql": _sql,
        "markdown": _markdown,
        "html": _html,
        "xml": _xml,
        "json": _json,
        "yaml": _yaml,
        "notebooks": _notebooks,
        "transcripts": _transcripts,
        "word": _word,
        "pdf": _pdf,
        "encodings": _encodings,
        "secrets": _secrets,
        "other": _other,
    }
    return {
        f"{kind}/{name}": content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
        for kind, made in kinds.items()
        for name, content in made()
    }


GOOD = {
    "good/Order.cs": b"public class Order { public int Id { get; set; } }\n",
    "good/notes.md": b"# Orders\n\nThey are paid.\n",
    "good/total.py": b"def total(orders):\n    return sum(orders)\n",
}
"""What every build with hostile files indexes all the same."""

_Files = Iterator[tuple[str, "str | bytes"]]


def _lines(text: str) -> str:
    """In lines that are read."""
    return "\n".join(text[start : start + _LINE] for start in range(0, len(text), _LINE))


def _nested(before: str, middle: str, after: str, depth: int = DEEP) -> str:
    line = max(1, _LINE // max(len(before), len(after), 1))
    opening = "\n".join(before * min(line, depth - done) for done in range(0, depth, line))
    closing = "\n".join(after * min(line, depth - done) for done in range(0, depth, line))
    return f"{opening}\n{middle}\n{closing}\n"


def _repeated(unit: str, times: int) -> str:
    return "\n".join(unit for _ in range(times))


def _csharp() -> _Files:
    def method(body: str) -> str:
        return f"class A {{\n void B() {{\n{body}\n }}\n}}\n"

    yield "parentheses.cs", method("var x =" + _nested("(", "1", ")") + ";")
    yield "blocks.cs", method(_nested("{", ";", "}"))
    yield "ifs.cs", method(_nested("if(a){", ";", "}"))
    yield "else-ifs.cs", method(_repeated("if (a) { } else", DEEP) + " { }")
    yield "classes.cs", _nested("class A{", "int b;", "}")
    yield "namespaces.cs", _nested("namespace A{", "class B{}", "}", 5_000)
    yield "generics.cs", f"class A {{\n {_nested('List<', 'int', '>')} b;\n}}\n"
    yield "arrays.cs", f"class A {{\n int{_lines('[]' * DEEP)} b;\n}}\n"
    yield "pluses.cs", method("var x = 1" + _repeated(" + 1", DEEP) + ";")
    yield "strings.cs", method('var x = ""' + _repeated(' + "a"', DEEP) + ";")
    yield "calls.cs", method("x" + _repeated(".Y()", DEEP) + ";")
    yield "conditionals.cs", method("var x =" + _repeated(" a ? b :", DEEP) + " c;")
    yield "lambdas.cs", method("F f =" + _nested("x => (", "x", ")") + ";")
    yield "switches.cs", method("var x = a switch {" + _nested("_ => a switch {", "_ => 1", "}", 5_000) + "};")
    yield "interpolation.cs", method("var x =" + _nested('$"{', "1", '}"', 5_000) + ";")
    yield "patterns.cs", method("var x = a is" + _nested("{ A:", "1", "}", 5_000) + ";")
    yield "casts.cs", method("var x =" + _lines("(int)" * DEEP) + "1;")
    yield "nots.cs", method("var x =" + _lines("!" * DEEP) + "a;")
    yield "open-parentheses.cs", method("var x =" + _lines("(" * DEEP))
    yield "open-braces.cs", _lines("{" * 100_000)
    yield "closed-braces.cs", _lines("}" * 100_000)
    yield "open-generics.cs", "class A : " + _lines("B<" * DEEP)
    yield "open-comment.cs", "/*" + _repeated("* /*", 50_000)
    yield "open-string.cs", 'class A { string b = "' + _lines("a" * 100_000)
    yield "open-raw-string.cs", 'class A { string b = """' + _lines('""' * 50_000)
    yield "ifdefs.cs", _repeated("#if A", DEEP) + "\nclass A {}\n" + _repeated("#endif", DEEP)
    yield "open-ifdefs.cs", _repeated("#if A || B && !C", DEEP)
    yield "elifs.cs", "#if A\n" + _repeated("#elif A\nclass A {", 5_000) + "\n#endif\n"
    yield "if-condition.cs", "#if " + "(" * 9_000 + "A" + ")" * 9_000 + "\nclass A {}\n#endif\n"
    yield "regions.cs", _repeated("#region a", DEEP) + "\nclass A {}\n" + _repeated("#endregion", DEEP)
    yield "comment-tags.cs", "/// <summary>" + "<a>" * 6_000 + "\n" + _repeated("/// <b>", DEEP) + "\nclass A {}\n"
    yield "comment-entities.cs", _repeated("/// &amp;&lt;&#55555555555555;", DEEP) + "\nclass A {}\n"
    yield "attributes.cs", _repeated("[A(B = 1)]", DEEP) + "\nclass A {}\n"
    yield "usings.cs", "\n".join(f"using A{number} = B{number};" for number in range(DEEP))
    yield "members.cs", "class A {\n" + "\n".join(f"int B{number};" for number in range(30_000)) + "\n}\n"
    yield "overloads.cs", "class A {\n" + _repeated("void B(int c) {}", DEEP) + "\n}\n"
    yield "parts.cs", _repeated("partial class A { }", DEEP)
    yield "bases.cs", "class A :\n" + ",\n".join(f"I{number}" for number in range(DEEP)) + " {}\n"
    yield "parameters.cs", "class A { void B(\n" + ",\n".join(f"int c{n}" for n in range(DEEP)) + ") {} }\n"
    yield "enums.cs", "enum A {\n" + ",\n".join(f"B{number} = 1 << {number}" for number in range(DEEP)) + "\n}\n"
    yield "itself.cs", "class A<T> : A<A<T>> where T : A<T> { A<A<T>> B => this; }\n"
    yield "circle.cs", "class A : B {}\nclass B : C {}\nclass C : A {}\n"
    yield "name.cs", f"class {'A' * 15_000} {{}}\n"
    yield "digits.cs", method("var x = " + "9" * 15_000 + ";")
    yield "escapes.cs", 'class A { string b = "\\ud800\\udfff\\U0011ffff\\x"; }\n'
    yield "invisible.cs", "class A\u202e\u2066\ufeff\u200b { }\n" * 1_000
    yield (
        "endpoints.cs",
        "class A : Controller {\n" + _repeated('[Route("' + "{a}/" * 500 + '")] void B() {}', 200) + "}",
    )
    yield "queries.cs", method("var x = " + _repeated("from a in b where c select (", 3_000) + "1" + ")" * 3_000 + ";")
    yield "contexts.cs", "class A : DbContext {\n" + _repeated("DbSet<A> B => Set<A>();", 10_000) + "}\n"
    yield "noise.cs", _noise(1, "{}()[]<>;=\"'/*\\#\n a.$@", 200_000)
    yield "truncated.cs", method("var x = new A { B = (c, d) => { if (e is not").removesuffix(" }\n}\n")


def _noise(seed: int, letters: str, length: int) -> str:
    return "".join(random.Random(seed).choices(letters, k=length))


_GRAMMARS = {
    "py": ("f(", ")", "x = ", "def f{n}(): pass\n", "if a:\n"),
    "ts": ("f(", ")", "x = ", "function f{n}() {{}}\n", "if (a) {{"),
    "tsx": ("<a>", "</a>", "x = ", "const F{n} = () => <b/>;\n", "<a b={{"),
    "js": ("[", "]", "x = ", "function f{n}() {{}}\n", "() => {{"),
    "java": ("f(", ")", "class A {{ int x = ", "class A{n} {{}}\n", "class A {{"),
    "go": ("f(", ")", "package a\nvar x = ", "func f{n}() {{}}\n", "func() {{"),
}


def _code() -> _Files:
    for number, (ending, (before, after, start, unit, opening)) in enumerate(_GRAMMARS.items()):
        start, opening = start.format(), opening.format()
        yield f"nested.{ending}", start + _nested(before, "1", after)
        yield f"open.{ending}", start + _lines(before * DEEP)
        yield f"openings.{ending}", _lines(opening * 10_000)
        yield f"chain.{ending}", start + "1" + " \\\n+ 1" * DEEP + "\n"
        yield f"many.{ending}", "".join(unit.format(n=n) for n in range(10_000))
        yield f"string.{ending}", start + '"' + _lines("a\\" * 50_000)
        yield f"noise.{ending}", _noise(number, "{}()[]<>;:=\"'`/*\\#\n a.$@\t", 100_000)
    yield "indents.py", "".join(f"{' ' * depth}if a:\n" for depth in range(1_200)) + " " * 1_200 + "pass\n"
    yield "decorators.py", "@a\n" * DEEP + "def f(): pass\n"
    yield "comprehension.py", "x = " + "[a for a in " * 3_000 + "b" + "]" * 3_000 + "\n"
    yield "docstring.py", 'def f():\n    """' + _repeated("    a", 50_000)
    yield "types.ts", "type A = " + _nested("Array<", "A", ">") + ";\n"
    yield "union.ts", "type A =" + _repeated(" | 'a'", DEEP) + ";\n"
    yield "templates.js", "x = " + _nested("`${", "1", "}`", 5_000) + "\n"
    yield "regex.js", "x = /" + "(a+)+" * 2_000 + "/;\n"
    yield "generics.java", "class A { " + _nested("List<", "A", ">") + " b; }\n"
    yield "structs.go", "package a\ntype A " + _nested("struct { B ", "int", "}")


def _sql() -> _Files:
    yield "parentheses.sql", "SELECT " + _nested("(", "1", ")") + ";\n"
    yield "selects.sql", _nested("SELECT * FROM (", "SELECT 1", ") a", 5_000)
    yield "blocks.sql", "CREATE PROCEDURE a AS\n" + _nested("BEGIN ", "SELECT 1", " END")
    yield "cases.sql", "SELECT " + _nested("CASE WHEN a THEN ", "1", " END", 5_000)
    yield "list.sql", "SELECT 1 WHERE a IN (\n" + ",\n".join(map(str, range(100_000))) + ");\n"
    yield "unions.sql", _repeated("SELECT 1 UNION ALL", DEEP) + " SELECT 1;\n"
    yield (
        "expressions.sql",
        "WITH " + ",\n".join(f"a{n} AS (SELECT * FROM a{n + 1})" for n in range(5_000)) + " SELECT 1",
    )
    yield "inserts.sql", _repeated("INSERT INTO a VALUES (1, 'b');", DEEP)
    yield "columns.sql", "CREATE TABLE a (\n" + ",\n".join(f"b{n} INT" for n in range(DEEP)) + ");\n"
    yield "tables.sql", "".join(f"CREATE TABLE a{n} (b INT);\nGO\n" for n in range(10_000))
    yield "open-string.sql", "SELECT '" + _repeated("''", 50_000)
    yield "open-comment.sql", "/*" + _repeated("/* a", 50_000)
    yield "open-parentheses.sql", "SELECT " + _lines("(" * 50_000)
    yield "batches.sql", "GO\n" * 100_000
    yield "quotes.sql", _noise(3, "'\"[]`$;-/*\n a", 200_000)
    yield "ands.sql", "SELECT 1 WHERE a" + _repeated(" AND a", DEEP) + ";\n"
    yield "dollars.sql", "$a$" * 20_000 + "\n"
    yield "name.sql", "CREATE TABLE " + "a." * 7_000 + "b (c INT);\n"


def _markdown() -> _Files:
    yield "quotes.md", "> " * 50_000 + "a\n"
    yield "lists.md", "".join(f"{'  ' * depth}- a\n" for depth in range(800))
    yield "markers.md", "- " * 50_000 + "a\n"
    yield "brackets.md", "[" * 100_000
    yield "links.md", "[a](" * 50_000
    yield "images.md", "![" * 50_000 + "](a)" * 50_000
    yield "stars.md", "*a **b " * 50_000
    yield "underscores.md", "_a__" * 50_000
    yield "backticks.md", " ".join("`" * length for length in range(1, 900))
    yield "fence.md", "```\n" + "a\n" * 100_000
    yield "fences.md", "```\n~~~\n" * 50_000
    yield "headings.md", "# a\n" * 100_000
    yield "levels.md", "#" * 100_000 + " a\n"
    yield "columns.md", "|" * 20_000 + "\n" + "|-" * 20_000 + "\n" + "|" * 20_000 + "\n"
    yield "rows.md", "| a | b |\n|-|-|\n" + "| 1 | 2 |\n" * 50_000
    yield "references.md", "".join(f"[a{n}]: /b\n" for n in range(50_000))
    yield "entities.md", "&amp;&#99999999999;" * 30_000
    yield "tags.md", "<div>" * 50_000
    yield "comment.md", "<!--" * 100_000
    yield "front-matter.md", "---\n" + _bomb() + "\n---\n# a\n"
    yield "front-matter-nested.md", "---\na: " + "[" * 15_000 + "\n---\n# a\n"
    yield "open-front-matter.md", "---\n" + "a: b\n" * 50_000
    yield "one-line.md", "word " * 180_000
    yield "no-spaces.md", "a" * 900_000
    yield "blank-lines.md", "a" + "\n" * 900_000 + "b"
    yield "carriage-returns.md", "a\r" * 300_000
    yield "separators.md", "a\u2028b\u2029c\x85d\x0b\x0c" * 20_000
    yield "marks.md", "a" + "\u0301" * 200_000 + "\n"
    yield "joined.md", "\U0001f468\u200d" * 50_000 + "\n"
    yield "underlines.md", "a\n=\n" * 50_000


def _html() -> _Files:
    yield "nested.html", _nested("<div>", "a", "</div>")
    yield "open.html", _lines("<div>" * 100_000)
    yield "tables.html", _nested("<table><tr><td>", "a", "</td></tr></table>", 5_000)
    yield "attributes.html", "<a " + _repeated('b="c"', 50_000) + ">\n"
    yield "attribute.html", '<a b="' + _lines("c" * 500_000)
    yield "script.html", "<script>" + _repeated("<script>", 50_000)
    yield "comments.html", _repeated("<!-- <!-- -->", 50_000)
    yield "angles.html", _lines("<" * 300_000)
    yield "entities.html", _repeated("&amp;&nosuch;&#xffffffff;", 30_000)
    yield "styles.html", "<style>" + _nested("a{", "b:c", "}", 20_000)
    yield "page.cshtml", _nested("@if(a){<div>", "@b", "</div>}", 5_000)
    yield "page.razor", _lines("@{" * 50_000)
    yield "page.aspx", _lines("<%=" * 50_000)
    yield "page.vue", _nested("<template>", "a", "</template>", 10_000)


def _xml() -> _Files:
    laughs = "".join(
        f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(9)
    )  # ten to the power of nine, the classic
    resx = '<root><data name="{name}"><value>{value}</value></data></root>'
    for ending in ("xml", "resx", "csproj", "config", "xaml"):
        yield f"nested.{ending}", _nested("<a>", "b", "</a>", 50_000)
        yield f"laughs.{ending}", f'<!DOCTYPE r [<!ENTITY a0 "ha">{laughs}]><r>&a9;</r>'
        yield f"open.{ending}", _lines("<a>" * 100_000)
        yield f"noise.{ending}", _noise(len(ending), "<>/=\"'&;!-[]? a\n", 100_000)
    yield "blowup.xml", f'<!DOCTYPE r [<!ENTITY a "{_lines("b" * 100_000)}">]><r>{_repeated("&a;" * 100, 100)}</r>'
    yield "external.xml", '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><r>&a;</r>'
    yield "fetched.resx", '<!DOCTYPE r SYSTEM "http://127.0.0.1:9/a.dtd"><root><data name="a"/></root>'
    yield "itself.xml", '<!DOCTYPE r [<!ENTITY a "&b;"><!ENTITY b "&a;">]><r>&a;</r>'
    yield "attributes.xml", "<a " + "\n".join(f'b{n}="c"' for n in range(50_000)) + "/>"
    yield "namespaces.xml", "".join(f'<a{n} xmlns:n{n}="urn:{n}">\n' for n in range(5_000))
    yield "sections.xml", "<a>" + _repeated("<![CDATA[ ]] >", 50_000)
    yield "values.resx", "<root>" + _repeated('<data name="a"><value>b</value></data>', 20_000) + "</root>"
    yield "name.resx", resx.format(name="a" * 15_000, value="b")
    yield "value.resx", resx.format(name="a", value=_lines("{0}{" * 50_000))
    yield "encoding.xml", '<?xml version="1.0" encoding="utf-7"?><a>+ADw-</a>'
    yield "unknown-encoding.resx", '<?xml version="1.0" encoding="nosuch"?><root/>'
    yield "characters.xml", "<a>&#0;&#xD800;&#x1F;\x1b[2J</a>"
    yield "solution.sln", _repeated('Project("{A}") = "B", "..\\..\\..\\b.csproj", "{C}"', 20_000)
    yield "references.csproj", "<Project>" + _repeated('<ProjectReference Include="..\\a\\a.csproj"/>', 20_000)


def _json() -> _Files:
    yield "arrays.json", _nested("[", "1", "]", 100_000)
    yield "objects.json", _nested('{"a":', "1", "}", 50_000)
    yield "open.json", _lines("[" * 300_000)
    yield "open-objects.json", _lines('{"a":' * 50_000)
    yield "number.json", '{"a": ' + "9" * 15_000 + "}"
    yield "exponent.json", '{"a": 1e999999999, "b": -1e-999999999, "c": NaN, "d": Infinity}'
    yield "same-keys.json", "{" + ",\n".join('"a": 1' for _ in range(50_000)) + "}"
    yield "keys.json", "{" + ",\n".join(f'"a{n}": {n}' for n in range(50_000)) + "}"
    yield "surrogates.json", '{"a": "\\ud800", "\\udfff": "\\ud800\\ud800"}'
    yield "zeros.json", '{"a": "\\u0000\\u0000"}'
    yield "string.json", '["' + "a" * 19_000 + '"]'
    yield "open-string.json", '["' + _repeated("a\\", 50_000)
    yield "comments.json", _repeated("/* // */", 50_000) + "{}"
    yield "commas.json", "[" + _lines("," * 100_000) + "]"
    yield (
        "settings.json",
        json.dumps({"ConnectionStrings": {f"a{n}": "Server=b;Password=c" for n in range(5_000)}}, indent=1),
    )
    yield "lines.jsonl", _repeated("[" * 3_000, 300)
    yield "nested.json5", _nested("[", "1", "]", 100_000)
    yield "table.csv", _repeated("," * 3_000, 300)
    yield "quotes.csv", _lines('"' * 99_999)


def _bomb() -> str:
    rows = ["a0: &a0 [b, b, b, b, b, b, b, b, b]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    return "\n".join(rows)


def _yaml() -> _Files:
    yield "bomb.yaml", _bomb()
    yield (
        "merges.yaml",
        "a0: &a0 {b: c}\n" + "\n".join(f"a{n}: &a{n}\n  <<: [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)),
    )
    yield "itself.yaml", "a: &a [*a, *a]\n"
    yield "flow.yaml", "a: " + _nested("[", "1", "]", 50_000)
    yield "braces.yaml", "a: " + _lines("{a: " * 50_000)
    yield "blocks.yaml", "".join(f"{' ' * depth}a:\n" for depth in range(1_300))
    yield "dashes.yaml", "- " * 9_000 + "a\n"
    yield "tag.yaml", '!!python/object/apply:os.system ["exit 1"]\n'
    yield "anchors.yaml", "".join(f"a{n}: &a{n} b\n" for n in range(30_000))
    yield "numbers.yaml", "a: " + "9" * 15_000 + "\nb: 1" + ":59" * 5_000 + "\nc: 0x" + "f" * 9_000 + "\n"
    yield "tabs.yaml", "a:\n\t- b\n" * 10_000
    yield "documents.yaml", "---\na: b\n" * 30_000
    yield "open-string.yaml", 'a: "' + "b\n" * 100_000
    yield "block-string.yaml", "a: |9\n" + "b\n" * 100_000
    yield "keys.yaml", "? " * 9_000 + "a\n"
    yield "questions.yml", "- question: " + "[" * 9_000
    yield "nested.toml", "a = " + _nested("[", "1", "]", 50_000)
    yield "tables.toml", "[" + ".".join(["a"] * 5_000) + "]\nb = 1\n"


def _notebooks() -> _Files:
    def cells(*sources: object, **more: object) -> str:
        found = [{"cell_type": "code", "source": source, "outputs": [], **more} for source in sources]
        return json.dumps({"cells": found, "nbformat": 4, "metadata": {}}, indent=1)

    yield "nested.ipynb", '{"cells": ' + _nested("[", "1", "]", 50_000) + "}"
    yield "open.ipynb", _lines('{"cells":[' * 20_000)
    yield "types.ipynb", cells(None, 1, {"a": []}, [[], {}, 3])
    yield "outputs.ipynb", cells("a", outputs=[{"data": {"text/plain": ["b\n"] * 30_000}}])
    yield "source.ipynb", cells(["x = (\n"] * 20_000)
    yield "cells.ipynb", cells(*["a"] * 5_000)
    yield "itself.ipynb", json.dumps([[]])
    yield "strings.ipynb", '{"cells": "abc", "metadata": 1, "nbformat": "x"}'
    yield "surrogates.ipynb", '{"cells": [{"cell_type": "markdown", "source": ["\\ud800"]}]}'
    yield "kernel.ipynb", json.dumps({"cells": [], "metadata": {"kernelspec": {"language": ["a"] * 9}}})


def _transcripts() -> _Files:
    cue = "00:00:0{n}.000 --> 00:00:0{n}.500\n{text}\n\n"
    yield "digits.vtt", "WEBVTT\n\n" + "9" * 9_000 + ":00:00.000 --> 00:00:01.000\na\n"
    yield "cues.vtt", "WEBVTT\n\n" + "".join(cue.format(n=n % 9, text="a") for n in range(15_000))
    yield "backwards.vtt", "WEBVTT\n\n00:00:09.000 --> 00:00:01.000\na\n"
    yield "speakers.vtt", "WEBVTT\n\n" + cue.format(n=1, text="<v " * 5_000)
    yield "tags.vtt", "WEBVTT\n\n" + cue.format(n=1, text="<c>" * 5_000)
    yield "header.vtt", "WEBVTT" + "\nNOTE a" * 50_000
    yield "arrows.vtt", "WEBVTT\n\n" + _repeated("-->", 50_000)
    yield "cue.srt", "1\n00:00:01,000 --> 00:00:02,000\n" + "a\n" * 100_000
    yield "numbers.srt", "".join(f"{'9' * 4_500}\n00:00:01,000 --> 00:00:02,000\na\n\n" for _ in range(20))
    yield "noise.srt", _noise(5, "0123456789:,->\n a", 200_000)
    yield "nested.transcript.json", _nested("[", "1", "]", 100_000)
    yield "objects.transcript.json", _nested('{"segments":', "1", "}", 50_000)
    yield "times.transcript.json", json.dumps({"segments": [{"start": 1e308, "end": -1e308, "text": "a"}] * 9})
    yield "number.transcript.json", '{"segments": [{"start": ' + "9" * 15_000 + ', "end": 1, "text": "a"}]}'
    yield "infinite.transcript.json", '{"segments": [{"start": Infinity, "end": NaN, "text": "a"}]}'
    yield "types.transcript.json", json.dumps({"segments": [{"start": [], "end": {}, "text": 1}, 3, None]})
    yield "surrogates.transcript.json", '{"segments": [{"start": 0, "end": 1, "text": "\\ud800"}]}'
    yield "many.transcript.json", json.dumps({"segments": [{"start": 0, "end": 1, "text": "a"}] * 100_000})


_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def _package(document: str | bytes, name: str = "word/document.xml", **more: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr(name, document)
        for other, text in more.items():
            package.writestr(other, text)
    return made.getvalue()


def _body(text: str) -> bytes:
    return _package(f"<w:document {_W}><w:body>{text}</w:body></w:document>")


def _word() -> _Files:
    paragraph = "<w:p><w:r><w:t>a</w:t></w:r></w:p>"

    def wrapped(tag: str, depth: int) -> bytes:
        return _body(f"<w:{tag}>" * depth + paragraph + f"</w:{tag}>" * depth)

    def tables(depth: int) -> bytes:
        return _body("<w:tbl><w:tr><w:tc>" * depth + paragraph + "</w:tc></w:tr></w:tbl>" * depth)

    for depth in (1_500, 50_000, 400_000):
        yield f"controls-{depth}.docx", wrapped("sdt", depth)
    for depth in (300, 2_000, 20_000):
        yield f"tables-{depth}.docx", tables(depth)
    yield "runs.docx", wrapped("r", 300_000)
    yield "contents.docx", wrapped("sdtContent", 20_000)
    yield "bomb.docx", _package(b"<a>" + b" " * (1 << 30 >> 2))
    yield "elements.docx", _body("<w:p/>" * 8_000_000)
    yield "paragraphs.docx", _body(paragraph * 500_000)
    yield "text.docx", _body(f"<w:p><w:r><w:t>{'a' * 30_000_000}</w:t></w:r></w:p>")
    yield "cells.docx", _body(f"<w:tbl><w:tr>{'<w:tc>' * 1}{paragraph * 200_000}</w:tc></w:tr></w:tbl>")
    yield "rows.docx", _body("<w:tbl>" + f"<w:tr><w:tc>{paragraph}</w:tc></w:tr>" * 50_000 + "</w:tbl>")
    yield "attributes.docx", _body("<w:p " + " ".join(f'a{n}="b"' for n in range(200_000)) + "/>")
    entities = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(9))
    yield "laughs.docx", _package(f'<!DOCTYPE r [<!ENTITY a0 "ha">{entities}]><r>&a9;</r>')
    yield "late-laughs.docx", _package(f'<!--{"a" * 5_000}--><!DOCTYPE r [<!ENTITY a0 "ha">{entities}]><r>&a9;</r>')
    yield "missing.docx", _package("a", name="other.xml")
    yield "empty-package.docx", _package("")
    yield "no-xml.docx", _package(random.Random(1).randbytes(10_000))
    yield "utf-16.docx", _package(f'<?xml version="1.0" encoding="utf-16"?><w:document {_W}/>'.encode("utf-16"))
    yield "surrogates.docx", _body("<w:p><w:r><w:t>&#xD800;</w:t></w:r></w:p>")
    whole = tables(3)
    yield "truncated.docx", whole[: len(whole) // 2]
    yield "no-directory.docx", whole[:-30]
    yield "noise.docx", b"PK\x03\x04" + random.Random(2).randbytes(50_000)
    yield "checksum.docx", whole.replace(struct.pack("<I", zlib.crc32(b"")), b"\0\0\0\1") + b"\0" * 9
    yield "encrypted.docx", _patched(whole, 6, b"\x01\x00")
    yield "method.docx", _patched(whole, 8, b"\x63\x00")
    yield "lying-size.docx", _patched(whole, 22, b"\xff\xff\xff\x7f")
    yield "old.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + random.Random(3).randbytes(20_000)
    yield "many-members.docx", _package("<a/>", **{f"a{n}": "b" for n in range(5_000)})


def _patched(package: bytes, offset: int, value: bytes) -> bytes:
    """With another value in the header of the first member, and in the directory."""
    made = bytearray(package)
    made[offset : offset + len(value)] = value
    directory = package.rfind(b"PK\x01\x02")
    made[directory + offset + 2 : directory + offset + 2 + len(value)] = value
    return bytes(made)


def _document(*objects: bytes | str, root: str = "1 0 R") -> bytes:
    """A PDF of some objects, numbered from 1."""
    made = bytearray(b"%PDF-1.7\n")
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(made))
        text = content if isinstance(content, bytes) else content.encode()
        made += f"{number} 0 obj\n".encode() + text + b"\nendobj\n"
    start = len(made)
    made += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    made += b"".join(f"{offset:010} 00000 n \n".encode() for offset in offsets)
    made += f"trailer\n<</Size {len(objects) + 1} /Root {root}>>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(made)


def _stream(data: bytes, more: str = "") -> bytes:
    return f"<</Length {len(data)} {more}>>\nstream\n".encode() + data + b"\nendstream"


def _page_of(
    content: bytes, more: str = "", kids: str = "3 0 R", resources: str = "<<>>", *others: bytes | str
) -> bytes:
    page = f"<</Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources {resources}>>"
    pages = f"<</Type /Pages /Kids [{kids}] /Count {kids.count('R')}>>"
    return _document("<</Type /Catalog /Pages 2 0 R>>", pages, page, _stream(content, more), *others)


def _pdf() -> _Files:
    flate = "/Filter /FlateDecode"
    text = b"BT /F1 9 Tf (a) Tj ET\n"
    bomb = zlib.compress(b" " * (1 << 28), 9)
    yield "bomb.pdf", _page_of(bomb, flate)
    yield "bombs.pdf", _page_of(zlib.compress(bomb, 9), "/Filter [/FlateDecode /FlateDecode]")
    yield "operators.pdf", _page_of(zlib.compress(b"q Q " * 10_000_000, 9), flate)
    yield "texts.pdf", _page_of(zlib.compress(text * 2_000_000, 9), flate)
    yield "arrays.pdf", _page_of(b"[" * 200_000 + b"] TJ")
    yield "dictionaries.pdf", _page_of(b"<<" * 100_000)
    yield "strings.pdf", _page_of(b"(" * 500_000)
    yield "hex.pdf", _page_of(b"<" * 500_000)
    yield "number.pdf", _page_of(b"9" * 500_000 + b" Tc")
    yield "saved.pdf", _page_of(b"q " * 500_000)
    yield "filters.pdf", _page_of(b"a", f"/Filter [{'/ASCIIHexDecode ' * 5_000}]")
    yield "unknown-filter.pdf", _page_of(b"a", "/Filter /NoSuchDecode")
    yield "lzw.pdf", _page_of(random.Random(4).randbytes(100_000), "/Filter /LZWDecode")
    yield "run-length.pdf", _page_of(b"\x81 " * 2_000_000, "/Filter /RunLengthDecode")
    yield (
        "predictor.pdf",
        _page_of(zlib.compress(b"a" * 9), f"{flate} /DecodeParms <</Predictor 15 /Columns 999999999>>"),
    )
    yield "same-page.pdf", _page_of(text * 100, kids="3 0 R " * 50_000)
    yield (
        "pages-in-itself.pdf",
        _document("<</Type /Catalog /Pages 2 0 R>>", "<</Type /Pages /Kids [2 0 R 2 0 R] /Count 9>>"),
    )
    yield (
        "pages-in-circle.pdf",
        _document(
            "<</Type /Catalog /Pages 2 0 R>>",
            "<</Type /Pages /Kids [3 0 R] /Count 9>>",
            "<</Type /Pages /Kids [2 0 R] /Count 9>>",
        ),
    )
    chain = [f"<</Type /Pages /Kids [{number + 1} 0 R] /Count 1>>" for number in range(2, 20_000)]
    yield "deep-pages.pdf", _document("<</Type /Catalog /Pages 2 0 R>>", *chain, "<</Type /Page>>")
    yield "references.pdf", _document("2 0 R", *(f"{number} 0 R" for number in range(3, 5_000)), "1 0 R")
    yield "itself.pdf", _document("1 0 R")
    yield "count.pdf", _document("<</Type /Catalog /Pages 2 0 R>>", "<</Type /Pages /Kids [] /Count 999999999999>>")
    yield "no-pages.pdf", _document("<</Type /Catalog>>")
    yield "types.pdf", _document("<</Type /Catalog /Pages 2 0 R>>", "<</Type 1 /Kids 7 /Count (a)>>")
    nested = "[" * 100_000 + "]" * 100_000
    yield "object.pdf", _document("<</Type /Catalog /Pages 2 0 R>>", nested)
    yield "previous.pdf", _page_of(text).replace(b"/Root", b"/Prev 9 /Root")
    whole = _page_of(text)
    start = whole.rindex(b"startxref")
    table = whole.rindex(b"xref\n0")
    yield "previous-itself.pdf", whole.replace(b"/Root", f"/Prev {table} /Root".encode())
    yield "start.pdf", whole[:start] + b"startxref\n99999999999999\n%%EOF"
    yield "truncated.pdf", whole[: len(whole) // 2]
    yield "no-table.pdf", whole[:table]
    yield "noise.pdf", b"%PDF-1.7\n" + random.Random(5).randbytes(100_000)
    yield "objects.pdf", b"%PDF-1.7\n" + b"1 0 obj\n" * 100_000
    yield "header.pdf", b"%PDF-"
    yield "encrypted.pdf", whole.replace(b"/Root", b"/Encrypt <</Filter /Standard /V 9 /R 9>> /Root")
    mapped = b"1 beginbfrange <0000> <ffff> <0000> endbfrange\n" * 2_000
    yield (
        "to-unicode.pdf",
        _page_of(text, "", "3 0 R", "<</Font <</F1 5 0 R>>>>", "<</Type /Font /ToUnicode 6 0 R>>", _stream(mapped)),
    )
    form = "<</XObject <</X 5 0 R>>>>"
    yield (
        "form-in-itself.pdf",
        _page_of(
            b"/X Do", "", "3 0 R", form, _stream(b"/X Do /X Do", f"/Type /XObject /Subtype /Form /Resources {form}")
        ),
    )


def _encodings() -> _Files:
    text = "public class Größe { /* ü */ }\n"
    for encoding in ("latin-1", "utf-16", "utf-16-le", "utf-32", "utf-7", "cp500"):
        yield f"{encoding}.cs", text.encode(encoding)
    yield "odd.cs", text.encode("utf-16")[:-1]
    yield "surrogates.cs", 'class A\ud800 { string b = "\udfff"; }\n'
    yield "surrogate-pair.cs", b"class A { /* \xed\xa0\xbd\xed\xb8\x80 */ }\n"
    yield "utf-16-surrogate.cs", b"\xff\xfe" + b"\x00\xd8" * 100
    yield "overlong.cs", b"class A { /* \xc0\x80 \xf0\x80\x80\xaf */ }\n"
    yield "beyond.cs", b"class A { /* \xf4\x90\x80\x80 \xff\xfe */ }\n"
    yield "cut.cs", text.encode()[:20]
    yield "zeros.cs", b"class A { /* " + b"\0" * 1_000 + b" */ }\n"
    yield "one-zero.md", b"a" * 50_000 + b"\0\n"
    yield "only-zeros.txt", b"\0" * 100_000
    yield "controls.md", bytes(range(1, 32)) * 1_000
    yield "escapes.md", b"\x1b]0;a\x07\x1b[2J" * 1_000
    yield "marks.md", b"\xef\xbb\xbf" * 10_000
    yield "two-marks.cs", b"\xef\xbb\xbf\xff\xfe" + text.encode("utf-16-le")
    yield "noise.txt", random.Random(6).randbytes(100_000)
    yield "noise.md", random.Random(7).randbytes(100_000).replace(b"\0", b"a")
    yield "mixed.py", "# é\n".encode("latin-1") + "# é\n".encode() + b"# -*- coding: nosuch -*-\n"
    yield "private.md", "\ue000\U0010ffff\ufffe\uffff" * 5_000
    yield "blank.cs", " " * 15_000 + "\n" + "\t" * 15_000


def _token(claims: str) -> str:
    def coded(part: str) -> str:
        return base64.urlsafe_b64encode(part.encode()).decode().rstrip("=")

    return f"{coded(json.dumps({'alg': 'HS256', 'typ': 'JWT'}))}.{coded(claims)}.{'a' * 43}"


def _secrets() -> _Files:
    deep = _token("[" * 1_200 + "]" * 1_200)
    yield "token.md", deep + "\n"
    yield "token.cs", f'class A {{ string b = "{deep}"; }}\n'
    yield "objects.md", _token('{"a":' * 900) + "\n"
    yield "long-token.md", _token("[" * 5_000) + "\n"
    yield "header.md", base64.urlsafe_b64encode(b"[" * 3_000).decode() + ".eyJh.aaaaaaaaaaaaaaaa\n"
    yield "tokens.md", (_token('{"a":1}') + "\n") * 2_000
    yield "number.json", json.dumps({"a": _token('{"a":' + "9" * 5_000 + "}")})
    yield "joined.md", "eyJ" * 100_000
    yield "dots.md", "eyJhbGciOiJ9." * 30_000
    yield "keys.md", "-----BEGIN PRIVATE KEY-----\n" * 20_000
    yield "open-key.pem", "-----BEGIN RSA PRIVATE KEY-----\n" + "A" * 64 + ("\n" + "A" * 64) * 10_000
    yield "passwords.cs", "class A {\n" + _repeated('string password = "a1B2c3D4e5F6";', 10_000) + "\n}\n"
    yield "equals.env", "PASSWORD" + "=" * 15_000 + "\n"
    yield "quotes.json", '{"password": "' + "\\" * 15_000 + '"}'
    yield "base64.md", base64.b64encode(random.Random(8).randbytes(400_000)).decode()
    yield "hex.md", random.Random(9).randbytes(300_000).hex()
    yield "connections.config", _repeated('<add connectionString="Server=a;Password=b;' + "c=d;" * 500 + '"/>', 300)
    yield "addresses.md", "https://a:b@" * 30_000
    yield "prefixes.md", "ghp_sk-AKIAxoxb-glpat-AIza" * 20_000


def _other() -> _Files:
    for name, before, middle, after in (
        ("nested.css", "a{", "b:c", "}"),
        ("nested.scss", "a{", "b:c", "}"),
        ("nested.rs", "fn a(){", "1", "}"),
        ("nested.c", "f(", "1", ")"),
        ("nested.cpp", "A<", "int", ">"),
        ("nested.rb", "begin ", "1", " end"),
        ("nested.php", "<?php if(a){", "1", "}"),
        ("nested.sh", "$(", "a", ")"),
        ("nested.ps1", "if(a){", "1", "}"),
        ("nested.tf", "a {", "b=1", "}"),
        ("nested.proto", "message A{", "int32 b=1;", "}"),
        ("nested.graphql", "{a", "b", "}"),
        ("nested.tex", "\\a{", "b", "}"),
        ("nested.rst", "* ", "a", "\n"),
        ("nested.kt", "fun a(){", "1", "}"),
        ("nested.swift", "{(", "1", ")}"),
    ):
        yield name, _nested(before, middle, after, 10_000)
    yield "Dockerfile", _repeated("RUN a \\", DEEP)
    yield "Makefile", "a:" + _repeated(" \\", DEEP) + "\n" + _lines("$(" * DEEP)
    yield ".editorconfig", _lines("[{" * DEEP)
    yield "sections.ini", _repeated("[a", DEEP)
    yield "values.properties", _repeated("a\\", DEEP)
    yield "words.txt", "word " * 180_000
    yield "letters.txt", "".join(chr(0x4E00 + n % 20_000) for n in range(300_000))
    yield "lines.txt", "\n" * 900_000
    yield "large.cs", b"// a\n" * 300_000
    yield "large.txt", b"a\n" * 600_000
    yield f"{'n' * 180}.cs", "class A { }\n"
    yield "na me'$(a)`;&.cs", "class A { }\n"
    yield "naïve\u202e\u0301.cs", "class A { }\n"
    yield "con.cs", "class A { }\n"
    yield "a/" * 100 + "deep.cs", "class A { }\n"
    yield "slides.pptx", _package("<a/>", name="ppt/presentation.xml")
    yield "sheet.xlsx", _package("<a/>", name="xl/workbook.xml")
    yield "archive.zip", _package(b"\0" * 10_000_000, name="a")
    yield "patterns/.gitignore", _repeated("*a" * 60 + "b", 20) + "\n" + "**/" * 200 + "x\n" + "[a-" * 2_000 + "\n"
    yield "patterns/" + "a" * 150 + ".cs", "class A { }\n"
