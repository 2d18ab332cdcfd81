"""Questions that many ask of any project: what it is made with, how it is run, what changed, what is tested, and with
slips of typing; asked from the command line."""

from __future__ import annotations

import re
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets.answer import spelling
from rag_assets.answer.whole_project import everyday_question
from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import CommandLine, Outcome, index_without_dagster, new_repository

PROJECT = """\
<Project Sdk="Microsoft.NET.Sdk.Web">
  <PropertyGroup>
    <TargetFramework>net9.0</TargetFramework>
    <Version>2.4.1</Version>
  </PropertyGroup>
  <ItemGroup>
    <PackageReference Include="Npgsql.EntityFrameworkCore.PostgreSQL" Version="9.0.0" />
    <PackageReference Include="Serilog.AspNetCore" Version="9.0.0" />
    <PackageReference Include="House.Of.Coins" Version="1.0.0" />
  </ItemGroup>
</Project>
"""
TESTS = """\
<Project Sdk="Microsoft.NET.Sdk">
  <ItemGroup>
    <PackageReference Include="Microsoft.EntityFrameworkCore.Sqlite" Version="9.0.0" />
    <PackageReference Include="xunit" Version="2.9.2" />
    <PackageReference Include="NSubstitute" Version="5.0.0" />
  </ItemGroup>
</Project>
"""
PAGE = """\
{
  "name": "till-page",
  "scripts": {
    "build": "vite build",
    "test": "vitest run"
  },
  "engines": {
    "node": ">=22"
  },
  "dependencies": {
    "react": "19.0.0",
    "eslint-plugin-vue": "9.0.0",
    "tailwindcss": "4.0.0",
    "vitest": "3.0.0",
    "next-themes": "0.4.0"
  }
}
"""
COMPOSE = "services:\n  db:\n    image: postgres:16\n  cache:\n    image: redis:7\n"
README = """\
# Till

The till counts the coins of the shop, and has done so for as long as anybody can remember.

## Development

Clone it, and open it.

## Running

```sh
docker compose up
```

## Tests

They need a database:

```sh
dotnet test Till.sln
```

## Configuration

The coins that count are set by the environment variable TILL_COINS.
Those of other countries do not.
"""
LICENSE = "MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining a copy.\n"
CODE = """\
namespace Shop;

/// <summary>Counts the coins of a payment.</summary>
public class CoinCounter
{
    public int Count(int payment) => payment / 2;
}
"""
MORE = """\
namespace Shop;

public class NoteCounter
{
    public int Notes(int payment) => payment / 5;
}

public interface ICounter { int All(); }
"""
TESTED = """\
using Xunit;

public class CoinCounterTests
{
    [Fact] public void Counts() => Assert.Equal(1, new Shop.CoinCounter().Count(2));
}
"""


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    base = tmp_path_factory.mktemp("everyday")
    repository = new_repository(base / "till")
    repository.commit(
        {
            "src/Till/Till.csproj": PROJECT,
            "tests/Till.Tests/Till.Tests.csproj": TESTS,
            "web/package.json": PAGE,
            "docker-compose.yml": COMPOSE,
            "README.md": README,
            "LICENSE": LICENSE,
            "Makefile": "check:\n\techo\n\ntest:\n\tdotnet test --no-build\n",
            "src/Till/CoinCounter.cs": CODE,
            "tests/Till.Tests/CoinCounterTests.cs": TESTED,
        },
        "Count coins",
    )
    repository.commit({"src/Till/NoteCounter.cs": MORE}, "Count notes too")
    made = CommandLine(IndexHome(base / "home"), base)
    index_without_dagster(made.home, repository, "till")
    return made


def asked(cli: CommandLine, question: str, *options: str) -> Outcome:
    done = cli.run("ask", question, "--json", *options)
    assert done.code == 0, done.err
    bad = [check for check in done.json["checks"] if check["support"] != "supported"]
    assert bad == [], "every statement is quoted at the place that it names"
    return done


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("which test framework is used?", ["tests/Till.Tests/Till.Tests.csproj:4", "web/package.json:14"]),
        ("what testing library does the frontend use?", ["web/package.json:14"]),
        ("which mocking library do the tests use?", ["tests/Till.Tests/Till.Tests.csproj:5"]),
        ("Which database does it use?", ["src/Till/Till.csproj:7", "docker-compose.yml:3", "docker-compose.yml:5"]),
        ("which ORM is used?", ["src/Till/Till.csproj:7"]),
        ("what logging library is used", ["src/Till/Till.csproj:8"]),
        ("which CSS framework does the project use?", ["web/package.json:13"]),
        ("which frontend framework is used here?", ["web/package.json:11"]),
        ("which web framework is used?", ["src/Till/Till.csproj:1"]),
        ("what is used for logging?", ["src/Till/Till.csproj:8"]),
        ("which library is used for mocking in the tests?", ["tests/Till.Tests/Till.Tests.csproj:5"]),
        ("what is the database?", ["src/Till/Till.csproj:7", "docker-compose.yml:3", "docker-compose.yml:5"]),
        ("which databases are supported?", ["src/Till/Till.csproj:7", "docker-compose.yml:3", "docker-compose.yml:5"]),
        ("which databases can I use?", ["src/Till/Till.csproj:7", "docker-compose.yml:3", "docker-compose.yml:5"]),
        ("does it use React or Redis?", ["web/package.json:11", "docker-compose.yml:5"]),
        ("does it use Redis?", ["docker-compose.yml:5"]),
        ("is PostgreSQL used?", ["src/Till/Till.csproj:7", "docker-compose.yml:3"]),
        ("does this project use docker compose?", ["docker-compose.yml:1"]),
    ],
)
def test_a_technology_is_told_by_the_line_that_names_it(cli: CommandLine, question: str, places: list[str]) -> None:
    found = asked(cli, question).json
    assert found["intent"] == "list" and not found["unsure"]
    assert sorted(re.findall(r" in (\S+:\d+)", found["answer"])) == sorted(places)


@pytest.mark.parametrize(
    ("question", "what"),
    [
        ("does it use Kafka?", "kafka was not found among the"),
        ("which message broker is used?", "a known message broker was not found among the"),
        ("is GraphQL used?", "graphql was not found among the"),
        ("do they use Kafka or NATS?", "kafka or nats was not found among the"),
        ("does it publish coins to Kafka?", "kafka was not found among the"),
        ("are the coins sent over RabbitMQ", "rabbitmq was not found among the"),
    ],
)
def test_what_is_not_used_is_said_and_nothing_else_is_an_answer(cli: CommandLine, question: str, what: str) -> None:
    done = cli.run("ask", question, "--json")
    assert done.code == 4 or done.json["unsure"]
    assert f"{what} 11 packages that manifests name" in str(done.json["reason"]) + str(done.json["notes"])


@pytest.mark.parametrize(
    "question",
    ["which database is the coin stored in?", "which database tables are used?", "does the counter use coins?"],
)
def test_a_question_with_more_words_is_about_these(cli: CommandLine, question: str) -> None:
    found = cli.run("ask", question, "--json").json
    assert "**Database:**" not in found["answer"] and "not found among" not in (found["reason"] or "")


