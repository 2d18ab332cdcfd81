"""The parts of a text: types are gone into, members stay whole, and not a word is lost."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from rag_assets.answer.extractive import about
from rag_assets.answer.passages import fields_below, members_of, outline, passages_of
from rag_assets_tests.answer.pieces import SERVICE, piece


def parts(text: str, language: str) -> list[str]:
    return [text[part.start : part.end].strip() for part in outline(text, language)]


def test_members_are_parts_with_their_comments() -> None:
    found = parts(SERVICE, "csharp")
    assert found[0].endswith("public class OrderService")
    assert found[1:3] == [
        "private readonly IOrderRepository _orders;",
        "public OrderService(IOrderRepository orders) => _orders = orders;",
    ]
    assert found[3].startswith("/// <summary>Pays back") and found[3].endswith("return order.Total;\n    }")
    assert found[4] == "public int Count { get; private set; } = 3;"


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        pytest.param("csharp", 'void A() { var s = "}"; }\nvoid B() { }', 2, id="brace in a string"),
        pytest.param("csharp", "void A() { /* } */ }\nvoid B() { }", 2, id="brace in a comment"),
        pytest.param("csharp", "int X => F(() => { return 1; });\nint Y;", 2, id="lambda in an expression body"),
        pytest.param("csharp", "    return a;\n}\nvoid B() { }", 2, id="begins inside a body"),
        pytest.param("csharp", "void A() { if (x) {", 1, id="ends inside a body"),
        pytest.param("csharp", "enum E { A, B }\nrecord R(int X);", 2, id="enum and record"),
        pytest.param("csharp", "object A(object x) { F(); return x; }\nint B;", 2, id="method that gives an object"),
        pytest.param("csharp", "T A<T>(int x) where T : class { F(); return x; }\nint B;", 2, id="method of classes"),
        pytest.param("csharp", "record R(int X = 1) { int A() { return 1; } int B; }", 3, id="record with members"),
        pytest.param("cpp", "template <class T> int f(T x) { g(); return 1; }\nint b;", 2, id="template"),
        pytest.param("rust", "pub(crate) struct A {\n a: u8\n}\nimpl A {\n fn f() { g(); }\n}", 4, id="rust"),
        pytest.param("kotlin", "object A : B() {\n fun f() = g()\n fun h() = g()\n}", 3, id="object of kotlin"),
        pytest.param(
            "python", "import a\n\ndef f():\n    x = 1\n\n    return x\n\nclass C:\n    pass\n", 3, id="python"
        ),
        pytest.param("markdown", "# A\n\none\n\n```\nx\n\ny\n```\n\ntwo\n", 4, id="fenced code stays whole"),
        pytest.param("sql", "CREATE PROC dbo.A @x int\nAS\nSELECT 1", 1, id="sql"),
        pytest.param("go", "\treturn a\n}\n\nvar A = 1\nvar B = f(func() { g() })\n", 3, id="go, begins inside a body"),
        pytest.param("csharp", "", 0, id="nothing"),
        pytest.param("brainfuck", "+++\n\n---", 2, id="unknown language"),
    ],
)
def test_the_number_of_parts(language: str, text: str, expected: int) -> None:
    assert len(outline(text, language)) == expected


GO = """\
// Package store keeps feeds.
package store

import "errors"

var ErrGone = errors.New("gone")

const (
	first  = "a"
	second = "b"
)

// Push sends a job { of a feed }.
func (p *Pool[T]) Push(job Job, then func(x any) error) error {
	if job == (Job{}) {
		return nil
	}
	return p.send(job)
}

// Job is what a worker does.
type Job struct {
	ID int64 `json:"id"`
}

type Jobs []Job

