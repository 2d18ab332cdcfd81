"""The page without a script: its links and forms lead from a search to lines, answers and graphs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import httpx2
import pytest

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.history.conversations import open_conversations
from rag_assets_tests.cli.test_streamed_answers import answering
from rag_assets_tests.models.llm.model_server import ModelServer
from rag_assets_tests.serving.conftest import Home, Server, make_home, serving

HTML = {"accept": "text/html"}
SHOP = "label=shop%40main"


@dataclass
class Page(HTMLParser):
    """What a browser makes of a page: texts, links by their text, elements with their attributes."""

    source: str
    links: dict[str, str] = field(default_factory=dict)
    elements: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    text: str = ""

    def __post_init__(self) -> None:
        super().__init__()
        self._inside: list[tuple[str, str]] = []
        self.feed(self.source)
        self.text = " ".join(self.text.split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.elements.append((tag, found))
        if tag == "a":
            self._inside.append((found.get("href", ""), ""))

    def handle_data(self, data: str) -> None:
        self.text += data
        self._inside = [(href, said + data) for href, said in self._inside]

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and self._inside:
            href, said = self._inside.pop()
            self.links[" ".join(said.split())] = href

    def of_class(self, name: str) -> list[dict[str, str]]:
        return [about for _, about in self.elements if name in about.get("class", "").split()]


def page_of(answer: httpx2.Response, status: int = 200) -> Page:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return Page(answer.text)


def opened(server: Server, address: str, status: int = 200) -> Page:
    return page_of(server.get(address, headers=HTML), status)


def test_a_hit_opens_the_file_at_its_lines(server: Server) -> None:
    found = opened(server, f"/?q=refund+an+order&{SHOP}")
    href = found.links["src/Orders/OrderService.cs:9-14"]
    assert "in OrderService" not in found.text and "Shop.Orders.OrderService" in found.text
    assert "public decimal RefundOrder(int orderId)" in found.text
    source = opened(server, href)
    rows = [about["id"] for about in source.of_class("row") if "asked" in about["class"]]
    assert rows == [f"L{number}" for number in range(9, 15)] and href.endswith("#L9")
    assert len(source.of_class("row")) == 19 and source.links["9"] == "#L9"
    assert {"keyword", "comment", "number"} <= {about.get("class") for _, about in source.elements}
    head = server.get("/api/v1/status", params={"label": "shop@main"}).json()["labels"][0]
    for provenance in (head["commit"], head["generation"], head["run_id"], "is HEAD"):
        assert provenance in source.text
    permanent = opened(server, source.links["permanent link"])
    assert "commit=" in source.links["permanent link"] and permanent.of_class("asked") == source.of_class("asked")


def test_filters_are_links_that_add_and_take_away(server: Server) -> None:
    found = opened(server, "/?q=order")
    assert "all indexes" in found.text, "several labels are searched where none is named"
    narrowed = opened(server, found.links["Test"])
    assert narrowed.of_class("to-hit") and {path for path in narrowed.links if ".cs:" in path} == {
        path for path in narrowed.links if path.startswith("tests/")
    }
    assert narrowed.links["Test ×"] == "/?q=order"
    in_folder = opened(server, found.links["src/Orders"])
    assert all(link.startswith("src/Orders/") for link in in_folder.links if ".cs:" in link)
    nothing = opened(server, f"/?q=invoices&{SHOP}&path=nowhere")
    assert "Nothing found." in nothing.text and nothing.links["nowhere ×"] == f"/?q=invoices&{SHOP}"


def test_an_answer_has_footnotes_that_open_the_lines(server: Server) -> None:
    found = opened(server, f"/ask?q={quote('who pays back what a customer returned?')}&{SHOP}")
    assert found.links["1"] == "#source-1"
    place = next(text for text in found.links if "OrderService.cs:" in text)
    assert opened(server, found.links[place]).of_class("asked")
    row = re.search(r'<span class="no">(\d+)</span>([^\n]*RefundOrder[^\n]*)\n', found.source)
    assert row is not None, "quoted code has the numbers of its lines"
    lines = opened(server, f"/source?place={quote('src/Orders/OrderService.cs')}&{SHOP}").source
    assert f'id="L{row[1]}"' in lines and row[2].strip() in lines.partition(f'id="L{row[1]}"')[2].partition("\n")[0]
    assert found.links["link to this question"].startswith("/ask?q=who%20pays")


def test_a_refusal_says_why_and_what_was_nearest(server: Server) -> None:
    found = opened(server, f"/ask?q={quote('how is an order shipped by rocket?')}&{SHOP}")
    assert "Because" in found.text and "Nearest" in found.text and "the closest are" not in found.text
    place = next(href for text, href in found.links.items() if re.search(r":\d", text))
    assert opened(server, place).of_class("row")


def test_an_answer_that_is_not_sure_says_so(home: Home, tmp_path: Path) -> None:
    """On the page and in the HTTP answer."""
    doubtful = replace(home, cli=replace(home.cli, environment={"RAG_ASSETS__ANSWER__SURE": "1"}))
    question = quote("what pays customers for orders?")
    with serving(doubtful, errors=tmp_path / "errors.txt") as server:
        found = opened(server, f"/ask?q={question}&{SHOP}")
        assert found.of_class("unsure") and "Not sure. The closest is:" in found.text
        answer = server.get(f"/api/v1/ask?question={question}&{SHOP}").json()
        assert answer["unsure"] and answer["answer"].startswith("**Not sure. The closest is:**\n")


def test_a_question_of_several_labels_offers_them(server: Server) -> None:
    found = opened(server, "/ask?q=who+refunds", 404)
    assert "name one as label" in found.text and opened(server, found.links["shop@main"]).of_class("answer")


def test_the_graph_is_a_picture_to_walk_and_a_list(server: Server) -> None:
    found = opened(server, f"/graph?start=Invoices&relation=impact&{SHOP}", 404)
    assert "may be 3 nodes" in found.text and len(found.of_class("members")) == 1
    assert any("Shop.Orders.Invoices" in text for text in found.links)
    address = f"/graph?start=OrderService.RefundOrder&relation=impact&{SHOP}"
    walked = opened(server, address)
    nodes = walked.of_class("node")
    assert nodes and all(about["href"].startswith("/graph?start=") for about in nodes)
    assert "test 1" in walked.text and "OrderTests.RefundsAnOrder" in walked.links
    assert walked.text.index("test 1") < walked.text.index("code "), "what a change shows at comes first"
    assert opened(server, nodes[0]["href"]).of_class("graph")
    again = server.get(address, headers=HTML).text
    assert re.findall(r"<svg.*?</svg>", again, re.DOTALL) == re.findall(r"<svg.*?</svg>", walked.source, re.DOTALL)
    path = opened(server, f"/graph?start=OrderService.Cancel&to=Invoices.Post&{SHOP}")
    assert "Path 1" in path.text and len(path.of_class("entry")) == 1


def test_the_index_says_how_old_and_how_sound_it_is(server: Server) -> None:
    found = opened(server, "/index")
    about = opened(server, found.links["shop@main"])
    assert "is HEAD" in about.text and "made-by-a-test" in about.text and "Parse health" in about.text
    assert "minified" in about.text and "web/site.min.js" in about.text and "not asked" in about.text
    never = opened(server, about.links["how well it answers"], 404)
    assert "nothing was ever asked of shop@main" in never.text


def test_errors_are_pages_that_say_what_would_be_right(server: Server) -> None:
    unknown = opened(server, "/source?place=README.md&label=shpo", 404)
    assert opened(server, unknown.links["shop@main"]).of_class("file")
    assert "There is no such page." in opened(server, "/nowhere", 404).text
    assert "place is empty" in opened(server, f"/source?{SHOP}", 400).text
    assert "valid:" in opened(server, f"/graph?start=x&relation=nearby&{SHOP}", 400).text
    assert "4,000" in opened(server, f"/?q={'x' * 4001}&{SHOP}", 400).text
    assert "leaves the repository" in opened(server, f"/source?place=../../etc/passwd&{SHOP}", 400).text
    assert server.get("/nowhere").headers["content-type"] == "application/json"


def test_no_page_has_a_script_or_a_style_of_its_own(server: Server) -> None:
    pages = ["/", "/?q=refund", f"/source?place=README.md&{SHOP}", f"/ask?q=refund&{SHOP}", "/index", "/nowhere"]
    for address in [*pages, f"/graph?start=OrderService&{SHOP}"]:
        answer = server.get(address, headers=HTML)
        assert "script-src 'self'; style-src 'self'" in answer.headers["content-security-policy"]
        for tag, about in Page(answer.text).elements:
            assert tag != "style" and not [name for name in about if name == "style" or name.startswith("on")]
            assert tag != "script" or about["src"].startswith("/static/")
            for name in ("src", "href", "action"):
                assert about.get(name, "/").startswith(("/", "#")), about
    assert answer.headers["referrer-policy"] == "same-origin", "else the origin of a form is null, which is refused"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home with roles and a user interface of Dagster."""
    made = make_home(tmp_path_factory.mktemp("guarded"))
    written = "roles:\n  auditor: restricted\n  guest: public\nautomation:\n  ui_url: https://dagster.example/\n"
    (made.cli.folder / "rag_assets.yaml").write_text(written, encoding="utf-8")
    return made