def test_a_version_that_a_later_project_alone_needs_is_told_too(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        f"src/{name}/{name}.csproj": f"<Project>\n  <TargetFramework>{version}</TargetFramework>\n</Project>\n"
        for name, version in (("A", "net9.0"), ("B", "net9.0"), ("C", "net9.0"), ("D", "net9.0"), ("E", "net472"))
    }
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    index_without_dagster(cli.home, new_repository(tmp_path / "till", files), "till")
    answer = cli.run("ask", "which target frameworks are supported?", "--json").json["answer"]
    assert [line.partition(".csproj**")[0] for line in answer.splitlines() if line] == [
        "- **A",
        "- **B",
        "- **C",
        "- **E",
    ]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("what license is it under?", "**LICENSE** is **MIT License** in LICENSE:1: `MIT License`"),
        ("which version of .NET does it need?", "Till.csproj:3: `<TargetFramework>net9.0</TargetFramework>`"),
        ("which target frameworks are supported?", "Till.csproj:3: `<TargetFramework>net9.0</TargetFramework>`"),
        ("which frameworks does it target?", "Till.csproj:3: `<TargetFramework>net9.0</TargetFramework>`"),
        ("which Node version is required", 'web/package.json:8: `"node": ">=22"`'),
        ("what Node version does the production image use?", 'web/package.json:8: `"node": ">=22"`'),
        ("what is the current version?", "Till.csproj:4: `<Version>2.4.1</Version>`"),
        ("how many files are there?", "**13 files are indexed:**"),
        ("which languages is it written in?", "**csharp** has 5 files, such as **Order.cs** in src/Orders/Order.cs:3"),
    ],
)
def test_what_manifests_say_of_the_project(cli: CommandLine, question: str, said: str) -> None:
    assert said in asked(cli, question).json["answer"]


def test_languages_of_programs_are_told_before_and_apart_from_data(cli: CommandLine) -> None:
    answer = asked(cli, "which languages is it written in?").json["answer"]
    programs, _, others = answer.partition("**Data, markup and texts:**")
    assert "**13 files are indexed:**\n**Programming languages:**\n- **csharp** has 5 files" in programs
    assert "json" not in programs and "**json** has one file" in others and "markdown" in others


def test_a_version_that_no_manifest_says_is_not_guessed(cli: CommandLine) -> None:
    done = cli.run("ask", "which version of Python does it need?", "--json")
    assert done.code == 4 or done.json["unsure"]
    assert "no manifest says which version of python is needed" in str(done.json["reason"]) + str(done.json["notes"])


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("which npm scripts are there?", [("build", "web/package.json:4"), ("test", "web/package.json:5")]),
        ("what make targets can I run?", [("check", "Makefile:1"), ("test", "Makefile:4")]),
    ],
)
def test_scripts_and_targets_are_listed(cli: CommandLine, question: str, told: list[tuple[str, str]]) -> None:
    answer = asked(cli, question).json["answer"]
    assert re.findall(r"- \*\*(\S+)\*\* in (\S+):", answer) == told


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("how do I run the tests?", ["README.md:15-21", "README.md:20", "Makefile:5", "web/package.json:5"]),
        ("how do I run it?", ["README.md:9-13", "README.md:12"]),
        ("How can I build this project locally?", ["web/package.json:4"]),
        ("how is it configured?", ["README.md:23-26"]),
    ],
)
def test_steps_are_told_by_documents_and_scripts(cli: CommandLine, question: str, places: list[str]) -> None:
    found = asked(cli, question).json
    assert found["intent"] == "steps"
    assert re.findall(r"(?: in |^)((?:\S+/)?[\w.]+:\d[\d-]*)", found["answer"], re.MULTILINE) == places


@pytest.mark.parametrize(
    "question", ["what changed lately?", "what was the last commit?", "show me the latest changes"]
)
def test_the_last_commits_are_told_with_their_subjects_and_files(cli: CommandLine, question: str) -> None:
    answer = asked(cli, question).json["answer"]
    assert re.search(r"commit [0-9a-f]{10}, one file: `Count notes too`:\*\*\n- \*\*NoteCounter.cs\*\* in src", answer)
    assert re.search(r"9 files: `Count coins`:\*\*\n", answer)


def test_the_last_commits_of_several_indexes_are_told_by_their_labels(tmp_path: Path) -> None:
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    for name in ("till", "scale"):
        repository = new_repository(tmp_path / name)
        repository.commit({f"{name}.cs": f"class {name.title()} {{ }}\n"}, f"Make the {name}")
        index_without_dagster(cli.home, repository, name)
    answer = asked(cli, "what changed lately?", "-l", "till@main", "-l", "scale@main").json["answer"]
    told = re.findall(r"^\*\*(\w+)@main: .*: `Make the (\w+)`:\*\*$", answer, re.MULTILINE)
    assert told == [("till", "till"), ("scale", "scale")]


def test_the_rule_that_nothing_was_found_is_explained(cli: CommandLine) -> None:
    done = cli.run("ask", "does it use Kafka?", "--explain")
    assert "because     what is asked was looked for, and is nowhere" in done.out


def test_when_something_was_changed_and_by_whom(cli: CommandLine) -> None:
    answer = asked(cli, "when was NoteCounter last changed?").json["answer"]
    assert re.match(r"\*\*Commit [0-9a-f]{10} of \d{4}-\d\d-\d\d: `Count notes too`:\*\*", answer)
    done = cli.run("ask", "who wrote src/Till/NoteCounter.cs?", "--json")
    assert done.code == 4 or done.json["unsure"]
    assert "git shortlog -sn HEAD -- src/Till/NoteCounter.cs" in str(done.json["reason"]) + str(done.json["notes"])


def test_what_a_doubtful_answer_lacks_is_told_above_it(cli: CommandLine) -> None:
    told = cli.run("ask", "who wrote NoteCounter?").out.splitlines()
    assert told[0].startswith("an index does not hold who wrote a file")
    assert told[1] == "Not sure. The closest is:"


@pytest.mark.parametrize(
    "question",
    [
        "which commits changed Bell?",
        "show me the git history of src/Bell.cs",
        "how has Bell changed over time?",
        "what was the last commit to Bell?",
    ],
)
def test_the_commits_that_changed_a_file_are_told_with_the_newest_first(ringing: CommandLine, question: str) -> None:
    answer = asked(ringing, question).json["answer"]
    listing = "the newest are below, and all in `git log --follow -- src/Bell.cs`"
    assert answer.startswith(f"**12 commits changed `src/Bell.cs`; {listing}:**\n\n**20")
    told = re.findall(r"^\*\*\d{4}-\d\d-\d\d, commit [0-9a-f]{10} `Ring (\d+)`:\*\*$", answer, re.MULTILINE)
    assert told == [str(number) for number in range(12, 2, -1)]
    assert "[unverified]" not in answer


