"""Questions about languages of which the graph has the calls that names and types tell, and their text the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "README.md": "# Jobs\n\nRuns jobs.\n",
    "jobs/job.py": '''\
class Job:
    """A job of a queue."""

    def cancel(self):
        if self.is_done:
            raise CannotStop("it is done")


class CannotStop(Exception):
    pass


class NoSuchJobError(Exception):
    pass
''',
    "jobs/worker.py": '''\
from jobs.job import CannotStop, Job


class Worker:
    def stop(self, job):
        """Calls job.cancel(), and
        job.cancel() may raise CannotStop
        where it is done."""
        try:
            job.cancel()
        except CannotStop:
            log("cannot cancel it")


class Timer:
    def cancel(self):
        self.cancel_later()
''',
    "jobs/store.py": "from jobs.job import Job\n\n\nclass Repository:\n    def add(self, job): ...\n",
    "jobs/memory.py": "from jobs.store import Repository\n\n\nclass InMemory(Repository): ...\n",
    "jobs/main.py": "from jobs.store import Repository\n\n\ndef run(store: Repository):\n    store.add(1)\n",
    "web/Mailer.cs": "public class Mailer : IHttpHandler\n{\n    public bool IsReusable => true;\n}\n",
    "web/web.config": '<handlers>\n  <add path="mail.axd" type="Jobs.Mailer, Jobs" />\n</handlers>\n',
    "web/web.csproj": '<Project>\n  <ItemGroup>\n    <Compile Include="Mailer.cs" />\n  </ItemGroup>\n</Project>\n',
    "src/Reader.java": """\
package jobs;

class Reader {
    /**
     Will throw an UncheckedIOException if it fails.
     */
    int read() {
        throw new UncheckedIOException(cause);
    }
}
""",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("without-calls"), FILES, "jobs") as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("who calls Job.cancel?", ["jobs/worker.py:10"]),
        ("who uses Repository?", ["jobs/memory.py:4", "jobs/main.py:5"]),
        ("what implements Repository?", ["jobs/memory.py:4"]),
        ("who uses Mailer?", ["web/web.config:2"]),
        ("when is CannotStop raised?", ["jobs/job.py:6", "jobs/worker.py:11"]),
        ("where is UncheckedIOException thrown?", ["src/Reader.java:8"]),
        ("which exceptions are there?", ["jobs/job.py:9", "jobs/job.py:13"]),
    ],
)
def test_the_lines_that_do_it_are_told(index: Index, question: str, places: list[str]) -> None:
    """No docstring, no comment, no text in quotes, and no declaration of what is called so."""
    answer = index.ask(question)
    assert not answer.abstained
    told = [line for line in answer.text.splitlines() if line.startswith("- **")]
    assert [re.findall(r" in (\S+:\d+)", line)[0] for line in told] == places


def test_that_nothing_uses_a_member_is_said(index: Index) -> None:
    answer = index.ask("who calls Mailer.IsReusable?")
    assert answer.text.startswith("**Not sure.")
    assert answer.notes == ("no use of Mailer.IsReusable is known, and nothing else names it",)


def test_a_member_is_named_with_its_type(index: Index) -> None:
    assert "def cancel(self):" in index.ask("what is Job.cancel?").text.split("Timer")[0]


def test_cases_of_a_type_are_told_also_where_they_are_inside_of_it(tmp_path: Path) -> None:
    names = [f"Step{number}" for number in range(10)]
    text = (
        "sealed class Step(val id: Int) {\n" + "".join(f"  class {one}(id: Int) : Step(id)\n" for one in names) + "}\n"
    )
    with opened_index(tmp_path, {"Step.kt": text}, "jobs") as index:
        told = index.ask("which classes inherit from Step?").text
    assert re.findall(r"- \*\*(\w+)\*\* probably inherits \*\*Step\*\*", told) == names