func Open[T any](path string) (*Pool[T], error) { return nil, ErrGone }
"""


def test_each_declaration_of_go_is_a_passage_with_its_name() -> None:
    passages = passages_of(piece(GO, language="go", line_start=1))
    found = [(one.name, one.doc, one.line_start, one.line_end) for one in passages]
    assert found == [
        ("", "Package store keeps feeds.", 1, 2),
        ("", "", 4, 4),
        ("ErrGone", "", 6, 6),
        ("", "", 8, 11),
        ("Push", "Push sends a job { of a feed }.", 13, 19),
        ("Job", "Job is what a worker does.", 21, 24),
        ("Jobs", "", 26, 26),
        ("Open", "", 28, 28),
    ]
    push, job = (next(one for one in passages if one.name == name) for name in ("Push", "Job"))
    assert push.signature == "func (p *Pool[T]) Push(job Job, then func(x any) error) error"
    assert (push.is_type, job.is_type) == (False, True)


def test_each_batch_of_a_script_is_a_passage_with_the_name_of_what_it_creates() -> None:
    script = """\
CREATE SCHEMA sales
GO

CREATE TABLE [sales].[Customers] ([Id] int)
go
INSERT INTO sales.Customers VALUES (1);

-- What was ordered.
CREATE TABLE sales.Orders ([Id] int)
GO
CREATE OR ALTER VIEW sales.v_Orders AS SELECT 1 AS GO_ON
"""
    found = [
        (one.name, one.line_start)
        for one in passages_of(piece(script, language="sql", symbol="sales.Orders", line_start=1))
    ]
    assert found == [("", 1), ("Customers", 4), ("", 6), ("Orders", 8), ("v_Orders", 11)]


@pytest.mark.parametrize("before", ["", "\n", "int a;\n", "  "])
def test_braces_of_directives_comments_and_strings_are_none(before: str) -> None:
    text = before + '#if X // {\nvoid A() { /* } */ var s = $@"}""" + $"{{" + \'}\' + """}"""; }\nvoid B() { }'
    assert parts(text, "csharp")[-1] == "void B() { }"
    assert len(parts(text, "csharp")) == 2 + bool(before.strip())


@pytest.mark.parametrize("language", ["csharp", "go", "python", "markdown", "sql", "text"])
@pytest.mark.parametrize("cut", [0, 40, 200, 333])
def test_parts_are_in_order_and_do_not_overlap(language: str, cut: int) -> None:
    """Also of texts that begin anywhere."""
    text = SERVICE[cut:]
    found = outline(text, language)
    assert all(one.end <= other.start for one, other in pairwise(found))
    kept = set("".join(text[part.start : part.end] for part in found).split())
    assert {word for word in text.split() if any(map(str.isalnum, word))} <= kept


@pytest.mark.parametrize(
    ("language", "text", "names"),
    [
        (
            "java",
            '@RestController\n@RequestMapping(path = "/users", method = {POST, PUT})\nclass UsersApi {\n'
            '  @Override @Value("${a.b}") private String kept;\n\n  @GetMapping\n'
            "  public User find(@PathVariable String id) { return null; }\n}\n",
            ["UsersApi", "kept", "find"],
        ),
        (
            "typescript",
            "@Controller('users')\nexport class Users {\n  @Get(':id')\n  @Roles({ any: ['a)'] })\n"
            "  find() { return 1; }\n}\n",
            ["Users", "find"],
        ),
        (
            "csharp",
            "class Limits\n{\n    [TestCase(null)] // the default (10)\n    [TestCase(5)] /* of (5) */\n"
            "    public void Holds(int? max) { }\n}\n",
            ["Limits", "Holds"],
        ),
        ("java", "public @interface Audited {\n  String by();\n}\n", ["Audited", "by"]),
        (
            "python",
            "@app.get(\n    '/x',\n    by=f(1),\n)\nasync def find(): ...\n\n\n@property\n@cached\ndef kept(self):\n"
            "    return 1\n",
            ["find", "kept"],
        ),
    ],
)
def test_annotations_belong_to_what_they_stand_before_and_are_not_its_name(
    language: str, text: str, names: list[str]
) -> None:
    found = passages_of(piece(text, language=language, symbol="pkg"))
    assert [one.name for one in found] == names
    assert all(not one.code.rstrip().endswith(("@cached", "@property")) for one in found)