@pytest.fixture(scope="module")
def ringing(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Of a folder of a repository whose twelve commits change one file of it, and one more another file."""
    folder = tmp_path_factory.mktemp("ringing")
    cli = CommandLine(IndexHome(folder / "home"), folder)
    repository = new_repository(folder / "bells")
    for number in range(1, 13):
        repository.commit({"src/Bell.cs": f"class Bell {{ int rings = {number}; }}\n"}, f"Ring {number}")
    repository.commit({"src/Rope.cs": "class Rope { }\n"}, "Tie a rope")
    cli.build(repository.path / "src", lexical_only=True)
    return cli


@pytest.mark.parametrize(
    "question",
    [
        "where is the commit log written by Bell?",
        "what is the history of a Bell?",
        "what commits the BellTransaction?",
        "how has the sound of a Bell changed?",
    ],
)
def test_a_history_that_the_code_keeps_is_none_of_git(question: str) -> None:
    assert everyday_question(question) is None


def test_what_an_index_does_not_know_is_told_with_the_command_of_git(tmp_path: Path) -> None:
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    with tarfile.open(tmp_path / "till.tgz", "w:gz") as archive:
        (tmp_path / "Coin.cs").write_text("class Coin { }\n")
        archive.add(tmp_path / "Coin.cs", "till/Coin.cs")
    cli.build(tmp_path / "till.tgz", lexical_only=True)
    for question in ("what changed lately?", "when was Coin changed?"):
        done = cli.run("ask", question, "--json").json
        assert "git log --stat -5" in str(done["reason"]) + str(done["notes"])
    done = cli.run("ask", "how do I run the tests?", "--json").json
    assert "no document, script or workflow says the steps to test" in str(done["reason"]) + str(done["notes"])


def test_subjects_are_for_those_who_may_see_all_files(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "till")
    repository.commit({"open/Coin.cs": "class Coin { }\n", "closed/Safe.cs": "class Safe { }\n"}, "Open the safe")
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    config = tmp_path / "rag_assets.yaml"
    config.write_text(
        "roles: {boss: restricted}\nrepositories:\n  - id: till\n    location: till\n    ref: main\n"
        "    confidential_paths: {closed: restricted}\nembedder: {provider: lexical-only}\n"
    )
    made = cli.run("--config", config, "index", options=())
    assert made.code == 0, made.err
    answers = {
        role: cli.run("ask", "what changed lately?", options=(*role, "--config", str(config))).out
        for role in ((), ("--role", "boss"))
    }
    assert "Coin.cs" in answers[()] and "one file" in answers[()]
    assert "safe" not in answers[()].lower()
    assert "2 files: `Open the safe`" in answers[("--role", "boss")]


def test_classes_without_tests_are_those_that_no_test_names(cli: CommandLine) -> None:
    answer = asked(cli, "which classes have no tests?").json["answer"]
    assert (
        answer.startswith("**2 classes without a test that names them:**")
        and "- **NoteCounter** in src/Till/NoteCounter.cs:3" in answer
    )
    assert "CoinCounter" not in answer and "ICounter" not in answer


def test_what_no_test_names_is_not_said_to_be_tested(cli: CommandLine) -> None:
    done = cli.run("ask", "is NoteCounter tested?", "--json")
    assert done.json["unsure"] and "no test of NoteCounter is known, and no test names it" in done.json["notes"]
    assert "CoinCounterTests.cs:5" in asked(cli, "is CoinCounter tested?").json["answer"]


@pytest.mark.parametrize(
    ("path", "text", "told"),
    [
        ("till/coins.py", "def count():\n    return 1\n\n\ndef _half():\n    return 2\n", ["coins.count"]),
        (
            "lib/coins.go",
            "package coins\n\nfunc Count() int { return 1 }\n\nfunc half() int { return 2 }\n",
            ["lib.Count"],
        ),
        (
            "lib/coins.js",
            "function count () { return 1 }\nfunction half () { return 2 }\nmodule.exports = { count }\n",
            ["coins.count"],
        ),
        ("src/Coins.cs", "public class Coins { public int Count() => 1; }\ninternal class Half { }\n", ["Coins"]),
    ],
)
def test_what_a_module_lets_others_use(tmp_path: Path, path: str, text: str, told: list[str]) -> None:
    repository = new_repository(tmp_path / "till")
    repository.commit({path: text})
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    index_without_dagster(cli.home, repository, "till")
    for question in (f"what are the exported functions of {path}?", f"what is the public API of {path}?"):
        answer = asked(cli, question).json["answer"]
        assert re.findall(r"^- \*\*(.+?)\*\* in", answer, re.MULTILINE) == told


@pytest.mark.parametrize(
    ("question", "read", "one"),
    [
        ("where are the coins of a paymnet counted?", "payment", "CoinCounter"),
        ("wat does CoinCounter do?", "what", "CoinCounter"),
        ("what does CoinConter do?", "CoinCounter", "public int Count"),
    ],
)
def test_a_slip_of_typing_is_read_as_what_is_meant(cli: CommandLine, question: str, read: str, one: str) -> None:
    done = asked(cli, question)
    assert any(read in warning for warning in done.json["warnings"] if warning.startswith("read as: "))
    assert one in done.json["answer"]


def test_where_several_words_may_be_meant_the_refusal_asks(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "till")
    repository.commit(
        {"Till.cs": "class Till\n{\n    void Packing() { }\n    void Picking() { }\n    void Quote() { }\n}\n"}
    )
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    index_without_dagster(cli.home, repository, "till")
    done = cli.run("ask", "where is the pxcking cleaned?", "--json")
    assert done.code == 4 and "did you mean packing or picking?" in done.json["suggestions"]
    quota = cli.run("ask", "how is the quota of the till packed?", "--json").json
    assert not any(warning.startswith("read as") for warning in quota["warnings"])


@pytest.mark.parametrize(
    "question", ["where is the shipping handled?", "how are refunds counted?", "how long should coine boil?"]
)
def test_words_that_there_are_elsewhere_are_no_slips(cli: CommandLine, question: str) -> None:
    done = cli.run("ask", question, "--json")
    assert not any(warning.startswith("read as") for warning in done.json["warnings"])


@pytest.mark.parametrize(
    ("question", "known"),
    [
        ("what does OrderFaxService do?", "OrderTaxService"),
        ("what does Http2Client do?", "HttpClient"),
        ("what does get_users do?", "get_user"),
        ("what does sent_mail do?", "send_mail"),
    ],
)
def test_a_name_that_may_be_another_thing_is_only_asked_for(tmp_path: Path, question: str, known: str) -> None:
    repository = new_repository(tmp_path / "till")
    repository.commit({"till.py": f"class {known}:\n    def count(self):\n        return 1\n"})
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    index_without_dagster(cli.home, repository, "till")
    done = cli.run("ask", question, "--json").json
    assert not any(warning.startswith("read as") for warning in done["warnings"])
    assert known in str(done["suggestions"])


def test_the_slips_of_a_long_word_are_not_looked_for(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    real = spelling._slips

    def counted(word: str) -> Iterator[str]:
        for slip in real(word):
            made.append(len(slip))
            yield slip

    monkeypatch.setattr(spelling, "_slips", counted)
    for word in ("b" + "orde" * 4_500, "Borde" + "Coin" * 4_500, "paymnet"):
        made.clear()
        cli.run("ask", f"how is the {word} of CoinCounter counted?", "--json")
        assert bool(made) == (word == "paymnet")
        assert sum(made) < 200_000


def test_of_many_unknown_words_some_are_looked_at(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: set[str] = set()
    real = spelling._slips
    monkeypatch.setattr(spelling, "_slips", lambda word: (looked.add(word), real(word))[1])
    words = " ".join(f"{letter}xqxblor" for letter in "abcdefghijkl")
    cli.run("ask", f"how is {words} counted?", "--json")
    assert 0 < len(looked) <= 5


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            "GNU GENERAL PUBLIC LICENSE\nVersion 3\n{}The GNU Affero General Public License",
            "GNU General Public License",
        ),
        ("GNU LIBRARY GENERAL PUBLIC LICENSE\n{}GNU General Public License", "GNU Library General Public License"),
        ("Mozilla Public License Version 2.0\n{}GNU Affero General Public License", "Mozilla Public License"),
        ("Business Source License 1.1\nChange License: GNU General Public License\n", "Business Source License"),
        ("Copyright (c) 2020 Till\n\nRedistribution and use in source and binary forms, with\n", "BSD licence"),
        ("Till Terms\n{}The parts are under the Apache License. Permission is hereby granted, free of charge", ""),
        ("Licensed under either of\nApache License, Version 2.0 or\nMIT license\n", ""),
    ],
)
def test_a_licence_is_named_by_how_its_text_begins(tmp_path: Path, text: str, name: str) -> None:
    repository = new_repository(tmp_path / "till")
    full = text.replace("{}", "You may copy what is here as you like.\n" * 40)
    repository.commit({"LICENSE": full, "LICENSE-3RD-PARTY.txt": LICENSE})
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    index_without_dagster(cli.home, repository, "till")
    answer = asked(cli, "what license is it under?").json["answer"]
    assert "**LICENSE**" in answer and re.findall(r"is \*\*(.+?)\*\*", answer) == ([name] if name else [])


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Types that are called as what everyday questions are about, in a project without tests."""
    base = tmp_path_factory.mktemp("named")
    repository = new_repository(base / "till")
    types = "".join(
        f"public class {one} {{ public int Of{one}() => 1; }}\n" for one in ("License", "Version", "Logger")
    )
    repository.commit({
        "src/Types.cs": f"namespace Till;\n{types}public class Shop {{ public License L() => new License(); }}\n",
        "LICENSE": LICENSE,
        "src/Till.csproj": PROJECT,
    })  # fmt: skip
    made = CommandLine(IndexHome(base / "home"), base)
    index_without_dagster(made.home, repository, "till")
    return made


@pytest.mark.parametrize(
    "question",
    ["What does License do?", "who uses License", "where is License used", "What is Version?", "is Logger used"],
)
def test_a_question_about_a_declared_name_is_about_it(named: CommandLine, question: str) -> None:
    answer = asked(named, question).json["answer"]
    told = re.findall(r"src/Types.cs|LICENSE|src/Till.csproj", answer)
    assert told[0] == "src/Types.cs" and "**MIT License**" not in answer


def test_without_a_capital_it_is_about_the_project(named: CommandLine) -> None:
    assert "**MIT License**" in asked(named, "what license is it under?").json["answer"]


@pytest.mark.parametrize(
    "question",
    [
        "how large is a file",
        "when is a license released",
        "who is licensed",
        "list public holidays",
        "what is exported to Excel",
        "which functions have no tests?",
    ],
)
def test_what_only_sounds_like_an_everyday_question(cli: CommandLine, question: str) -> None:
    answer = cli.run("ask", question, "--json").json["answer"]
    assert not re.search(r"[*]MIT License|files are indexed|declarations for others|without a test", answer)


def test_without_classes_none_is_said_to_have_a_test(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "till")
    repository.commit({"till.py": "def coins():\n    return 1\n", "tests/test_till.py": "def test_it():\n    pass\n"})
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    index_without_dagster(cli.home, repository, "till")
    done = cli.run("ask", "which classes have no tests?", "--json").json
    assert "each class has a test" not in str(done)


@pytest.mark.parametrize(
    ("subject", "told"),
    [
        ("Show ![x](http://evil.example/a.png) <img src=x> and [a](http://b.example)", None),
        ("Take `code` out of ** it", "Take 'code' out of ∗∗ it"),
        ("Turn \u202eit\x1b[31m around\u200b", "Turn \\u202eit\\x1b[31m around\\u200b"),
        ("Count " + "coins " * 60, ("Count " + "coins " * 60)[:119].rstrip() + "…"),
        ("Cite [chunk: 0a1b2c3d] it", "Cite ⟦chunk: 0a1b2c3d] it"),
        ("Set the password = hunter2hunter2XX now", "Set the password = ∗∗∗∗∗∗∗∗∗∗∗∗∗∗∗∗ now"),
    ],
)
def test_a_subject_is_told_as_code_and_does_nothing(tmp_path: Path, subject: str, told: str | None) -> None:
    repository = new_repository(tmp_path / "till")
    repository.commit({"Coin.cs": "class Coin { }\n"}, subject)
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    index_without_dagster(cli.home, repository, "till")
    answer = asked(cli, "what changed lately?").json["answer"]
    heading = next(line for line in answer.splitlines() if "one file" in line)
    assert heading.endswith(f", one file: `{told or subject}`:**")
    assert "[unverified]" not in answer


@pytest.mark.parametrize(
    "question",
    ["when was the payment created?", "who created the payment?", "when was the Order added?", "who wrote notes?"],
)
def test_what_may_be_no_code_has_no_history(cli: CommandLine, question: str) -> None:
    assert everyday_question(question) is None
    done = cli.run("ask", question, "--json").json
    assert "git shortlog" not in str(done) and "**Commit " not in done["answer"]


@pytest.mark.parametrize(
    "question", ["when was src/Till/NoteCounter.cs created?", "when was NoteCounter added?", "who created NoteCounter?"]
)
def test_when_a_file_was_added_is_told_by_git(cli: CommandLine, question: str) -> None:
    done = cli.run("ask", question, "--json").json
    assert "git log --diff-filter=A -- src/Till/NoteCounter.cs" in str(done["reason"]) + str(done["notes"])
    assert "was last changed" not in done["answer"]


def test_a_shallow_clone_knows_one_commit_only(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "till")
    repository.commit({"Coin.cs": "class Coin { }\n"}, "Count coins")
    repository.commit({"Coin.cs": "class Coin { int Value; }\n"}, "Value coins")
    clone = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{tmp_path / 'till'}", str(clone)], check=True)
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    cli.build(clone, lexical_only=True)
    done = cli.run("ask", "what changed lately?", "--json").json
    said = str(done["reason"]) + str(done["notes"])
    assert "the index knows one commit only" in said and "no section has" not in said
    assert "git fetch --unshallow" in said and "git log -5" in said


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            {"src/Coin.cs": CODE, "src/Note.cs": MORE, "tests/CoinTests.cs": TESTED},
            "**1 class without a test that names it:**\n- **NoteCounter**",
        ),
        (
            {"src/Note.cs": MORE, "tests/CoinTests.cs": f"// NoteCounter has none\n{TESTED}"},
            "**1 class without a test that names it:**\n- **NoteCounter**",
        ),
        (
            {
                "src/Note.cs": MORE,
                "tests/CoinTests.cs": TESTED.replace(";\n}", "; // not NoteCounter\n    /* nor\n NoteCounter */\n}"),
            },
            "**1 class without a test that names it:**\n- **NoteCounter**",
        ),
        (
            {"src/Note.cs": MORE, "tests/CoinTests.cs": TESTED.replace("Equal(1,", 'Equal("http://x", NoteCounter,')},
            "each class has a test that names it",
        ),
        ({"src/Coin.cs": CODE, "tests/CoinTests.cs": TESTED}, "each class has a test that names it"),
        ({"src/Coin.cs": "interface ICoin { int A(); }\n", "tests/CoinTests.cs": TESTED}, "no class with methods was"),
    ],
)
def test_untested_classes_are_counted_where_there_are_any(tmp_path: Path, files: dict[str, str], said: str) -> None:
    repository = new_repository(tmp_path / "till", files)
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    index_without_dagster(cli.home, repository, "till")
    done = cli.run("ask", "which classes have no tests?", "--json").json
    assert said in "\n".join([done["answer"], str(done["reason"]), *done["notes"]])


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("which services have no tests?", "**1 service without a test that names it:**\n- **NoteService**"),
        ("which services are covered by tests?", "**1 service with a test that names it:**\n- **CoinService**"),
        ("which handlers are not tested?", "no handler with methods was found"),
    ],
)
def test_untested_classes_of_a_sort_are_told_by_their_names(tmp_path: Path, question: str, said: str) -> None:
    files = {
        "src/CoinService.cs": "public class CoinService\n{\n    public int Count() => 1;\n}\n",
        "src/NoteService.cs": "public class NoteService\n{\n    public int Count() => 2;\n}\n",
        "src/Till.cs": "public class Till\n{\n    public int Count() => 3;\n}\n",
        "tests/CoinServiceTests.cs": TESTED.replace("Equal(1,", "Equal(new CoinService().Count(),"),
    }
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    index_without_dagster(cli.home, new_repository(tmp_path / "till", files), "till")
    done = cli.run("ask", question, "--json").json
    assert said in "\n".join([done["answer"], str(done["reason"]), *done["notes"]])


