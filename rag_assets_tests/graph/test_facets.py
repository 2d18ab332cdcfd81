"""Facets are sound, an answer never changes while its facets keep their digests, and they are no coarser than told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from functools import lru_cache
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from rag_assets.contracts.graph import GraphEdge, GraphNode
from rag_assets.contracts.segment import MemberKind
from rag_assets.dependency_trace import Question, replay_lookups, trace
from rag_assets.graph.extract.registry import graph_of
from rag_assets.languages.csharp.binder.declarations import CSharpDeclarations, DeclaredMember, TypeDeclaration
from rag_assets.languages.csharp.facts.type_index import IndexedType as NamedType
from rag_assets.languages.csharp.facts.type_index import TypeIndex
from rag_assets.languages.csharp.facts.type_index import declared_in as types_in
from rag_assets.languages.detection import detect_language
from rag_assets.languages.documents.resx import StaticResourceDictionary
from rag_assets.languages.fingerprints import Fingerprints, declaration_fingerprints, digest_of, fingerprints_of
from rag_assets.languages.label_declarations import (
    FileGroupDeclarations,
    LabelDeclarations,
    declared_in,
    declared_together,
)
from rag_assets.languages.parsed_file import ParsedFile
from rag_assets.segmentation import segment_file
from rag_assets_tests.graph.changing_label import LABEL, Texts, edited

STEPS = 40
RESET = 0.05  # how often a label is whole again: after many edits little of it means anything
POSSIBLE = 13  # steps between two times that everything possible is asked


@dataclass(frozen=True)
class Label:
    """A label at one moment."""

    texts: Texts
    symbols: LabelDeclarations
    facets: Fingerprints

    def answers(self, *asked: Question) -> dict[Question, Any]:
        return replay_lookups([getattr(self.symbols, entry.name) for entry in fields(LabelDeclarations)], asked)

    def digest(self, asked: Question) -> str:
        return self.facets.together(fingerprints_of([asked]))


@lru_cache(maxsize=4_096)
def read(path: str, text: str) -> tuple[ParsedFile, FileGroupDeclarations, tuple[NamedType, ...]]:
    language = detect_language(path)
    file = ParsedFile(path, language, text, segment_file(text, path, language).segments)
    return file, declared_together([declared_in(file)]), tuple(types_in(path, file.segments))


def label_of(texts: Texts) -> Label:
    """A label of these files; each is a bucket of its own."""
    files = [read(path, text) for path, text in sorted(texts.items())]
    resources = StaticResourceDictionary()
    told = [file for file, _, _ in files if file.language == "resx"]
    for file in told:
        resources.add_file(file.path, file.segments)
    parts = [declared for _, declared, _ in files]
    types = TypeIndex(found for _, _, declared in files for found in declared)
    symbols = LabelDeclarations.of(parts, types, resources)
    texts_of_resources = digest_of([(file.path, file.text) for file in told])
    return Label(texts, symbols, symbols.facets(parts, declared=digest_of(list(types)), resources=texts_of_resources))


def files_in(label: Label) -> Iterable[tuple[ParsedFile, FileGroupDeclarations, tuple[NamedType, ...]]]:
    return (read(path, text) for path, text in sorted(label.texts.items()))


def possible_questions(label: Label) -> list[Question]:
    """What might be asked of types and names, beyond what files ask today."""
    types = [known for _, entry, _ in files_in(label) for known in entry.csharp.types]
    symbols = sorted({known.symbol for known in types})
    names = sorted({member.name for known in types for member in known.members})
    of_types = ("csharp.declared", "csharp.bases", "csharp.interfaces", "csharp.base_classes", "csharp.member_names",
                "csharp.constraints", "csharp.signature", "csharp.has_foreign_base", "ef.entity", "ef.stored_as",
                "ef.links", "ef.parts", "endpoints.actions", "types.parts", "types.implementers")  # fmt: skip
    return [
        *((name, (symbol,)) for name in of_types for symbol in symbols),
        *(("csharp.members", (symbol, name)) for symbol in symbols for name in (*names, ".ctor")),
        *(("csharp.find_members", (symbol, name)) for symbol in symbols for name in (*names, ".ctor")),
        *(("csharp.only_member", (name,)) for name in names),
    ]


@dataclass
class Told:
    """All that was ever answered, by what it may depend on: whatever the order of events, it is told once."""

    answers: dict[tuple[Any, ...], tuple[Any, str]] = field(default_factory=dict)
    confirmed: int = 0
    broken: list[str] = field(default_factory=list)

    def add(self, key: tuple[Any, ...], answer: Any, when: str) -> None:
        before = self.answers.setdefault(key, (answer, when))
        if before[0] != answer:
            self.broken.append(f"{key[0]}\n  {before[1]}: {before[0]}\n  {when}: {answer}")
        elif before[1] != when:
            self.confirmed += 1


@pytest.mark.rule("R2")
@pytest.mark.parametrize("seed", (6, 8, 13))
def test_no_answer_changes_while_its_facets_stay(seed: int) -> None:
    random, told, texts = Random(seed), Told(), LABEL
    for step in range(STEPS):
        what = ""
        if step:
            what, texts = ("reset", LABEL) if random.random() < RESET else edited(texts, random)
        label, when = label_of(texts), f"step {step} {what}"
        for file, _, _ in files_in(label):
            with trace() as asked:
                found: list[GraphNode | GraphEdge] = list(graph_of(file, label.symbols))
            names = tuple(fingerprints_of(asked))
            told.add(("graph", file.path, file.text, names, label.facets.together(names)), found, when)
            for question, answer in asked.items():
                told.add((question, file.path, file.text, label.digest(question)), answer, when)
        if step % POSSIBLE == 0:
            for question, answer in label.answers(*possible_questions(label)).items():
                told.add((question, label.digest(question)), answer, when)
    assert told.broken == []
    assert told.confirmed > len(told.answers) / 5, "much stays as it is: else nothing was shown"


def changed(before: Texts, after: Texts, asked: Question) -> tuple[bool, bool]:
    """(whether the answer is another one, whether its facets are)."""
    one, other = label_of(before), label_of(after)
    return one.answers(asked) != other.answers(asked), one.digest(asked) != other.digest(asked)


TWO = "namespace N;\npartial class A {{ public int F({}) => 1; }}\npartial class A {{ public int F({}) => 2; }}"
STORED = "class S : DbContext { public DbSet<A> As { get; set; } } class B { } "

CHANGES: dict[str, tuple[Texts, Texts, Question]] = {
    "a parameter of a constructor": (
        {"a.cs": "namespace N; public class A { public A(int a) { } }"},
        {"a.cs": "namespace N; public class A { public A(string a) { } }"},
        ("csharp.members", ("N.A", ".ctor")),
    ),
    "a constructor of a base": (
        {"a.cs": "namespace N; public class A { public A(int a) { } } public class B : A { }"},
        {"a.cs": "namespace N; public class A { public A(string a) { } } public class B : A { }"},
        ("csharp.find_members", ("N.B", ".ctor")),
    ),
    "a constructor of the same type in another project": (
        {
            path: f"namespace N; public class A {{ public A({given} a) {{ }} }}"
            for path, given in (("a/a.cs", "int"), ("b/b.cs", "int"))
        } | {"a/a.csproj": "", "b/b.csproj": ""},
        {
            path: f"namespace N; public class A {{ public A({given} a) {{ }} }}"
            for path, given in (("a/a.cs", "int"), ("b/b.cs", "string"))
        } | {"a/a.csproj": "", "b/b.csproj": ""},
        ("csharp.members", ("N.A@b/b.csproj", ".ctor")),
    ),
    "the first parameter list of a class": (
        {"a.cs": "namespace N; public class A { }"},
        {"a.cs": "namespace N; public class A(int a) { }"},
        ("csharp.members", ("N.A", ".ctor")),
    ),
    "a constructor named like a parameter of its record": (
        {"a.cs": "namespace N; public record A(int A) { }"},
        {"a.cs": "namespace N; public record A(int A) { public A() { } }"},
        ("csharp.members", ("N.A", "A")),
    ),
    "a using directive of a delegate without parameters": (
        {"a.cs": "namespace N; public delegate T D();", "b.cs": "namespace X; public class T { }"},
        {"a.cs": "using X; namespace N; public delegate T D();", "b.cs": "namespace X; public class T { }"},
        ("csharp.signature", ("N.D",)),
    ),
    "a member of a type with a verbatim name": (
        {"a.cs": "namespace N; public class @event { public int a; }"},
        {"a.cs": "namespace N; public class @event { public int a; public int b; }"},
        ("csharp.member_names", ("N.@event",)),
    ),
    "the order of two parts in one file": (
        {"a.cs": TWO.format("int a", "string a")},
        {"a.cs": TWO.format("string a", "int a")},
        ("csharp.members", ("N.A", "F")),
    ),
    "the order of two types of one name": (
        {"a.cs": "class A { public class I { } }\nclass A<T> { public class I { } }\nclass U { A.I a; }"},
        {"a.cs": "class A<T> { public class I { } }\nclass A { public class I { } }\nclass U { A.I a; }"},
        ("csharp.named", ("A.I", 0, "b.cs", "")),
    ),
    "a line break between two types of one name": (
        {"a.cs": "class A<T> { public class I { } } class A { public class I { } }"},
        {"a.cs": "class A<T> { public class I { } }\nclass A { public class I { } }"},
        ("csharp.named", ("A.I", 0, "b.cs", "")),
    ),
    "a using directive of the type of a member": (
        {"a.cs": "namespace N; public class A { public T F; }", "b.cs": "namespace X; public class T { }"},
        {"a.cs": "using X; namespace N; public class A { public T F; }", "b.cs": "namespace X; public class T { }"},
        ("csharp.find_members", ("N.A", "F")),
    ),
    "a global using directive": (
        {"a.cs": "namespace N; public class A { public T F; }", "b.cs": "namespace X; public class T { }"},
        {
            "a.cs": "namespace N; public class A { public T F; }",
            "b.cs": "namespace X; public class T { }",
            "c.cs": "global using X;",
        },
        ("csharp.find_members", ("N.A", "F")),
    ),
    "a member that is no longer the only one": (
        {"a.cs": "class A { public void Go() { } }", "b.cs": "class B { }"},
        {"a.cs": "class A { public void Go() { } }", "b.cs": "class B { public void Go() { } }"},
        ("csharp.only_member", ("Go",)),
    ),
    "a link of an entity": (
        {"a.cs": STORED + "class A { }"},
        {"a.cs": STORED + "class A { public A Up { get; set; } }"},
        ("ef.links", ("A",)),
    ),
    "a set of a context": (
        {"a.cs": "class S : DbContext { public DbSet<A> As { get; set; } } class A { }"},
        {"a.cs": "class S : DbContext { public DbSet<A> All { get; set; } } class A { }"},
        ("ef.set_names", ()),
    ),
    "a context": (
        {"a.cs": "class S { }"},
        {"a.cs": "class S : DbContext { }"},
        ("ef.is_empty", ()),
    ),
    "a resource class": (
        {"a.resx": '<root><data name="A"><value>one</value></data></root>'},
        {"b.resx": '<root><data name="A"><value>one</value></data></root>'},
        ("resources.classes", ()),
    ),
    "a table": (
        {"a.sql": "CREATE TABLE dbo.A (Id INT);"},
        {"a.sql": "CREATE TABLE sales.A (Id INT);"},
        ("sql.named", ("A", "", ())),
    ),
    "an action": (
        {"a.cs": "public class BaseController { public int Get() => 1; }"},
        {"a.cs": "public class BaseController { public int Get(int id) => 1; }"},
        ("endpoints.actions", ("BaseController",)),
    ),
    "a prefix that routes are mounted at": (
        {"a.py": 'from b import router\napp.include_router(router, prefix="/v1")', "b.py": '@router.get("/x")'},
        {"a.py": 'from b import router\napp.include_router(router, prefix="/v2")', "b.py": '@router.get("/x")'},
        ("mounts.prefixes", ("b.py",)),
    ),
    "a global prefix": (
        {"src/main.ts": "app.setGlobalPrefix('a');"},
        {"src/main.ts": "app.setGlobalPrefix('b');"},
        ("mounts.global_prefix", ("src/b.ts",)),
    ),
}  # fmt: skip


@pytest.mark.rule("R2")
@pytest.mark.parametrize(("before", "after", "asked"), CHANGES.values(), ids=CHANGES)
def test_another_answer_has_other_facets(before: Texts, after: Texts, asked: Question) -> None:
    assert changed(before, after, asked) == (True, True)


SAME: dict[str, tuple[Texts, Texts, Question]] = {
    "lines above": (
        {"a.cs": "namespace N;\npublic class A { public A(int a) { } }"},
        {"a.cs": "// new\n\nnamespace N;\npublic class A { public A(int a) { } }"},
        ("csharp.members", ("N.A", ".ctor")),
    ),
    "a body": (
        {"a.cs": "namespace N; public class A { public int F() => 1; }"},
        {"a.cs": "namespace N; public class A { public int F() => 2; }"},
        ("csharp.find_members", ("N.A", "F")),
    ),
    "a member of another name": (
        {"a.cs": "namespace N; public class A { public int F() => 1; }"},
        {"a.cs": "namespace N; public class A { public int F() => 1; public int G() => 1; }"},
        ("csharp.find_members", ("N.A", "F")),
    ),
    "a constructor of another type": (
        {"a.cs": "namespace N; public class A { public A(int a) { } } public class B { public B(int b) { } }"},
        {"a.cs": "namespace N; public class A { public A(int a) { } } public class B { public B(string b) { } }"},
        ("csharp.members", ("N.A", ".ctor")),
    ),
    "the text of a resource": (
        {"a.resx": '<root><data name="A"><value>one</value></data></root>'},
        {"a.resx": '<root><data name="A"><value>two</value></data></root>'},
        ("resources.classes", ()),
    ),
    "a link between entities": (
        {"a.cs": STORED + "class A { }"},
        {"a.cs": STORED + "class A { public A Up { get; set; } }"},
        ("ef.context_names", ()),
    ),
    "a using directive where types name no others": (
        {"a.cs": "namespace N; public class A { public int F; }"},
        {"a.cs": "using System; namespace N; public class A { public int F; }"},
        ("csharp.named", ("A", 0, "b.cs", "N")),
    ),
}


@pytest.mark.parametrize(("before", "after", "asked"), SAME.values(), ids=SAME)
def test_what_no_answer_needs_changes_no_facet(before: Texts, after: Texts, asked: Question) -> None:
    assert changed(before, after, asked) == (False, False)


def test_every_question_about_a_label_has_facets() -> None:
    services = [getattr(label_of(LABEL).symbols, entry.name) for entry in fields(LabelDeclarations)]
    names = {name for service in services for method in vars(type(service)).values()
             if (name := getattr(method, "question", ""))}  # fmt: skip
    assert len(names) > 30
    for name in sorted(names):
        assert fingerprints_of([(name, ("A", "B", "C", "D"))])


MEMBER = DeclaredMember("F", MemberKind.METHOD, "csharp:N.A.F()|METHOD", 3)
TYPE = TypeDeclaration("N.A", "csharp:N.A|TYPE", "A", "class", "a.cs", 2, 4, members=(MEMBER,))
PLACES = {"line", "line_start", "line_end"}


def other(value: Any) -> Any:
    if isinstance(value, MemberKind):
        return MemberKind.FIELD
    return not value if isinstance(value, bool) else (*value, MEMBER) if isinstance(value, tuple) else f"{value}x"


@pytest.mark.parametrize("name", [name for name in TypeDeclaration.__struct_fields__ if name not in PLACES])
def test_everything_that_a_type_says_is_in_its_facets(name: str) -> None:
    changed_type = replace(TYPE, **{name: other(getattr(TYPE, name))})
    assert declaration_fingerprints(CSharpDeclarations((changed_type,))) != declaration_fingerprints(
        CSharpDeclarations((TYPE,))
    )


@pytest.mark.parametrize("name", [name for name in DeclaredMember.__struct_fields__ if name not in PLACES])
def test_everything_that_a_member_says_is_in_its_facets(name: str) -> None:
    changed_type = replace(TYPE, members=(replace(MEMBER, **{name: other(getattr(MEMBER, name))}),))
    assert declaration_fingerprints(CSharpDeclarations((changed_type,))) != declaration_fingerprints(
        CSharpDeclarations((TYPE,))
    )


def test_a_question_of_nobody_is_an_error() -> None:
    with pytest.raises(KeyError):
        fingerprints_of([("weather.tomorrow", ())])