@pytest.mark.parametrize(
    ("language", "text", "name"),
    [
        ("msbuild", '<Project Sdk="Microsoft.NET.Sdk">\n  <PropertyGroup />\n</Project>\n', "Project"),
        ("xml", '<?xml version="1.0"?>\n<packages>\n  <package id="A" />\n</packages>\n', "packages"),
        ("xml", '<!-- a (b) -->\n<add key="Shop.Mode" value="x" />\n', "add"),
        ("yaml", "# CI = (x)\nservices:\n  web:\n    image: a=1\n", "services"),
        ("razor", '<div class="list (all)">\n  @Model.Name\n</div>\n', ""),
        ("razor", "@using Shop\n@inject ILogger<Orders> Logger;\n", ""),
        ("json", '{\n  "Logging": { "Level": 1 }\n}\n', ""),
    ],
)
def test_a_part_of_a_configuration_is_called_by_the_key_that_it_begins_with(
    language: str, text: str, name: str
) -> None:
    assert passages_of(piece(text, language=language))[0].name == name


def test_a_type_behind_a_name_is_not_the_name() -> None:
    text = "interface Env {\n  MAX: number;\n  names?: Map<string, string>;\n  find(id: string): User;\n}\n"
    found = passages_of(piece(text, language="typescript", symbol="src/env"))
    assert [one.name for one in found] == ["Env", "MAX", "names", "find"]


def test_brackets_between_long_texts_in_single_quotes_are_counted() -> None:
    text = (
        "function open() {\n  const how = (given as 'scram-sha-256' | 'scram-sha-512') || 'plain';\n  return how;\n}"
        "\n\n"
        "function send() {\n  return open();\n}\n"
    )
    assert [one.name for one in passages_of(piece(text, language="typescript"))] == ["open", "send"]


def test_a_method_of_go_is_of_its_receiver() -> None:
    text = "func (p *Pool[T]) Push(job T) error {\n\treturn nil\n}\n\nfunc New() *Pool {\n\treturn nil\n}\n"
    push, new = passages_of(piece(text, language="go", symbol="worker", path="worker/pool.go"))
    assert about(push).startswith("`Pool.Push` in worker/pool.go:3-5")
    assert about(new).startswith("`worker.New` in worker/pool.go:7-9")


def test_comments_of_fenced_code_are_no_headings() -> None:
    text = "## Use\n\nwords\n\n```sh\n# get a token\ncurl x\n```\n\nmore\n"
    assert {one.heading for one in passages_of(piece(text, language="markdown"))} == {"Use"}
    inside = "# get a token\ncurl x\n```\n\nmore\n\n## Next\n\nlast\n"
    assert [one.heading for one in passages_of(piece(inside, language="markdown"))] == ["Next"]


@pytest.mark.parametrize(
    ("language", "text", "name", "is_type"),
    [
        (
            "python",
            'def get(self, kind):\n    """Waits.\n\n    :param kind: an event class or several\n    """',
            "get",
            False,
        ),
        ("csharp", "T Make<T>(int x) where T : class where U : struct { F(); return x; }", "Make", False),
        ("csharp", "public class Order(int id) : Base(id) { }", "Order", True),
        ("csharp", "public delegate void Changed(int id);", "Changed", True),
    ],
)
def test_a_type_is_what_is_declared_before_a_parenthesis(language: str, text: str, name: str, is_type: bool) -> None:
    found = passages_of(piece(text, language=language))[0]
    assert (found.name, found.is_type) == (name, is_type)


