"""Which declaration holds a place of a C# file, under the keys that points carry."""

from __future__ import annotations

import pytest

from rag_assets.graph.extract.csharp import extract
from rag_assets.languages.csharp.declaration_ranges import DeclarationRanges, types_of
from rag_assets_tests.graph.chains import files_of, nodes_by

TEXT = """
namespace A;
public class Outer<T>
{
    public int Field = Here1();
    public int Prop { get { return Here2(); } }
    public Outer(int x) { Here3(); }
    class Inner<U> { void M(U u, List<T> t) { Here4(); } class Deep { void N() { Here5(); } } }
    enum Kind { One = Here6 }
}
public static class Ext { extension(string s) { public int Len() => Here7(); } }
// Here8
"""


@pytest.mark.parametrize(
    ("mark", "key"),
    [
        ("Here1", "csharp:A.Outer`1.Field|PROPERTY"),
        ("Here2", "csharp:A.Outer`1.Prop|PROPERTY"),
        ("Here3", "csharp:A.Outer`1.Outer(int)|METHOD"),
        ("Here4", "csharp:A.Outer`1.Inner.M(U,List<T>)|METHOD"),
        ("Here6", "csharp:A.Outer`1.Kind|TYPE"),
        ("Here7", "csharp:A.Ext.extension(string).Len()|METHOD"),
        ("Here8", "file:a.cs|FILE"),
    ],
)
def test_the_node_at_a_place(mark: str, key: str) -> None:
    (file,) = files_of({"a.cs": TEXT})
    assert DeclarationRanges(file.path, file.segments).key_at(file.text.index(mark)) == key
    if not key.startswith("file:"):
        assert key in nodes_by(extract, {"a.cs": TEXT})


def test_nested_types_look_names_up_in_the_type_around_them() -> None:
    (file,) = files_of({"a.cs": TEXT})
    found = {segment.name: (segment.symbol, segment.namespace) for segment in types_of(file.segments)}
    assert found["Inner"] == ("A.Outer`1.Inner`1", "A.Outer`1")
    assert found["Deep"] == ("A.Outer`1.Inner`1.Deep", "A.Outer`1.Inner`1")
    assert "Kind" in found


def test_a_program_is_its_file() -> None:
    (file,) = files_of({"Program.cs": "var x = Here();\nstatic int F() => There();"})
    places = DeclarationRanges(file.path, file.segments)
    assert places.key_at(file.text.index("Here")) == "file:Program.cs|FILE"
    assert places.key_at(file.text.index("There")) == "csharp:Program.F()|METHOD"