MIXED = """\
services:
  one: {image: "mongo:7"}
  two:
    image: localhost:5000/rabbitmq:3
  three:
    image: ${REGISTRY:-docker.io}/redis:7
  four:
    image: &sql postgres:16
"""
OTHERS = """\
{
  "name": "till",
  "dependencies": {
    "redis-mock": "1",
    "express-validator": "7",
    "black-box": "1",
    "@aws-sdk/client-sqs": "3",
    "@tanstack/vue-table": "8"
  }
}
"""


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    base = tmp_path_factory.mktemp("mixed")
    repository = new_repository(base / "till")
    repository.commit({
        "compose.yaml": MIXED,
        "web/package.json": OTHERS,
        "pyproject.toml": '[tool.ruff]\ntarget-version = "py310"\n\n[tool.mypy]\npython_version = "3.10"\n',
        "CHANGELOG.md": "# Changes\n\n- v1 API removed\n\n## [2.3.0] - 2024-01-01\n\n- Coins 4 all\n",
    })  # fmt: skip
    made = CommandLine(IndexHome(base / "home"), base)
    index_without_dagster(made.home, repository, "till")
    return made


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("which database is used?", [("mongo", "2"), ("redis", "6"), ("postgres", "8")]),
        ("which message broker is used?", [("rabbitmq", "4")]),
        ("which brokers can I use?", [("rabbitmq", "4")]),
        ("which message brokers does it work with?", [("rabbitmq", "4")]),
    ],
)
def test_images_are_read_as_compose_files_may_write_them(
    mixed: CommandLine, question: str, places: list[tuple[str, str]]
) -> None:
    answer = asked(mixed, question).json["answer"]
    assert sorted(re.findall(r"\*\*(\w+)\*\*.* in compose.yaml:(\d)", answer)) == sorted(places)
    assert "package.json" not in answer


