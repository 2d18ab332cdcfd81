"""The page in a real browser: what a reader does on it, how it looks to those who cannot see it, and that nothing of a
repository runs, loads or leads elsewhere."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import CommandLine, index_without_dagster, new_repository
from rag_assets_tests.serving.conftest import SHOP, Home, Server, serving
from rag_assets_tests.serving.hostile_texts import TEXTS, hostile_repository

if TYPE_CHECKING:
    from playwright.sync_api import Page as Tab

CHROMIUM = os.environ.get("CHROMIUM") or next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium: run `make browser`, or set CHROMIUM to one")
LABEL = "label=shop%40main"
STRAYS = """[...document.querySelectorAll("*")].filter(one =>
    one.matches("style, img, iframe, object, embed, base, video, audio, [style]") ||
    ["src", "href", "action"].some(name => one.hasAttribute(name) && !/^(#|[/](?![/]))/.test(one.getAttribute(name)))
).map(one => one.outerHTML)"""
"""Elements that no page has, and addresses that are not of the server."""
PAGES = {
    "search": f"/?q=refund&{LABEL}",
    "source": f"/source?place=src/Orders/OrderService.cs:9-14&{LABEL}",
    "ask": f"/ask?q=who+pays+back+what+a+customer+returned&{LABEL}",
    "refusal": f"/ask?q=how+is+an+order+shipped+by+rocket&{LABEL}",
    "graph": f"/graph?start=OrderService&{LABEL}",
    "index": f"/index?{LABEL}",
    "report": f"/eval?{LABEL}",
}


@dataclass
class Watched:
    """A tab, and all that must not happen in it."""

    tab: Tab
    address: str
    problems: list[str] = field(default_factory=list)

    def watch(self) -> None:
        self.tab.on("console", lambda said: self.problems.append(said.text) if said.type == "error" else None)
        self.tab.on("pageerror", lambda error: self.problems.append(str(error)))
        self.tab.on("dialog", lambda dialog: (self.problems.append(dialog.message), dialog.dismiss()))
        self.tab.on("request", lambda request: self._asked(request.url))

    def _asked(self, address: str) -> None:
        if not address.startswith(f"{self.address}/"):
            self.problems.append(f"asked {address}")

    def open(self, path: str) -> None:
        answer = self.tab.goto(self.address + path)
        assert answer is not None and answer.status == 200, (path, answer and answer.status)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A shop that was measured, and a repository that means no good."""
    folder = tmp_path_factory.mktemp("browsed")
    home, shop = IndexHome(folder / "home"), new_repository(folder / "shop", SHOP)
    index_without_dagster(home, shop, "shop")
    hostile = new_repository(folder / "hostile", {"README.md": "# Hostile\n"})
    hostile_repository(hostile)
    index_without_dagster(home, hostile, "hostile")
    cli = CommandLine(home, folder)
    rows = [
        {"id": "q1", "question": "who refunds an order?", "relevant": ["src/Orders/OrderService.cs"]},
        {"id": TEXTS[0], "question": TEXTS[4], "relevant": ["db/tables.sql"]},
        {"id": "none", "question": "How long should pasta boil?", "answerable": False},
    ]
    (folder / "set.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    done = cli.run("eval", "run", "shop@main", "--set", "set.jsonl", "--answers")
    assert done.code == 0, done.err
    return Home(cli, shop, hostile)


@pytest.fixture(scope="module")
def browser(server: Server) -> Iterator[Watched]:
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install -e '.[dev]'")
    with playwright.sync_playwright() as driver:
        program = driver.chromium.launch(executable_path=CHROMIUM)
        watched = Watched(program.new_page(viewport={"width": 1280, "height": 820}), server.address)
        watched.watch()
        yield watched
        program.close()


@pytest.fixture
def on(browser: Watched) -> Iterator[Watched]:
    """The tab, in which nothing went wrong after the test either."""
    yield browser
    problems, browser.problems[:] = [*browser.problems], []
    assert problems == []


def test_a_reader_searches_as_he_types_and_opens_a_hit_with_keys(on: Watched) -> None:
    on.open("/")
    on.tab.evaluate("document.activeElement.blur()")
    on.tab.keyboard.press("/")
    on.tab.keyboard.type("refund an order")
    on.tab.wait_for_selector(".to-hit")
    assert "q=refund+an+order" in on.tab.url, "what is shown can be sent"
    on.tab.keyboard.press("ArrowDown")
    assert on.tab.evaluate("document.activeElement.className") == "to-hit"
    on.tab.keyboard.press("j")
    on.tab.keyboard.press("k")
    first = on.tab.evaluate("document.activeElement.textContent.trim()")
    on.tab.keyboard.press("Enter")
    on.tab.wait_for_selector(".file .asked")
    assert on.tab.locator("h1").inner_text().replace("\n", "") == first
    assert on.tab.locator(".asked").first.evaluate("one => one.getBoundingClientRect().top < innerHeight")


def test_an_answer_is_streamed_and_followed_up(on: Watched) -> None:
    on.open(f"/ask?{LABEL}")
    on.tab.fill("#ask [name=q]", "what is OrderService?")
    on.tab.select_option("#ask [name=label]", "shop@main")
    on.tab.keyboard.press("Enter")
    on.tab.click("#ask button")
    on.tab.wait_for_selector(".sources a")
    assert "q=what+is+OrderService" in on.tab.url and "session" not in on.tab.url
    session = on.tab.locator(".follow [name=session]").get_attribute("value")
    on.tab.fill(".follow [name=q]", "who calls RefundOrder?")
    on.tab.click(".follow button")
    on.tab.locator(".question", has_text="who calls").wait_for()
    assert on.tab.locator(".follow [name=session]").get_attribute("value") == session
    on.tab.click(".sources a")
    on.tab.wait_for_selector(".file .asked")


def test_the_graph_is_walked_from_node_to_node(on: Watched) -> None:
    on.open(PAGES["graph"])
    on.tab.locator("a.node", has_text="RefundOrder").first.click()
    on.tab.locator(".graph-head h2", has_text="RefundOrder").wait_for()
    on.tab.locator(".graph-head .chips a", has_text="breaks").click()
    on.tab.wait_for_selector(".nodes a")
    assert "OrderTests.RefundsAnOrder" in on.tab.locator(".listed").inner_text()


def test_a_reader_signs_in_and_out(browser: Watched, home: Home, tmp_path: Path) -> None:
    """With the headers that a browser sends of itself: the origin of a form, where a link was followed."""
    token = home.cli.run("token", "create", "anna", "--org", "local", "--json").json["token"]
    context = browser.tab.context.browser.new_context()  # type: ignore[union-attr]
    with serving(home, errors=tmp_path / "errors.txt") as guarded:
        tab = context.new_page()
        tab.goto(guarded.address + PAGES["source"])
        tab.fill("[name=token]", token)
        tab.click("button")
        tab.locator(".file .asked").first.wait_for()
        assert tab.url.endswith(PAGES["source"]) and tab.evaluate("document.cookie") == ""
        tab.goto(guarded.address + PAGES["index"])
        assert "anna" in tab.locator(".who").inner_text()
        tab.goto(guarded.address.replace("127.0.0.1", "localhost"))  # another site to a browser
        tab.locator("[name=token]").wait_for()
        tab.evaluate("address => { location.href = address }", guarded.address + PAGES["search"])
        tab.locator(".to-hit").first.wait_for()  # a strict cookie does not come with the link itself
        tab.click(".who button")
        tab.locator("[name=token]").wait_for()
    context.close()


def test_pages_are_accessible_and_narrow_enough_for_a_phone(on: Watched) -> None:
    """In light and in dark, which differ in colours alone."""
    bundled = pytest.importorskip("axe_playwright_python", reason="pip install -e '.[dev]'")
    axe = (Path(bundled.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    for name, path in PAGES.items():
        on.tab.set_viewport_size({"width": 1280, "height": 820})
        on.tab.emulate_media(color_scheme="light")
        on.open(path)
        on.tab.evaluate(axe)
        found = on.tab.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        on.tab.emulate_media(color_scheme="dark")
        found += on.tab.evaluate("axe.run(document, {runOnly: ['color-contrast']})")["violations"]
        worst = [one["id"] for one in found if one["impact"] in ("serious", "critical")]
        assert worst == [], (name, [node["html"] for one in found for node in one["nodes"]][:5])
        on.tab.set_viewport_size({"width": 380, "height": 820})
        assert on.tab.evaluate("document.documentElement.scrollWidth") <= 380, name


def test_nothing_of_a_repository_runs_loads_or_leads_elsewhere(on: Watched) -> None:
    of_hostile = "label=hostile%40main"
    for number, text in enumerate(TEXTS):
        kinds = {
            3: f"/?q={quote(' '.join(TEXTS[number : number + 3]))}",
            4: f"/source?place=Word{number}",
            5: f"/source?place=docs/{number}.md",
            6: f"/graph?start=Word{number}",
            7: f"/?q=Document{number}",
            8: f"/ask?q={quote(f'what is Word{number}? {text}')}",
            9: f"/graph?relation=impact&start=Word{number}.Say{number}",
        }
        addresses = [f"{path}&{of_hostile}" for every, path in kinds.items() if number % every == 0]
        for address in addresses:
            on.open(address)
            assert on.tab.evaluate("window.ran") is None, address
            strays = on.tab.evaluate(STRAYS)
            assert strays == [], address
    on.open(f"/source?place=docs/{TEXTS.index(TEXTS[-2])}.md&{of_hostile}")
    assert "invoice\\u202egnp.exe" in on.tab.locator(".file").inner_text()
    for path in (f"/source?place=All.md&{of_hostile}", f"/graph?start=Routes&{of_hostile}", f"/eval?{LABEL}"):
        on.open(path)
        assert on.tab.evaluate("window.ran") is None and on.tab.evaluate(STRAYS) == []
    on.open(f"/ask?{of_hostile}")
    on.tab.fill("#ask [name=q]", f"what is Word1? {TEXTS[0]}")
    on.tab.click("#ask button")
    on.tab.wait_for_selector(".answer")
    assert on.tab.evaluate("window.ran") is None and on.tab.locator("#injected").count() == 0
