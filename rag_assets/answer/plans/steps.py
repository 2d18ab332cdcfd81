"""The steps by which something is done: commands of documents, scripts and workflows, and the sections of documents
whose headings say it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from rag_assets.answer.graph_facts import GraphFact, GraphFacts, facts_at
from rag_assets.answer.passages import headings_in
from rag_assets.answer.plans.code_lines import code_of, from_the_root, lines_of
from rag_assets.answer.plans.projects import tests_called
from rag_assets.answer.plans.technologies import parts_of
from rag_assets.answer.whole_project import KINDS_OF_TESTS, MIGRATE, WORD
from rag_assets.identifiers import word_set
from rag_assets.languages.configuration_keys import VARIABLES_FILE
from rag_assets.search.line_references import sections_of
from rag_assets.search.ranking.penalties import is_readme, non_product_code, product_or_samples

if TYPE_CHECKING:
    from rag_assets.search.index import LabelIndex


@dataclass(frozen=True, slots=True)
class ActionWords:
    """What is done: the words of `headings` of documents, and of their names, that tell how, the `commands` of lines of
    documents and workflows that do it, and what `scripts` of a package and targets of a Makefile are called that do
    it."""

    headings: frozenset[str]
    commands: str = ""
    scripts: str = ""
    called_so: bool = False  # scripts for shells, `run-local.ps1`; one called `install` may be for a server
    in_workflows: bool = False  # as people do; what these install and run is of the machine that they run on


_ACTIONS: Mapping[str, ActionWords] = {
    "test": ActionWords(
        word_set("test testing tests"),
        "npm test, npm run test, npm t , yarn test, pnpm test, pnpm run test, npx jest, vitest, pytest, tox"
        ", nox, manage.py test, go test, dotnet test, mvn test, mvnw test, mvn verify, mvnw verify, gradle test"
        ", gradlew test, make test, task test, cargo test, rake test, rake spec, rspec, phpunit, composer test"
        ", swift test, mix test, sbt test, ctest, busted, script/test, invoke-pester, test.ps1, playwright test"
        ", cypress run, terraform test, flutter test, dart test, clojure -x:test, clj -x:test"
        ", clojure -m:test, lein test, zig build test, zig build check test, pkg.test, julia-runtest"
        ", devtools::test, rcmdcheck",
        "test tests unit",
        called_so=True,
        in_workflows=True,
    ),
    "e2e": ActionWords(
        word_set("e2e"),
        "playwright test, cypress run, run e2e, run test:e2e, yarn e2e, pnpm e2e",
        in_workflows=True,
    ),
    "build": ActionWords(
        word_set("build building compile compiling"),
        "npm run build, yarn build, pnpm build, pnpm run build, make build, go build, dotnet build"
        ", dotnet publish, mvn package, mvn clean, mvn install, mvnw package, mvnw clean, gradle build, gradlew build"
        ", docker build, docker-compose build, docker compose build, python -m build, cargo build, swift build"
        ", cmake --build, mix compile, sbt compile, gem build, zig build, build.ps1, gradlew assemble, flutter build"
        ", lein uberjar, clojure -t:build",
        "build compile dist",
        called_so=True,
        in_workflows=True,
    ),
    "run": ActionWords(
        word_set("launch locally quickstart run running start started starting usage"),
        "npm start, npm run dev, npm run start, yarn start, yarn dev, pnpm dev, pnpm start, dotnet run"
        ", aspire run, go run, docker compose up, docker-compose up, docker compose -f, docker-compose -f, docker run"
        ", make run"
        ", manage.py runserver, spring-boot:run, bootrun, java -jar, uvicorn, flask run, tye run, cargo run, swift run"
        ", rails server, mix phx.server, php -s, flutter run, dart run, zig build run, lein run",
        "start dev serve run",
        called_so=True,
    ),
    "install": ActionWords(
        word_set("install installation installing prerequisites setup"),
        "npm install, npm i , npm ci, yarn add, yarn install, pnpm install, pnpm add, pip install, uv sync"
        ", dotnet add package, install-package, dotnet tool install, go get, go install, brew install, docker pull"
        ", docker run, apt install, apt-get install, poetry install, uv add, pipx , cargo install, cargo add"
        ", gem install, bundle install, bundle add, composer require, composer install, luarocks install"
        ", install-module, mix deps.get, vcpkg install, conan install, flutter pub get, dart pub, pkg.add, pkg> add"
        ", install.packages, install_github",
        "install setup",
    ),
    "deploy": ActionWords(
        word_set("deploy deploying deployment docker hosting production self-hosting"),
        "docker compose up, docker-compose up, docker run, kubectl apply, helm install, helm upgrade, azd up"
        ", fly deploy, terraform apply, heroku, docker stack deploy, aspire deploy",
        "deploy release publish",
        called_so=True,
    ),
    "lint": ActionWords(
        word_set("format formatting lint linting style"),
        "npm run lint, yarn lint, make lint, ruff, golangci-lint, dotnet format, pre-commit, rubocop, phpcs"
        ", php-cs-fixer, cargo fmt, cargo clippy, clang-format, swiftlint, mix format, scalafmt, luacheck"
        ", spotlessapply, spotlesscheck, ktlint, detekt, zig fmt, dart format, dart analyze, flutter analyze, clj-kondo"
        ", cljfmt, lintr",
        "lint format",
        called_so=True,
        in_workflows=True,
    ),
    MIGRATE: ActionWords(
        word_set("migrations"),
        "dotnet ef migrations, dotnet ef database, dotnet-ef migrations, dotnet-ef database, add-migration"
        ", update-database, alembic upgrade, alembic revision, db:migrate, manage.py migrate, manage.py makemigrations"
        ", artisan migrate, prisma migrate, knex migrate, typeorm migration"
        ", flyway migrate, flyway:migrate, liquibase update, liquibase:update, migrate -path, migrate create, goose up"
        ", diesel migration, sqlx migrate, ecto.migrate, ecto.gen.migration, drizzle-kit, atlas migrate, dbmate"
        ", make migrate, npm run migrat, yarn migrat, pnpm migrat",
        "migrate migration migrations",
        in_workflows=True,
    ),
    "configure": ActionWords(word_set("configuration configure configuring")),
    "contribute": ActionWords(word_set("contribute contributing contribution contributions")),
}
_PLATFORMS = {
    name: re.compile(words, re.IGNORECASE)
    for name, words in {
        "aws": r"\b(?:amazon|aws|cdk|ecs)\b",
        "azure": r"\b(?:az|azd|azure)\b",
        "docker": r"\b(?:compose|containers?|docker|dockerfile)\b",
        "heroku": r"\bheroku\b",
        "iis": r"\biis\b",
        "kubernetes": r"\b(?:helm|k8s|kubectl|kubernetes|kustomize)\b",
    }.items()
}
"""Where something is run or deployed, and the words of headings and commands for it."""
_SET_UP = frozenset({("setting", "up"), ("set", "up"), ("getting", "started"), ("get", "started")})
DOCUMENT = re.compile(
    r"(?:\.github/(?=contribut)|docs?/(?:[\w-]*(?:contribut|develop|install|set-?up)[\w-]*/)?)?(?!change|history|release|licen|cmakelists|requirements)[\w.-]+\.(?:md|markdown|rst|adoc|asciidoc|txt)"
    r"|readme|install|contributing|hacking",
    re.IGNORECASE,
)
_WORKFLOWS = (".github/workflows/", ".gitlab-ci", ".travis.yml", "azure-pipelines", ".circleci/")
_TARGET = re.compile(r"(?P<name>[\w-]+)\s*:(?!=)")
_SCRIPT = re.compile(r"\s*\"(?P<name>[\w:-]+)\"\s*:\s*[\"\[]")
_TASK = re.compile(r"\s*(?:gulp\.task|grunt\.registerTask)\(\s*[\"'](?P<name>[\w:-]+)[\"']")
_RUNNER = r"(?:bun(?: run)?|deno task|grunt|gulp|npm run|pnpm(?: run)?|rake|turbo(?: run)?|yarn(?: run)?) (?:run )?"
_BUILDS = re.compile(r"(?:^|/)_?build[\w.-]*\.(?:cake|cs|fsx?)$", re.IGNORECASE)
_BUILD_TARGET = re.compile(
    r"\s*(?:Target\.create(?:Final)?|Target)\s+\"(?P<fake>[\w.-]+)\"|\s*Task(?:Of<\w+>)?\(\s*\"(?P<cake>[\w.-]+)\"\s*\)"
    r"|\s*(?:public |private |internal )?Target (?P<nuke>\w+) => "
)
"""How FAKE, Cake and NUKE declare what a build can do."""
_SCRIPTS_OF = re.compile(r"^\s*\"scripts\"\s*:\s*\{")
_TASKS = frozenset({"gulpfile.js", "gruntfile.js"})
_WITH_SCRIPTS = frozenset({"package.json", "composer.json", "makefile", "taskfile.yml", "justfile"})
_SHELLS = (".bat", ".cmd", ".ps1", ".sh")
_FENCE = re.compile(r"\s*(?:```|~~~)\s*(?P<shell>(?:(?:ba|fi|z)?sh|bat|cmd|console|powershell|pwsh|shell\S*)?\s*$)?")
_SAYS_STEP = re.compile(r"\s*(?:- )?name:(?P<name>.*)", re.IGNORECASE)
_RUNS = re.compile(r"\s*(?:- )?(?:run|script|bash|pwsh):\s*(?P<command>[^\s|>#].*)?")
_MOST_OF_A_STEP = 8  # lines
_MOST_STEPS, _MOST_OF_A_FILE = 8, 3
_MOST_SECTIONS = 3  # of documents whose headings say the action


def steps(index: LabelIndex, action: str, kind: str = "") -> tuple[GraphFacts, dict[GraphFact, str], tuple[str, ...]]:
    """How something is done: the lines of documents, scripts and workflows that have its commands, and the points of
    documents whose headings say it; of `deploy azure` those that say that platform. Of a kind of tests also the
    projects that have these, and nothing where none has, of a kind that not all know."""
    wanted, _, platform = action.partition(" ")
    paths = sorted(index.parts.shard().values("Path", index.scope()), key=from_the_root)
    documents = [path for path in paths if DOCUMENT.fullmatch(path) or is_of_folder_called_as(path, action)]
    documents.sort(key=readme_first)
    scripts = [path for path in paths if path.rpartition("/")[2].lower() in _WITH_SCRIPTS | _TASKS]
    shells = sorted(product_or_samples(path for path in paths if path.endswith(_SHELLS)), key=from_the_root)
    workflows = [path for path in paths if path.startswith(_WORKFLOWS)]
    below = [path for path in paths if "/" in path and is_readme(path)]
    of_action = _ACTIONS[wanted]
    names = of_action.scripts.split() if of_action.called_so and not (platform or kind) else ()
    called = [path for path in shells if parts_of(path.rpartition("/")[2])[0] in names][:_MOST_OF_A_FILE]
    facts: list[GraphFact] = []
    for group, files, of_file in (
        ("Documents", documents, _commands),
        ("Scripts", [path for path in scripts if non_product_code(path) is None][:_MOST_OF_A_FILE], _scripts),
        ("Shell scripts", shells if platform or wanted == MIGRATE else [], _commands),
        ("Shell scripts", called, _named),
        ("Workflows", workflows if of_action.in_workflows else [], _commands),
        ("Documents of parts", below if wanted in ("test", "e2e") else [], _commands),
    ):
        if (files is below or files is called) and any(fact.group == "Documents" for fact in facts):  # of the whole
            continue
        lines = lines_of(index, files)
        told: list[GraphFact] = []
        for path in files:
            known = lines.get(path, {})
            said = of_file(path, known, action)
            if platform:
                said = {number: name for number, name in said.items() if says_platform(known[number], platform)}
            told += [
                GraphFact(name, "", "", path, number, certain=True, group=group, is_comment=True)
                for number, name in islice(said.items(), _MOST_OF_A_FILE)
            ]
        if files is documents and not told:
            told = [one for path in files for one in _told_before(path, lines.get(path, {}), wanted, platform)]
        if files is workflows and not told:
            told = [one for path in files for one in _steps_called(path, lines.get(path, {}), wanted)]
        facts += told[: _MOST_STEPS // 2]
    of_kind = [replace(one, group="Test projects") for one in tests_called(index, kind)] if kind else []
    if kind and not of_kind and kind not in KINDS_OF_TESTS:
        return GraphFacts(), {}, ()
    at = facts_at([*of_kind, *facts][:_MOST_STEPS], index)
    return GraphFacts(tuple(at), len(at)), at, _headed_points(index, documents, action)


_CONFIGURES = {
    "Documents": re.compile(r"(?:^|/)(?:config(?:uration|uring)?|settings)\.(?:adoc|md|mdx|rst)$", re.IGNORECASE),
    "Files": re.compile(
        rf"{VARIABLES_FILE.pattern}|(?:^|/)(?:application|bootstrap)(?:-\w+)?\.(?:ya?ml|properties)$"
        r"|(?:^|/)appsettings(?:\.\w+)?\.json$|(?:^|/)(?:config|settings)(?:[.-]\w+)*\."
        r"(?:toml|ya?ml|ini|conf|cfg|sample)$"
    ),
    "Code": re.compile(
        r"(?:^|/)(?:config|configuration|settings)\.(?:go|js|kt|php|py|rb|rs|ts)$"
        r"|/\w+(?:Properties|Settings)\.(?:java|kt)$"
    ),
}
"""What an application is configured by: documents, files with values, code that reads them."""


def configuring(index: LabelIndex) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """The files that an application is configured by, those nearest to the root, each at its first line."""
    paths = index.parts.shard().values("Path", index.scope())
    facts = list[GraphFact]()
    for group, pattern in _CONFIGURES.items():
        named = [one for one in paths if pattern.search(one) and (not one.startswith(".") or "/" not in one)]
        found = sorted((one for one in named if non_product_code(one) is None), key=from_the_root)[:_MOST_OF_A_FILE]
        facts += [
            GraphFact(path.rpartition("/")[2], "", "", path, min(lines), True, group, is_comment=True)
            for path, lines in sorted(lines_of(index, found).items(), key=lambda one: from_the_root(one[0]))
        ]
    at = facts_at(facts, index)
    return GraphFacts(tuple(at), len(at)), at


def _commands(path: str, lines: Mapping[int, str], action: str) -> dict[int, str]:
    """Line → the file, of the lines with a command of the action."""
    said = {number: f"{text.strip().lower()} " for number, text in lines.items()}
    pattern = _commands_of(action)
    told = (number for number, text in said.items() if pattern.search(text))
    done = (number for number in told if not said[number].startswith(("name:", "- name:", "# ")))
    return dict.fromkeys(done, path.rpartition("/")[2])


def _told_before(path: str, lines: Mapping[int, str], action: str, platform: str) -> Iterator[GraphFact]:
    """The commands below a sentence of a document that ends with a colon and says an action, and the platform."""
    before, is_told, is_inside = "", False, False
    for number, text in sorted(lines.items()):
        if (fence := _FENCE.match(text)) is not None:
            is_inside = not is_inside
            is_told = is_inside and fence["shell"] is not None and before.endswith(":") and action != "run"
            is_told = is_told and is_of_action(before, action) and (not platform or says_platform(before, platform))
        elif is_inside and is_told and text.strip() and not text.lstrip().startswith("#"):
            name = path.rpartition("/")[2]
            yield GraphFact(name, "", "", path, number, certain=True, group="Documents", is_comment=True)
        elif text.strip():
            before = text.strip()


def _steps_called(path: str, lines: Mapping[int, str], action: str) -> Iterator[GraphFact]:
    """The first commands of those steps of a workflow whose names say an action."""
    for at, text in sorted(lines.items()):
        named = _SAYS_STEP.match(text)
        if named is None or not is_of_action(named["name"], action):
            continue
        for number in range(at + 1, at + _MOST_OF_A_STEP):
            below = lines.get(number, "")
            if (runs := _RUNS.match(below)) is not None:
                line = number if runs["command"] else number + 1
                yield GraphFact(path.rpartition("/")[2], "", "", path, line, True, group="Workflows", is_comment=True)
            if runs is not None or _SAYS_STEP.match(below):
                break


def _named(path: str, lines: Mapping[int, str], action: str) -> dict[int, str]:
    """The first line of a file that is called after the action → the file."""
    return {next((number for number, text in sorted(lines.items()) if text.strip()), 1): path.rpartition("/")[2]}


@cache
def _commands_of(action: str) -> re.Pattern[str]:
    wanted, _, platform = action.partition(" ")
    known = _ACTIONS[wanted]
    commands = "|".join(map(re.escape, known.commands.split(", "))) if known.commands else "(?!)"
    scripts = "|".join((*known.scripts.split(), *filter(None, [platform])))
    return re.compile(rf"(?<![\w#-])(?:{commands}|{_RUNNER}(?:{scripts or '(?!)'})(?![\w/.-]))")


def _scripts(path: str, lines: Mapping[int, str], action: str) -> dict[int, str]:
    """Line → the script, or the recipe of the target, whose name is one of the action; the shortest names first."""
    name = path.rpartition("/")[2].lower()
    is_make = not name.endswith(".json") and name not in _TASKS
    pattern = _TASK if name in _TASKS else _TARGET if is_make else _SCRIPT
    wanted, _, platform = action.partition(" ")
    names = {*_ACTIONS[wanted].scripts.split(), *filter(None, [platform])}
    found = []
    for number, text in lines.items():
        match = pattern.match(text)
        if match is not None and parts_of(match["name"])[:1] and parts_of(match["name"])[0] in names:
            recipe = lines.get(number + 1, "")
            found.append((len(match["name"]), number + bool(is_make and recipe.strip()), match["name"]))
    scripts = {number: name for _, number, name in sorted(found)}
    return scripts | (_commands(path, lines, action) if is_make else {}) | scripts


def scripts_listed(index: LabelIndex, *, of_packages: bool) -> Iterator[GraphFact]:
    """All scripts of the packages of the product, or the targets of its Makefiles, those nearest to the root first."""
    paths = [path for path in index.parts.shard().values("Path", index.scope()) if non_product_code(path) is None]
    named = [path for path in paths if path.rpartition("/")[2].lower() in _WITH_SCRIPTS]
    files = sorted((path for path in named if path.endswith(".json") == of_packages), key=from_the_root)
    for path, lines in sorted(lines_of(index, files).items(), key=lambda one: from_the_root(one[0])):
        inside = not of_packages
        for number, text in lines.items():
            found = (_SCRIPT if of_packages else _TARGET).match(text) if inside else None
            if found is not None:
                yield GraphFact(found["name"], "", "", path, number, certain=True, is_comment=True)
            if of_packages:
                inside = (inside or _SCRIPTS_OF.search(text) is not None) and "}" not in text


def build_targets(index: LabelIndex) -> Iterator[GraphFact]:
    """What a build that is written in FAKE, Cake or NUKE can do."""
    paths = [path for path in index.parts.shard().values("Path", index.scope()) if _BUILDS.search(path)]
    for path, lines in sorted(lines_of(index, paths).items(), key=lambda one: from_the_root(one[0])):
        for number, text in sorted(lines.items()):
            if (found := _BUILD_TARGET.match(text)) is not None:
                yield GraphFact(next(filter(None, found.groups())), "", "", path, number, True, is_comment=True)


def _headed_points(index: LabelIndex, documents: Sequence[str], action: str) -> tuple[str, ...]:
    """The first sections of documents that have a heading of the action; of a file that is called so any."""
    found = []
    place_of = {path: at for at, path in enumerate(documents)}
    payloads = sections_of(documents, index.parts.shard(), index.scope())
    for point, payload in payloads.items():
        path, text = payload["Path"], code_of(payload, index, ())
        if not text:
            continue
        of_file = is_called_as(path, action)
        headings = (one.title for one in headings_in(text, payload.get("CodeLanguage", "")))
        if of_file or any(is_of_action(title, action) for title in headings):
            found.append((not of_file, place_of[path], payload.get("StartLine", 0), point))
    return tuple(point for *_, point in sorted(found)[:_MOST_SECTIONS])


def is_of_action(heading: str, action: str) -> bool:
    """Whether what is below a heading tells how something is done, for `run docker` how with that."""
    if platform := action.partition(" ")[2]:
        return says_platform(heading, platform)
    words = WORD.findall(heading.lower())
    is_set_up = action == "install" and any(pair in _SET_UP for pair in pairwise(words))
    return is_set_up or not _ACTIONS[action].headings.isdisjoint(words)


def is_called_as(path: str, action: str) -> bool:
    """Whether the name of a file, as `CONTRIBUTING.md` is one, has no words but those of an action, or the platform."""
    name = path.rpartition("/")[2].partition(".")[0].lower()
    first, _, platform = action.partition(" ")
    words = re.split(r"[-_]+", name)
    return says_platform(" ".join(words), platform) if platform else _ACTIONS[first].headings.issuperset(words)


def is_of_folder_called_as(path: str, action: str) -> bool:
    """Whether a file tells what a folder is for that is called as an action, as `build/README.md` does."""
    return is_readme(path) and "/" in path and is_called_as(path.rpartition("/")[0].rpartition("/")[2], action)


def says_platform(text: str, platform: str) -> bool:
    """Whether a heading or a command is of a platform."""
    return _PLATFORMS[platform].search(text) is not None


def readme_first(path: str) -> tuple[bool, bool, int, str]:
    """The order of documents that tell how something is done."""
    name = path.rpartition("/")[2].lower()
    helps = name.startswith(("contribut", "develop", "install"))
    return not is_readme(path), not helps, path.count("/"), path