@pytest.mark.parametrize("question", ["does it use SQS?", "which frontend framework is used?", "does it use Express?"])
def test_what_a_manifest_has_in_another_name_is_not_said_to_be_missing(mixed: CommandLine, question: str) -> None:
    done = cli_json(mixed, question)
    assert "not found among" not in str(done) and "is of" not in done["answer"]


def cli_json(cli: CommandLine, question: str, *options: str) -> dict[str, str]:
    return dict(cli.run("ask", question, "--json", *options).json)


def test_what_is_done_with_a_technology_that_is_there_is_searched_for(mixed: CommandLine) -> None:
    found = cli_json(mixed, "are the coins kept in Redis?")
    assert found["intent"] != "list" and "was not found among" not in str(found)


def test_what_is_only_called_so_is_no_technology(mixed: CommandLine) -> None:
    assert "**Linter:**" not in cli_json(mixed, "which linter is used?")["answer"]


def test_a_version_is_none_of_something_else(mixed: CommandLine) -> None:
    answer = asked(mixed, "what is the current version?").json["answer"]
    assert re.findall(r"in (\S+:\d+)", answer) == ["CHANGELOG.md:5"]


RST = """\
====
Till
====

The till counts the coins of the shop, and has done so for as long as anybody can remember.

Building
--------

Ask the smith for an anvil first. Then hammer as long as it is warm:

.. code-block:: sh

   ./anvil

With a cold one
~~~~~~~~~~~~~~~

Wait for the sun.

Installation
------------

Carry it to the shop.
"""
ADOC = """\
= Till

The till counts the coins of the shop.

== Building

Ask the smith for an anvil first.

[source,sh]
----
./anvil
----

=== With a cold one

Wait for the sun.

== Installation

Carry it to the shop.
"""
TEXT = """\
Till
====

The till counts the coins of the shop.

Building
--------

Ask the smith for an anvil first:

    ./anvil

With a cold one
...............

Wait for the sun.

Installation
------------

Carry it to the shop.
"""


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("README.rst", RST, "7-19"),
        ("README.adoc", ADOC, "5-16"),
        ("README.txt", TEXT, "6-16"),
        ("README", TEXT, "6-16"),
    ],
)
def test_headings_of_every_format_tell_the_steps(tmp_path: Path, name: str, text: str, lines: str) -> None:
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    repository = new_repository(tmp_path / "till", {name: text, "src/Coins.cs": CODE})
    index_without_dagster(cli.home, repository, "till")
    found = asked(cli, "how do I build it?").json
    assert f"{name}:{lines}" in found["answer"] and "./anvil" in found["answer"]
    assert "Wait for the sun" in found["answer"] and "Carry it" not in found["answer"]


@pytest.mark.parametrize(
    ("packages", "question", "told"),
    [
        (["MassTransit.EntityFrameworkCore"], "which ORM is used?", []),
        (["OpenTelemetry.Instrumentation.EntityFrameworkCore"], "does it use Entity Framework?", []),
        (
            ["MassTransit.EntityFrameworkCore", "Microsoft.EntityFrameworkCore"],
            "which ORM is used?",
            ["Microsoft.EntityFrameworkCore"],
        ),
        (["MassTransit.EntityFrameworkCore"], "which message broker is used?", ["MassTransit.EntityFrameworkCore"]),
        (["MassTransit.RabbitMQ"], "is RabbitMQ used?", ["MassTransit.RabbitMQ"]),
        (["Npgsql.EntityFrameworkCore.PostgreSQL"], "which ORM is used?", ["Npgsql.EntityFrameworkCore.PostgreSQL"]),
        (["Xunit.DependencyInjection"], "which test framework is used?", ["Xunit.DependencyInjection"]),
    ],
)
def test_a_package_of_another_technology_is_none_of_the_one_that_it_works_with(
    tmp_path: Path, packages: list[str], question: str, told: list[str]
) -> None:
    named = "".join(f'    <PackageReference Include="{name}" Version="8.0.0" />\n' for name in packages)
    project = f'<Project Sdk="Microsoft.NET.Sdk">\n  <ItemGroup>\n{named}  </ItemGroup>\n</Project>\n'
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    index_without_dagster(cli.home, new_repository(tmp_path / "till", {"src/Till.csproj": project}), "till")
    found = cli.run("ask", question, "--json").json
    assert re.findall(r"^- \*\*(.+?)\*\*", found["answer"], re.MULTILINE) == told
    assert "not found among" not in str(found["reason"]) + str(found["notes"]), (
        "nor is it said for certain to be absent"
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Gemfile", 'gem "sqlite3"\n'),
        ("till/Cargo.toml", '[dependencies]\nsqlite = "1"\n'),
        ("paket.dependencies", "nuget Microsoft.Data.Sqlite\n"),
        ("composer.json", '{"require": {"ext-sqlite3": "*"}}\n'),
        ("Package.swift", 'let package = Package(dependencies: [.package(url: "https://x/sqlite.swift")])\n'),
    ],
)
def test_of_a_manifest_that_nothing_reads_no_absence_is_told(tmp_path: Path, name: str, text: str) -> None:
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    index_without_dagster(cli.home, new_repository(tmp_path / "till", {name: text, "src/Coins.cs": CODE}), "till")
    sqlite, kafka = (str(cli.run("ask", f"does it use {one}?", "--json").json) for one in ("SQLite", "Kafka"))
    assert "kafka was not found" in kafka and "sqlite was not found" not in sqlite