def create(home: Home, name: str, *options: str, role: str = "auditor") -> str:
    words = ("--home", str(home.root), "--role", role)
    return str(home.cli.run("token", "create", name, *options, "--json", options=words).json["token"])


@pytest.fixture(scope="module")
def gate(guarded: Home, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that lets nobody in without a token."""
    create(guarded, "first")
    with serving(guarded, errors=tmp_path_factory.mktemp("gate") / "errors.txt") as made:
        yield made


def test_a_reader_signs_in_and_out(guarded: Home, gate: Server) -> None:
    token, guest = create(guarded, "anna", "--org", "local"), create(guarded, "guest", role="guest")
    with httpx2.Client(base_url=gate.address) as browser:
        asked = page_of(browser.get(f"/?q=refund&{SHOP}", headers=HTML), 401)
        (following,) = [about["value"] for _, about in asked.elements if about.get("name") == "following"]
        assert following == f"/?q=refund&{SHOP}" and "Sign in" in asked.text
        wrong = page_of(browser.post("/sign-in", data={"token": "rag_wrong", "following": following}), 401)
        assert "unknown, revoked or expired" in wrong.text and not browser.cookies
        done = browser.post("/sign-in", data={"token": token, "following": following})
        assert done.status_code == 303 and done.headers["location"] == following
        cookie = done.headers["set-cookie"].lower()
        assert "httponly" in cookie and "samesite=strict" in cookie and "secure" not in cookie
        shown = page_of(browser.get(following, headers=HTML))
        assert shown.of_class("to-hit") and "anna" in shown.text and token not in shown.source
        assert shown.links["made-by-a-"] == "https://dagster.example/runs/made-by-a-test"
        for elsewhere in ("https://evil.example/", "//evil.example", "/\\evil.example", "/\t/evil.example"):
            led = browser.post("/sign-in", data={"token": token, "following": elsewhere})
            assert led.headers["location"] == "/"
        other = {"origin": "https://evil.example"}
        assert browser.post("/sign-in", data={"token": guest}, headers=other).status_code == 403
        assert browser.post("/sign-out", headers=other).status_code == 403
        again = browser.get("/index", headers=HTML | {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"})
        assert again.status_code == 200
        left = browser.post("/sign-out")
        assert 'rag_assets_token=""' in left.headers["set-cookie"] and left.status_code == 303
        assert not browser.cookies
        strange = browser.get("/index", headers=HTML | {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"})
        assert 'http-equiv="refresh"' in strange.text, "a strict cookie comes with the second request"
        secure = browser.post("/sign-in", data={"token": token}, headers={"x-forwarded-proto": "https"})
        assert "; secure" in secure.headers["set-cookie"].lower()
    assert token not in gate.said()


def test_roles_and_organisations_hold_on_every_page(guarded: Home, gate: Server) -> None:
    strangers = create(guarded, "low", role="guest"), create(guarded, "acme", "--org", "acme")
    own = create(guarded, "own", "--org", "local")
    pages = [
        *("/", "/?q=refund", f"/?q=refund&{SHOP}", "/ask?q=refund", f"/ask/stream?q=refund&{SHOP}", "/graph", "/index"),
        *(f"/source?place=src/Orders/OrderService.cs&{SHOP}", f"/graph?start=OrderService&{SHOP}", f"/index?{SHOP}"),
        *(f"/eval?{SHOP}", "/nowhere"),
    ]
    for address in pages:
        seen = gate.get(address, headers=HTML | {"cookie": f"rag_assets_token={own}"}).text
        for token in strangers:
            hidden = gate.get(address, headers=HTML | {"cookie": f"rag_assets_token={token}"}).text
            said = hidden.replace("start=OrderService", "").replace("Orders/OrderService.cs", "")  # of the address
            assert "OrderService" not in said and "shop@main" not in said.replace("no label &#39;shop@main&#39;", "")
        assert "shop@main" in seen or address in ("/", "/nowhere", "/graph"), address


def test_sessions_of_different_tokens_never_mix(guarded: Home, gate: Server) -> None:
    anna, bert = ({"cookie": f"rag_assets_token={create(guarded, name, '--org', 'local')}"} for name in ("a1", "b1"))
    first = page_of(gate.get(f"/ask?q=what+is+OrderService&{SHOP}", headers=HTML | anna))
    (session,) = {about["value"] for _, about in first.elements if about.get("name") == "session"}
    assert len(session) >= 20 and session not in first.links["link to this question"]
    follow = f"/ask?q=who+calls+it&{SHOP}&session={session}"
    for who in (anna, bert):
        assert page_of(gate.get(follow, headers=HTML | who)).of_class("answer")
    with open_conversations(guarded.cli.home, "none", clearance=Confidentiality.RESTRICTED) as kept:
        turns = {name: [one.turns for one in kept.sessions(f"token {name}")] for name in ("a1", "b1")}
        assert turns == {"a1": [2], "b1": [1]} and not kept.sessions("a1")  # a user of the system called like the token


def test_a_stream_ends_with_the_answer_as_the_page_has_it(server: Server) -> None:
    asked = f"q={quote('who pays back what a customer returned?')}&{SHOP}"
    said = server.get(f"/ask/stream?{asked}").text
    event, data = re.findall(r"event: (\w+)\r?\ndata: (.*?)\r?\n\r?\n", said, re.DOTALL)[-1]
    made = Page(json.loads(data)["html"])
    whole = opened(server, f"/ask?{asked}")
    assert event == "answer" and made.of_class("sources") and made.links["1"] == whole.links["1"]
    assert "no label" in server.get("/ask/stream?q=x&label=nope").text
    assert parse_qs(urlsplit(made.links["link to this question"]).query)["label"] == ["shop@main"]


def test_what_a_model_writes_is_shown_as_it_comes_and_is_no_markup(tmp_path: Path) -> None:
    made = make_home(tmp_path)
    hostile = "![x](http://evil.example/x.png) <img src=x onerror=ran()> [y](javascript:ran()) "
    with ModelServer() as model:
        answer = {"base_url": model.url, "balanced": {"model": "m"}, "retries": 0}
        (made.cli.folder / "rag_assets.yaml").write_text(json.dumps({"answer": answer}), encoding="utf-8")
        good = "refunds orders.” [chunk: ID]\n\n"
        answering(model, ["[Answer:] It “Cancels and ", good, f"{hostile}“Cancels and ", good])
        with serving(made, errors=tmp_path / "errors.txt") as server:
            said = server.get(f"/ask/stream?q=what+does+OrderService+do&{SHOP}").text
            events = re.findall(r"event: (\w+)\r?\ndata: (.*?)\r?\n\r?\n", said, re.DOTALL)
            assert "Cancels" in "".join(json.loads(data)["text"] for event, data in events if event == "text")
            assert events[-1][0] == "answer"
            whole = json.loads(events[-1][1])["html"]
            shown = Page(whole)
            assert shown.links["1"] == "#source-1" and "Cancels and refunds orders." in shown.text
            assert not {tag for tag, _ in shown.elements} & {"img", "script"}
            assert not [href for href in shown.links.values() if not href.startswith(("/", "#"))]
            plain = opened(server, f"/ask?q=what+does+OrderService+do&{SHOP}")
            assert plain.of_class("sources") and "extractive" not in plain.text


def test_the_report_of_a_generation_is_a_page(home: Home, server: Server, tmp_path: Path) -> None:
    made = make_home(tmp_path)
    rows = [
        {"id": "q1", "question": "who refunds an order?", "relevant": ["src/Orders/OrderService.cs"]},
        {"id": "q2", "question": "where are <b>invoices</b>?", "relevant": ["db/tables.sql"]},
        {"id": "none", "question": "How long should pasta boil?", "answerable": False},
    ]
    questions = tmp_path / "set.jsonl"
    questions.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    done = made.cli.run("eval", "run", "shop@main", "--set", str(questions), "--answers")
    assert done.code == 0, done.err
    with serving(made, errors=tmp_path / "errors.txt") as measured:
        about = opened(measured, f"/index?{SHOP}")
        assert "recall@10" in about.text
        report = opened(measured, about.links["report"])
        assert {"metrics over generations", "risk over coverage"} <= {
            found["aria-label"] for tag, found in report.elements if tag == "svg"
        }
        assert "where are <b>invoices</b>?" in report.text
        assert "<b>" not in report.source
        assert "no generation" in opened(measured, f"/eval?{SHOP}&generation=nope", 404).text.lower()
    written = made.cli.run("eval", "report", "shop@main", "--html", str(tmp_path / "report.html"))
    assert written.code == 0 and "risk over coverage" in (tmp_path / "report.html").read_text(encoding="utf-8")
