"""Middlewares that are functions are listed where they are used, beans of Spring where they are made."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index
from rag_assets.answer.plans.marked import Marked, marked_asked
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "cmd/web.go": """\
package main

func Run() {
	m.Use(Recovery())
	m.Use(func(c *Context) {
		c.Next()
	})
	letters.Used(Recovery())
}
""",
    "api/server.ts": "export const serve = () => {\n  app.use('/api/*', limiter);\n  app.use(cors());\n"
    "  i18n.use(german);\n};\n",
    "web/LostLetterFilter.cs": "namespace Post;\n\npublic class LostLetterFilter : IExceptionFilter { }\n",
    "web/ClerkSeed.cs": "namespace Post;\n\npublic class ClerkSeed\n{\n    public async Task SeedAsync()\n    {\n"
    '        var clerk = new Clerk { UserName = "emma" };\n'
    '        await clerks.CreateAsync(clerk, "Stamp12");\n    }\n}\n',
    "web/Clerks.cs": "namespace Post;\n\npublic class Clerks\n{\n    public Clerk Nobody()\n    {\n"
    '        return new Clerk { UserName = "nobody" };\n    }\n}\n',
    "web/Setup.cs": """\
namespace Post;

public class Setup
{
    public void Configure(IApplicationBuilder app)
    {
        app.UseExceptionHandler("/lost");
    }
}
""",
    "web/launchSettings.json": '{\n  "applicationUrl": "http://localhost:5000"\n}\n',
    "Dockerfile": "FROM scratch\nEXPOSE 8080\n",
    "compose.yml": 'services:\n  post:\n    ports:\n      - "9090:8080"\n    x-open:\n      - "08:30"\n',
    "post/app.py": "def make():\n    app = FastAPI()\n    app.add_middleware(GzipStamps, level=3)\n    return app\n",
    "src/main/java/post/Beans.java": """\
package post;

@Configuration
public class Beans {
    @Bean
    @Primary
    public Stamps stamps() {
        return new Stamps();
    }

    /** Where letters go. */
    @Bean
    Box box() {
        return new Box();
    }
}
""",
}


@pytest.fixture(scope="module")
def post(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("marked"), FILES, "post") as index:
        yield index


def test_middlewares_are_listed_where_they_are_used(post: Index) -> None:
    told = post.ask("which middlewares are there?", options=AskOptions()).text
    assert re.findall(r"- \*\*([\w.]+)\*\* in ([\w/.]+:\d+)", told) == [
        ("limiter", "api/server.ts:2"),
        ("cors", "api/server.ts:3"),
        ("Recovery", "cmd/web.go:4"),
        ("Run", "cmd/web.go:5"),
        ("GzipStamps", "post/app.py:3"),
        ("UseExceptionHandler", "web/Setup.cs:7"),
    ]


@pytest.mark.parametrize(
    "question",
    [
        "how are errors handled?",
        "how are unhandled exceptions turned into a response?",
        "what happens when an unexpected error occurs?",
        "where are exceptions caught globally?",
        "which class handles exceptions?",
    ],
)
def test_what_handles_the_errors_of_all_is_listed(post: Index, question: str) -> None:
    told = post.ask(question, options=AskOptions()).text
    assert re.findall(r"- \*\*([\w.]+)\*\* in ([\w/.]+:\d+)", told) == [
        ("LostLetterFilter", "web/LostLetterFilter.cs:3"),
        ("Configure", "web/Setup.cs:7"),
    ]


@pytest.mark.parametrize("question", ["which ports do the services listen on?", "on which port does it run?"])
def test_ports_are_listed_where_they_are_opened(post: Index, question: str) -> None:
    told = post.ask(question, options=AskOptions()).text
    assert re.findall(r"in ([\w/.-]+:\d+): `(.*)`", told) == [
        ("Dockerfile:2", "EXPOSE 8080"),
        ("compose.yml:4", '- "9090:8080"'),
        ("web/launchSettings.json:2", '"applicationUrl": "http://localhost:5000"'),
    ]


def test_the_port_of_options_is_one_that_is_listened_on_and_that_of_a_database_is_none(tmp_path: Path) -> None:
    options = (
        "namespace Post;\n\npublic class ServerOptions\n{\n"
        '    public int Port => _given.Port ?? Read("Port", 7878);\n'
        '    public int PostgresPort => Read("PostgresPort", 5432);\n'
        "    public int SslPort { get; set; } = 9898;\n}\n"
    )
    program = "namespace Post;\n\npublic class Web\n{\n    public void Run() => host.UseUrls(urls);\n}\n"
    with opened_index(tmp_path, {"web/ServerOptions.cs": options, "web/Web.cs": program}, "ports") as index:
        told = index.ask("which port does the server listen on by default?", options=AskOptions()).text
    assert re.findall(r"in ([\w/.-]+:\d+): `", told) == ["web/ServerOptions.cs:5", "web/ServerOptions.cs:7"]


@pytest.mark.parametrize(
    "question",
    [
        "which demo users exist and what are their passwords?",
        "what is the default admin password?",
        "with which user can I log in?",
    ],
)
def test_users_to_begin_with_are_listed_where_they_are_made(post: Index, question: str) -> None:
    told = post.ask(question, options=AskOptions()).text
    assert re.findall(r"in ([\w/.-]+:\d+): `(.*)`", told) == [
        ("web/ClerkSeed.cs:7", 'var clerk = new Clerk { UserName = "emma" };'),
        ("web/ClerkSeed.cs:8", 'await clerks.CreateAsync(clerk, "Stamp12");'),
    ]


def test_what_is_asked_of_one_part_has_another_answer(post: Index) -> None:
    assert marked_asked("how are errors of the stamp printer handled?") is None
    assert "ports:**" not in post.ask("which port does RabbitMQ use?").text


def test_beans_are_listed_with_the_methods_that_make_them(post: Index) -> None:
    told = post.ask("which Spring beans are defined?", options=AskOptions()).text
    assert told.startswith("**2 beans:**")
    assert "**stamps** in src/main/java/post/Beans.java:7: `public Stamps stamps() {`" in told
    assert "**box** in src/main/java/post/Beans.java:13: `Box box() {`" in told


@pytest.mark.parametrize(
    ("question", "marked"),
    [
        ("which beans are there?", Marked.BEANS),
        ("list the Spring beans", Marked.BEANS),
        ("which beans does the dashboard need?", None),
    ],
)
def test_questions_for_beans(question: str, marked: Marked | None) -> None:
    assert marked_asked(question) is marked
