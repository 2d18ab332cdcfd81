"""Documentation comments as plain text: the summary first, one line per other tag."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.languages.csharp.syntax.xmldoc import (
    _sections,
    _whole_sections,
    is_documentation,
    plain_comment,
    plain_documentation,
)
from rag_assets_tests.segmentation.csharp_tools import only


def lines(text: str) -> list[str]:
    return [f"/// {line}" for line in text.split("\n")]


@pytest.mark.parametrize(
    ("xml", "plain"),
    [
        ("<summary>One.</summary>", "One."),
        ("<summary>\nOne\n  two.\n</summary>", "One two."),
        ("no tags at all", "no tags at all"),
        ('<summary>Uses <see cref="T:N.Foo"/> and <paramref name="x" />.</summary>', "Uses N.Foo and x."),
        ('<summary><see cref="List{T}"/> <see langword="null"/></summary>', "List<T> null"),
        ('<summary><see href="u">the text</see> <see cref="X"></see></summary>', "the text X"),
        ("<summary><c>a &lt; b</c> &amp;&quot;&#233;&#x1D11E;</summary>", 'a < b &"é𝄞'),
        ("<summary>&bogus; &#xD800; &#0; A&B</summary>", "&bogus; &#xD800; &#0; A&B"),
        ("<summary>A<br/>B<para>C</para>D</summary>", "A B C D"),
        ("<summary>Never closed <b>bold</b>", "Never closed bold"),
        ("<summary>List<string> stays</summary>", "List<string> stays"),
        ("<summary>a < b && c > d</summary>", "a < b && c > d"),
        ("<summary>S.</summary>\n<param name=\"id\">The id.</param>\n<returns>It.</returns>",
         "S.\n\nparam id: The id.\nreturns: It."),
        ("<returns>It.</returns><summary>S.</summary><remarks>\nLong\ntext.</remarks>",
         "S.\n\nreturns: It.\nremarks: Long text."),
        ("<param name='a'>A.</param><typeparam name=\"T\">Type.</typeparam><param name=\"b\"/>",
         "param a: A.\ntypeparam T: Type."),
        ('<exception cref="T:System.IOException">When broken.</exception><value>V</value>',
         "exception System.IOException: When broken.\nvalue: V"),
        ('<summary>S</summary><seealso cref="Other"/>', "S\n\nsee also: Other"),
        ("<summary>S</summary><example><code>var x = 1;</code></example>", "S\n\nexample: var x = 1;"),
        ("<summary><![CDATA[a < b]]></summary>", "a < b"),
        ("<summary><list type=\"bullet\"><item><term>A</term><description>b</description></item></list></summary>",
         "A b"),
        ("<inheritdoc/>", ""),
        ('<inheritdoc cref="Base.M"/>', "inheritdoc Base.M"),
        ("<SUMMARY>Loud.</SUMMARY>", "Loud."),
        ("<summary/>", ""),
        ("", ""),
    ],
    ids=lambda value: value[:40].replace("\n", " ") if isinstance(value, str) else "",
)  # fmt: skip
def test_plain_documentation(xml: str, plain: str) -> None:
    assert plain_documentation(lines(xml)) == plain


@pytest.mark.parametrize(
    ("comment", "plain"),
    [
        ("/** <summary>Block.</summary> */", "Block."),
        ("/**\n * <summary>\n * Starred\n * lines.\n * </summary>\n */", "Starred lines."),
        ("/**\r\n   Plain\r\n   block */", "Plain block"),
        ("/** never closed", "never closed"),
    ],
)
def test_block_documentation(comment: str, plain: str) -> None:
    assert is_documentation(comment)
    assert plain_documentation([comment]) == plain


@pytest.mark.parametrize("comment", ["// x", "//// x", "/* x */", "/**/", "/*** x */"])
def test_what_is_no_documentation(comment: str) -> None:
    assert not is_documentation(comment)


@pytest.mark.parametrize(
    ("comments", "plain"),
    [
        (["// One", "// two."], "One two."),
        (["//////////", "// Real", "// ======"], "Real"),
        (["/* a\n * b\n */"], "a b"),
        (["// int x = 1;", "// if (a) {", "// }"], ""),
        (["//"], ""),
    ],
    ids=["lines", "rulers", "block", "dead-code", "empty"],
)
def test_plain_comment(comments: list[str], plain: str) -> None:
    assert plain_comment(comments) == plain


def test_documentation_reaches_the_segment() -> None:
    assert only(
        '/// <summary>S &lt;T&gt;.</summary>\n/// <typeparam name="T">Item.</typeparam>\nclass C<T> { }'
    ).doc == ("S <T>.\n\ntypeparam T: Item.")


@pytest.mark.parametrize("piece", ["<a ", "<", "&", "<![CDATA[", "<!--", "<summary>", "</", '<see cref="'])
def test_hostile_documentation_costs_linear_time(piece: str) -> None:
    """Quadratic work on these would take minutes."""
    plain_documentation(["/// <b>" + piece * 50_000])


PIECES = st.sampled_from(
    [
        *(
            "<summary>",
            "</summary>",
            '<param name="a">',
            "</param>",
            "<returns>",
            "</returns>",
            "<remarks>",
            "</remarks>",
        ),
        *(
            '<exception cref="T:X">',
            "</exception>",
            '<see cref="M:A.B"/>',
            '<paramref name="x" />',
            "<see/>",
            "<c>",
            "</c>",
        ),
        *("word", " &lt;b&gt; ", "\n", "  ", "<", "List<string>", "{T}", '<param name="">', '<see langword="null"/>'),
    ]
)
WHOLE = st.tuples(
    st.sampled_from(
        ["summary", 'param name="a&lt;"', "returns", 'exception cref="T:X"', "value", 'typeparam name="T"']
    ),
    st.lists(PIECES.filter(lambda piece: not piece.startswith(("</", "<s", "<p", "<r", "<e", "<c")))).map("".join),
).map(lambda pair: f"<{pair[0]}>{pair[1]}</{pair[0].split()[0]}>\n")


@given(st.one_of(st.lists(PIECES).map("".join), st.lists(WHOLE).map("".join)))
def test_the_fast_way_gives_what_the_slow_one_gives(raw: str) -> None:
    fast = _whole_sections(raw)
    assert fast is None or fast == _sections(raw)


def test_the_fast_way_serves_the_usual_comment() -> None:
    assert _whole_sections('<summary>A <see cref="B"/>.</summary>\n <param name="c">D.</param>\n') is not None