@pytest.mark.parametrize(
    ("language", "text", "code", "signature"),
    [
        (
            "kotlin",
            '/** Daily. */\n@Scheduled(fixedRate = 60)\n@Roles("ADMIN")\nfun clean() {\n  all()\n}\n',
            '@Scheduled(fixedRate = 60)\n@Roles("ADMIN")\nfun clean() {\n  all()\n}',
            "fun clean()",
        ),
        ("rust", '// Daily.\n#[get("/x")]\nfn x() {\n  1\n}\n', '#[get("/x")]\nfn x() {\n  1\n}', "fn x()"),
    ],
)
def test_what_is_quoted_of_a_member_has_its_annotations(language: str, text: str, code: str, signature: str) -> None:
    (found,) = passages_of(piece(text, language=language))
    assert (found.code, found.doc, found.signature) == (code, "Daily.", signature)


def test_the_values_of_an_enumeration_are_of_its_head() -> None:
    text = "enum class Media(val type: String) {\n  ZIP(a),\n  PDF(b),\n  ;\n\n  fun of(x: Int) {\n    y()\n  }\n}\n"
    head, member = passages_of(piece(text, language="kotlin"))
    assert head.code.rstrip().endswith("PDF(b),\n  ;") and head.signature == "enum class Media(val type: String)"
    assert (head.name, member.name) == ("Media", "of")


def test_fields_below_a_nested_class_are_of_the_class_around_it() -> None:
    text = (
        'class Order(Model):\n    class Meta:\n        def key(self):\n            return """\nSELECT 1\n"""\n\n'
        "    id = Column(Integer)\n    name = Column(Text)\n\n    def total(self):\n        return 1\n\nadd(Order)\n"
    )
    found = passages_of(piece(text, language="python"))
    assert [one.name for one in found] == ["Order", "Meta", "key", "", "total", "add"]
    assert [one.code.split() for one in fields_below(found[0])] == [found[3].code.split()]
    assert [one.name for one in members_of(found[0])] == ["Meta", "total"]


def test_the_signature_and_the_clauses_of_a_function_are_one_part() -> None:
    text = (
        '-- | What a word means.\nlevel :: String -> Maybe Level\nlevel "low" = Just Low\n\nlevel "high" = Just High\n'
        "level _ = Nothing\n\nother :: Int\nother = 1\n"
    )
    found = passages_of(piece(text, language="haskell"))
    assert [(one.name, one.line_end - one.line_start) for one in found] == [("level", 5), ("other", 1)]
    assert found[0].doc.endswith("What a word means.") and found[0].code.endswith("level _ = Nothing")


def test_what_follows_a_type_is_no_member_of_it() -> None:
    text = "data Color\n    = Never\n    | Always\n\nparse :: String -> Color\nparse _ = Never\n"
    known = replace(piece(text, language="haskell"), symbol="Shop.Color")
    kind, function = passages_of(known)
    assert known.name == "Color" and about(kind).startswith("`Color`") and about(function).startswith("`parse`")


def test_a_member_of_cpp_is_called_as_in_its_type_where_it_is_defined_outside() -> None:
    text = "void logger::flush_on(int level) {\n    level_ = level;\n}\n"
    (found,) = passages_of(piece(text, language="cpp"))
    assert (found.name, found.own_name) == ("logger::flush_on", "flush_on")


def test_the_interpreter_of_a_script_documents_nothing() -> None:
    text = "#!/usr/bin/env bash\n# Prints a cart.\ntotal() {\n  echo 1\n}\n"
    assert [one.doc for one in passages_of(piece(text, language="shell"))] == ["Prints a cart."]


def test_what_documents_a_module_of_elixir_is_a_part_of_its_own() -> None:
    text = 'defmodule Shop.Cart do\n  @moduledoc """\n  What is wanted.\n  """\n\n  def total, do: 1\nend\n'
    found = passages_of(piece(text, language="elixir"))
    assert [one.name for one in found] == ["Shop.Cart", "", "total"] and "What is wanted." in found[1].text
    assert found[0].doc == "What is wanted." and [one.name for one in members_of(found[0])] == ["total"]