@pytest.mark.parametrize(
    "question",
    [
        "What does License do?",
        "what is License?",
        "What does the License class do?",
        "what is the License class for?",
    ],
)
def test_a_word_that_is_a_type_is_told_by_its_declaration(tmp_path: Path, question: str) -> None:
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    code = MORE.replace("NoteCounter", "License")
    files: dict[str, str | bytes] = {
        "src/License.cs": code,
        "LICENSE": LICENSE,
        "README.md": f"# Till\n\n## License\n\n{LICENSE}",
    }
    index_without_dagster(cli.home, new_repository(tmp_path / "till", files), "till")
    answer = asked(cli, question).json["answer"]
    assert answer.startswith("`License` in src/License.cs:3")
    assert "**LICENSE** is **MIT License**" in asked(cli, "What is the license?").json["answer"]


CRATE = """\
[package]
name = "till"
version = "0.3.1"
rust-version = "1.80"

[dependencies]
serde = "1"
log = "0.4"
till-coins = "0.1"
till-notes = "0.1"
"""
GEM = """\
require_relative "lib/till/version"

Gem::Specification.new do |s|
  s.name = "till"
  s.required_ruby_version = ">= 3.1"
end
"""
COMPOSER = """\
{
  "require": {
    "php": ">=8.2"
  },
  "scripts": {
    "test": [
      "phpunit --strict"
    ]
  }
}
"""


@pytest.fixture(scope="module")
def crate(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    base = tmp_path_factory.mktemp("crate")
    files: dict[str, str | bytes] = {
        "README.md": "# Till\n\nThe till counts coins.\n\n## Installation\n\nCarry it to the shop.\n",
        "Cargo.toml": CRATE,
        "src/main.rs": "fn main() {\n    println!(\"coins\");\n}\n",
        "till.gemspec": GEM,
        "lib/till/version.rb": 'module Till\n  VERSION = "0.4.0"\nend\n',
        "composer.json": COMPOSER,
        "gradle/libs.versions.toml": '[versions]\ncompileSdk = "35"\nminSdk = "24"\n',
        "UNLICENSE": "This is free and unencumbered software released into the public domain.\n\nAnyone is free to copy"
        " it, either in source code form or as a compiled binary.\n",
        "docs/tests.md": "# How it is checked\n\n```sh\ncargo test --all\n```\n",
    }  # fmt: skip
    made = CommandLine(IndexHome(base / "home"), base)
    index_without_dagster(made.home, new_repository(base / "till", files), "till")
    return made


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("how do I install till?", ["README.md:5-7"]),
        ("what license is Till under?", ["**UNLICENSE** is **Unlicense**"]),
        ("which version of Rust is required?", ['Cargo.toml:4: `rust-version = "1.80"`']),
        ("which Ruby version does till need?", ['till.gemspec:5: `s.required_ruby_version = ">= 3.1"`']),
        ("what minimum Android version is supported?", ['libs.versions.toml:3: `minSdk = "24"`']),
        ("which version of PHP is needed?", ['composer.json:3: `"php": ">=8.2"`']),
        ("what is the current version?", ['Cargo.toml:3: `version = "0.3.1"`', 'version.rb:2: `VERSION = "0.4.0"`']),
        ("how do I run the tests?", ["docs/tests.md:4: `cargo test --all`", 'composer.json:6: `"test": [`']),
        ("which libraries does Till need?", ["**4 libraries:**", 'Cargo.toml:7: `serde = "1"`']),
        ("what packages does it depend on?", ["**4 packages:**", 'Cargo.toml:7: `serde = "1"`']),
        ("which libraries are there for till?", ["**2 libraries:**"]),
        ("does it use serde?", ["**Serialization:**\n- **serde** in Cargo.toml:7"]),
        ("which logging library is used?", ["**log** in Cargo.toml:8"]),
        ("which files changed lately?", ["**README.md**"]),
        ("where is the main function?", ["**main.rs** in src/main.rs:1"]),
    ],
)
def test_rust_ruby_and_php_are_told_by_their_files_too(crate: CommandLine, question: str, said: list[str]) -> None:
    answer = asked(crate, question).json["answer"]
    assert [one for one in said if one not in answer] == []


SHARP = """\
<Project Sdk="Microsoft.NET.Sdk">
  <ItemGroup>
    <PackageReference Include="xunit.v3" Version="3.2.2" />
    <PackageReference Include="FsCheck" Version="3.3.3" />
    <ProjectReference Include="..\\till\\Till.fsproj" />
  </ItemGroup>
</Project>
"""
CMAKE = """\
cmake_minimum_required(VERSION 3.11)
# Android CMake build settings
set(CMAKE_CXX_STANDARD 17)
"""


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    base = tmp_path_factory.mktemp("native")
    files: dict[str, str | bytes] = {
        "README.md": "# Till\n\nA small, fast till for coins. [![b](https://x/b.svg)](https://x)\n\n## Usage\n\nTurn"
        " the handle of the till until every coin of the day is counted.\n",
        "tests/Till.Tests.fsproj": SHARP,
        "CMakeLists.txt": CMAKE,
        ".java-version": "21\n",
        "gradle.properties": "GROUP=shop\nVERSION_NAME=3.18.0\n",
        "src/till.cpp": "int count(int coins) { return coins; }\n",
    }  # fmt: skip
    made = CommandLine(IndexHome(base / "home"), base)
    index_without_dagster(made.home, new_repository(base / "till", files), "till")
    return made


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("which test framework is used?", "**xunit.v3** in tests/Till.Tests.fsproj:3"),
        ("which dependencies does Till have?", "**xunit.v3** in tests/Till.Tests.fsproj:3"),
        ("which C++ version is required?", "CMakeLists.txt:3: `set(CMAKE_CXX_STANDARD 17)`"),
        ("what is the current version?", "gradle.properties:2: `VERSION_NAME=3.18.0`"),
        ("what is this project?", "A small, fast till for coins."),
    ],
)
def test_projects_of_fsharp_and_cpp_are_told_too(native: CommandLine, question: str, said: str) -> None:
    answer = asked(native, question).json["answer"]
    assert said in answer and ".java-version" not in answer


def test_a_word_that_ends_like_a_command_is_none(native: CommandLine) -> None:
    assert "CMakeLists.txt" not in native.run("ask", "how do I build it?", "--json").json["answer"]


def test_a_protocol_is_no_class_that_a_test_could_name(tmp_path: Path) -> None:
    swift = "protocol Counter {\n  func all() -> Int\n}\n\nclass Till: Counter {\n  func all() -> Int { return 1 }\n}\n"
    tested = "class NoteTests {\n  func testNotes() { }\n}\n"
    files: dict[str, str | bytes] = {"Sources/Till.swift": swift, "Tests/NoteTests.swift": tested}
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    index_without_dagster(cli.home, new_repository(tmp_path / "till", files), "till")
    answer = asked(cli, "which classes have no tests?", "--path", "Sources").json["answer"]
    assert "**Till**" in answer and "**Counter**" not in answer


CHANGELOG = """\
# Changelog

## [2.4.1] - 2024-05-02

### Added

- Coins of two colours.

### Fixed

- The drawer opens again.

## 2.4.0

- Notes are counted.

## 1.4.1

- Nothing of note.
"""


@pytest.mark.parametrize(
    ("question", "lines"),
    [
        ("what changed in 2.4.1?", "3-11"),
        ("what's new in version 2.4.1", "3-11"),
        ("release notes of v2.4.0", "13-15"),
        ("which bugs were fixed in 1.4.1?", "17-19"),
    ],
)
def test_what_a_version_brought_is_told_by_the_changelog(tmp_path: Path, question: str, lines: str) -> None:
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    repository = new_repository(tmp_path / "till", {"CHANGELOG.md": CHANGELOG, "src/Coins.cs": CODE})
    index_without_dagster(cli.home, repository, "till")
    found = asked(cli, question).json
    assert found["intent"] == "release" and found["confidence"] == 1.0
    first, last = map(int, lines.split("-"))
    quoted = [line.removeprefix(">").strip() for line in found["answer"].splitlines() if line.startswith(">")]
    assert found["answer"].startswith(f"CHANGELOG.md:{lines} ")
    assert quoted == CHANGELOG.split("\n")[first - 1 : last]


def test_a_version_that_no_changelog_has_is_said_to_be_missing(tmp_path: Path) -> None:
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    repository = new_repository(tmp_path / "till", {"CHANGELOG.md": CHANGELOG, "src/Coins.cs": CODE})
    index_without_dagster(cli.home, repository, "till")
    done = cli.run("ask", "what changed in 2.7?", "--json")
    assert done.code == 4 or done.json["unsure"]
    assert "no changelog has a heading of 2.7" in str(done.json["reason"]) + str(done.json["notes"])


COMPOSED = """\
services:
  till.api:
    environment:
      - COINS=4
      - NOTES=2
    ports:
    - "6001:8080"   # for the page

  tilldb:
    image: postgres
    environment:
      POSTGRES_DB: till
    ports:
      - 5432:5432
volumes:
  ports:
"""


@pytest.fixture(scope="module")
def composed(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    base = tmp_path_factory.mktemp("composed")
    made = CommandLine(IndexHome(base / "home"), base)
    index_without_dagster(made.home, new_repository(base / "till", {"docker-compose.yml": COMPOSED}), "till")
    return made


@pytest.mark.parametrize(
    ("question", "lines"),
    [
        ("which ports does compose expose?", [7, 14]),
        ("on which host port does the till api listen in docker compose?", [7]),
        ("what port does docker compose use for the api", [7]),
        ("environment variables of the till api", [4, 5]),
        ("which environment variables does tilldb have?", [12]),
    ],
)
def test_ports_and_environment_of_compose_files(composed: CommandLine, question: str, lines: list[int]) -> None:
    found = asked(composed, question).json
    assert found["intent"] == "list" and not found["unsure"]
    assert [int(one) for one in re.findall(r" in docker-compose.yml:(\d+)", found["answer"])] == lines


@pytest.mark.parametrize(
    "question",
    [
        "which ports does the mixer expose in docker?",
        "what is a port?",
        "which database is used if I set no environment variables?",
    ],
)
def test_what_is_not_asked_of_a_service_is_not_told(composed: CommandLine, question: str) -> None:
    assert "in compose files" not in str(cli_json(composed, question))


def test_a_project_is_installed_as_it_says_below_getting_started(cli: CommandLine, tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "README.md": "# Till\n\nCounts coins.\n\n## Getting Started\n\nCarry the script to the shop.\n",
        "docs/coins.md": "# Coins\n\n## Setting the size of a coin\n\nTurn the wheel.\n",
    }
    index_without_dagster(cli.home, new_repository(tmp_path / "till", files), "till")
    answer = asked(cli, "how do I install it?").json["answer"]
    assert "Carry the script to the shop." in answer and "Turn the wheel." not in answer


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    base = tmp_path_factory.mktemp("papers")
    files: dict[str, str | bytes] = {
        "README.md": "# Till\n\nCounts coins.\n",
        **{f"docs/adr/{one:04}-use-coin-{one}.md": f"# {one}. Use coin {one}\n\nAccepted.\n" for one in range(1, 31)},
        "docs/guides/paying.md": "# How to pay\n\nWith coins.\n",
        "docs/guides/counting.md": "# How to count\n\nSlowly.\n",
        "docs/safety.md": "# Safety\n\n## Rule 1 - Lock it\n\nAt night.\n\n## Rule 2 - Watch it\n\nBy day.\n\n"
        "## RULE \\#3 - Empty it\n\nOften.\n",
    }
    made = CommandLine(IndexHome(base / "home"), base)
    index_without_dagster(made.home, new_repository(base / "till", files), "till")
    return made


@pytest.mark.parametrize(
    ("question", "count", "said"),
    [
        (
            "which ADRs are there?",
            30,
            "**30 ADRs:**\n- **0001-use-coin-1.md** in docs/adr/0001-use-coin-1.md:1: `# 1. Use",
        ),
        ("which architecture decisions were made?", 30, "**30 architecture decisions:**"),
        (
            "which guides are there?",
            2,
            "**2 guides:**\n- **counting.md** in docs/guides/counting.md:1: `# How to count`",
        ),
        ("which documents are there about safety?", 1, "**1 document:**\n- **safety.md**"),
        (
            "which safety rules are there?",
            3,
            "**3 rules:**\n- **safety.md** in docs/safety.md:3: `## Rule 1 - Lock it`",
        ),
    ],
)
def test_documents_are_listed_by_what_they_are_called(
    papers: CommandLine, question: str, count: int, said: str
) -> None:
    answer = asked(papers, question).json["answer"]
    assert answer.startswith(said) and answer.count("\n- **") == count


APP_HOST = """\
var builder = DistributedApplication.CreateBuilder(args);
var secret = builder.AddParameter("secret", secret: true);
var db = builder
    .AddPostgres("till-postgres", password: secret);
// builder.AddRedis("cache");
builder.AddProject<Projects.Till_Api>("till-api").WithReference(db);
builder.Build().Run();
"""


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("which services does docker compose start?", ["till.api=3", "tilldb=11", "belt=3"]),
        ("what resources does the app host run", ["till-postgres=4", "till-api=6"]),
        ("which containers does it need", ["till.api=3", "tilldb=11", "belt=3", "till-postgres=4", "till-api=6"]),
        ("which containers does the sorter refuse", []),
        ("which services does the compose file of the sorters start", ["belt=3"]),
    ],
)
def test_what_compose_files_and_app_hosts_start(tmp_path: Path, question: str, told: list[str]) -> None:
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    files: dict[str, str | bytes] = {
        "docker-compose.yml": COMPOSED.replace("  till.api:\n", "  till.api:\n    build: .\n"),
        "docker-compose.override.yml": "services:\n  tilldb:\n    image: postgres:17\n",
        "sorters/docker-compose.yml": "services:\n  belt:\n    image: belt:1\n",
        "Till.AppHost/Program.cs": APP_HOST,
        "Till.Api/Program.cs": 'var builder = WebApplication.CreateBuilder(args);\nbuilder.AddRedis("coins");\n',
    }
    index_without_dagster(cli.home, new_repository(tmp_path / "till", files), "till")
    answer = str(cli_json(cli, question)["answer"])
    found = re.findall(
        r"^- \*\*(.*?)\*\* in (?:(?:sorters/)?docker-compose.yml|Till.AppHost/Program.cs):(\d+)", answer, re.MULTILINE
    )
    assert ["=".join(one) for one in found] == told


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    base = tmp_path_factory.mktemp("cloud")
    program = """\
var builder = WebApplication.CreateBuilder(args);
builder.AddSqlServer<TillContext>(builder.Configuration.GetConnectionString("TillDb"));
// builder.Configuration.GetConnectionString("Unused")
var app = builder.Build();
app.MapGet("/coins", () => 1).RequireRateLimiting("coins");
app.MapGet("/notes", () => 1).CacheOutput();
"""
    files: dict[str, str | bytes] = {
        "src/Till/Program.cs": program,
        "src/Till/Error.cs": "[ResponseCache(Duration = 0, NoStore = true)]\npublic class ErrorModel : PageModel { }\n",
        "docker-compose.yml": "services:\n  till:\n    environment:\n      - ConnectionStrings__TillDb=Server=db\n"
        "      - ConnectionStrings__Queue=Development=true\n",
        "deploy/main.bicep": "resource sql 'Microsoft.Sql/servers@2021-11-01' = {\n  name: 'till'\n}\n"
        "resource vault 'Microsoft.KeyVault/vaults@2022-07-01' existing = {\n  name: 'vault'\n}\n",
        "src/Till/coins.proto": "service Coins {\n  rpc Count (CountRequest) returns (CountReply);\n}\n",
        "src/Web/coins.proto": "service Coins {\n  rpc Count (CountRequest) returns (CountReply);\n}\n",
        "shop/views.py": "@bp.route('/login')\n@limiter.limit('10/minute')\ndef login():\n    return 1\n\n\n"
        "@bp.route('/refunds')\n@limiter.limit('3/hour')\ndef refund():\n    return 2\n",
        "deploy/main.tf": 'resource "aws_s3_bucket" "coins" {\n  bucket = "coins"\n}\n',
    }
    made = CommandLine(IndexHome(base / "home"), base)
    index_without_dagster(made.home, new_repository(base / "till", files), "till")
    return made


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (
            "which connection strings are needed?",
            ["**2 connection strings:**", "**TillDb**", "**Queue** in docker-compose.yml:5"],
        ),
        (
            "which endpoints are rate limited?",
            ["**3 rate limited endpoints:**", "**login** in shop/views.py:2", "**refund** in", "**Program.cs** in"],
        ),
        (
            "what is the rate limit of the login endpoint?",
            ["**1 rate limited endpoint:**", "**login** in shop/views.py:2: `@limiter.limit('10/minute')`"],
        ),
        (
            "which gRPC methods does the coin service have?",
            ["**1 gRPC method:**", "**Count** in src/Till/coins.proto:2"],
        ),
        ("which endpoints are cached?", ["**1 cached endpoint:**", "**Program.cs** in src/Till/Program.cs:6"]),
        (
            "which cloud resources are created?",
            ["**2 resources:**", "**sql** in deploy/main.bicep:1: `resource sql", "**aws_s3_bucket.coins**"],
        ),
    ],
)
def test_what_lines_of_their_own_tell_of_is_a_list(cloud: CommandLine, question: str, told: list[str]) -> None:
    answer = asked(cloud, question).json["answer"]
    assert answer.startswith(told[0]) and answer.count("\n- **") == len(told) - 1
    assert [one for one in told if one not in answer] == []


WITH_DOCKER = """\
# Till

Counts coins.

## Run it

    dotnet run

## From Docker

Pull the image and start it on the counter.

## Deployment

Carry it to the shop.
"""


def test_steps_with_a_platform_are_those_that_say_it(tmp_path: Path) -> None:
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    files: dict[str, str | bytes] = {
        "README.md": WITH_DOCKER,
        "deploy/up.sh": "#!/bin/sh\ndotnet run\ndocker-compose -f compose.yml up -d\n",
    }
    index_without_dagster(cli.home, new_repository(tmp_path / "till", files), "till")
    answer = asked(cli, "how do I run it with docker?").json["answer"]
    assert "start it on the counter" in answer and "dotnet run" not in answer and "up.sh:3" in answer
    assert "dotnet run" in asked(cli, "how do I run it?").json["answer"]
    done = cli.run("ask", "how do I deploy it to Azure?", "--json")
    assert done.code == 4 or done.json["unsure"]
    told = str(done.json["reason"]) + str(done.json["notes"])
    assert "no document, script or workflow says the steps to deploy with azure" in told


def test_login_providers_are_told_by_packages_else_by_code(tmp_path: Path) -> None:
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    package = (
        '<Project Sdk="Microsoft.NET.Sdk.Web">\n  <ItemGroup>\n    <PackageReference Include="{}" Version="8" />\n'
    )
    project = package.format("Microsoft.AspNetCore.Authentication.Google") + "  </ItemGroup>\n</Project>\n"
    start = (
        "namespace Shop;\n\npublic static class Start\n{\n    public static void Sign(AuthenticationBuilder till) =>"
    )
    files: dict[str, str | bytes] = {"src/Till/Till.csproj": project, "src/Till/Start.cs": f"{start} till;\n}}\n"}
    repository = new_repository(tmp_path / "till", files)
    index_without_dagster(cli.home, repository, "till")
    for question in (
        "which login providers can users sign in with?",
        "which external login providers are there",
        "which login providers are configured?",
    ):
        assert "Authentication.Google** in src/Till/Till.csproj:3" in asked(cli, question).json["answer"]
    assert "was not found among" not in str(cli.run("ask", "does it use google?", "--json").json)
    repository.commit({"src/Till/Till.csproj": package.format("Shop") + "</ItemGroup></Project>\n"}, "Without")
    repository.commit({"src/Till/Start.cs": f"{start} till.AddGoogle(one => one.Key());\n}}\n"}, "By code")
    index_without_dagster(cli.home, repository, "till")
    assert "google-login** in src/Till/Start.cs:5" in asked(cli, "which login providers are supported?").json["answer"]


@pytest.mark.parametrize(
    ("files", "question", "told"),
    [
        (
            {"README.md": "# Till\n\n## Use\n\nTo deploy it to Azure, type:\n\n```bash\n./anvil -- Sky\n```\n"},
            "how do I deploy it to Azure?",
            "./anvil -- Sky",
        ),
        (
            {
                ".github/workflows/ci.yml": "jobs:\n  all:\n    steps:\n      - name: Fetch\n"
                "        run: ./anvil fetch\n      - name: Run Tests on Linux\n        run: |\n"
                "          ./anvil --prove\n"
            },
            "how do I run the tests?",
            "./anvil --prove",
        ),
        ({"scripts/run-local.ps1": "# Starts the till\n./anvil\n"}, "how do I run it locally?", "run-local.ps1"),
    ],
)
def test_steps_are_also_what_a_sentence_a_step_or_a_script_is_called_as(
    tmp_path: Path, files: dict[str, str], question: str, told: str
) -> None:
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    repository = new_repository(tmp_path / "till", {"README.md": "# Till\n\nCounts.\n", "src/Coins.cs": CODE, **files})
    index_without_dagster(cli.home, repository, "till")
    found = asked(cli, question).json
    assert told in found["answer"] and "fetch" not in found["answer"] and not found["unsure"]


def test_of_a_folder_without_git_no_commit_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "A.cs").write_text("public class A\n{\n}\n")
    cli = CommandLine(IndexHome(tmp_path / "home"), folder)
    cli.run("index", str(folder))

    told = cli.run("ask", "which commit is indexed?")

    assert "the index is of no repository of git" in told.out + told.err
