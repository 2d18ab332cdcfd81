"""What runs without being called is listed as code says it: by a schedule that it gives, or by a worker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index
from rag_assets.answer.question_analysis import listed_noun
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "post/tasks.py": "@shared_task(bind=True)\ndef deliver(self, letter):\n    letter.send()\n\n\n"
    "@app.task\ndef burn(letter):\n    letter.burn()\n\n\ndef fold(letter):\n    letter.fold()\n",
    "post/settings.py": """\
def beat_schedule():
    return [
        {
            "name": "Empty the box",
            "default": "30 0 * * sun",
        },
    ]
""",
    "cmd/cron/cron.go": """\
package cron

func Start() {
	c.AddFunc("Count stamps", conf.Cron.CountStamps.Schedule, stamps.Count)
	c.AddFunc("Sort letters", conf.Cron.SortLetters.Schedule, letters.Sort)
	queue.AddFunc(letter, letters.Sort)
}
""",
    "post/schedules.py": """\
def set_up_schedules():  # with the cleanup
    schedules = [
        {
            "name": "clean_up_db",
            "func": "post.tasks.clean",
            "cron": f"*/{EVERY} * * * *",
        },
        {
            "name": "count_birds",
            "func": "post.tasks.count",
            "cron": weekly("count_birds"),
        },
    ]
    for job in schedules:
        Schedule.create(name=job["name"], cron=job["cron"])


BEAT = {
    "wash-windows": {"task": "post.tasks.wash"},
    "paint-the-door": {
        "task": "post.tasks.paint",
        "schedule": crontab(hour=4),
    },
}
""",
    "cmd/cron/vacuum.go": """\
package cron

func InitCron(db *DB) {
	c := cron.New()
	_, err := c.Add(interval, func() {
		lo.Println("vacuum")
		VacuumTables(db)
	})
}
""",
    "tools/cron/macros.go": 'package cron\n\nvar macros = map[string]string{\n\t"@yearly": "0 0 1 1 *",\n}\n',
    "web/presets.js": 'export const PRESETS = [\n  { cron: "0 0 * * *", label: "Every day" },\n];\n',
    "conf/app.ini": "[cron.count_stamps]\nSCHEDULE = @every 10m\n",
    "jobs/sweep.ts": """\
export const SWEEP_ID = 'post.sweep';

export const SWEEP = {
  name: 'Sweep the floor',
  trigger: { id: SWEEP_ID },
  cron: '*/15 * * * *',
};
""",
    "src/Doors.java": "package post;\n\npublic class Doors {\n    public void start() {\n"
    "        executor.scheduleAtFixedRate(new Closer(), 10, 10, TimeUnit.SECONDS);\n    }\n}\n",
    "src/Nightly.cs": """\
namespace Post;

public class Nightly
{
    public void Plan()
    {
        RecurringJob.AddOrUpdate(WeighId,
            () => _scales.WeighParcels(),
            "0 3 * * *");
        RecurringJob.AddOrUpdate(RingId, () => RingBells(false),
            Cron.Weekly);
    }
}
""",
    "src/Crons.cs": """\
namespace Post;

public static class Crons
{
    public const string Daily = "0 0 * * *";

    public static string Of(string schedule) => schedule == "rare" ? "0 0 1 1 *" : Daily;

    public static string Guessed(string schedule)
    {
        return "0 * * * *";
    }
}
""",
    "web/CronInput.tsx": 'export const CronInput = () => <input placeholder="0 0 * * *" />;\n',
    ".github/workflows/stale.yml": 'name: Stale\non:\n  schedule:\n    - cron: "0 8 * * *"\n',
}
WORKFLOW = {path: text for path, text in FILES.items() if path.startswith((".github", "web"))}


@pytest.fixture(scope="module")
def post(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("jobs"), FILES, "post") as index:
        yield index


def test_jobs_are_told_with_the_schedule_that_code_and_configuration_give_them(post: Index) -> None:
    told = post.ask("which jobs run on a schedule and how often?", options=AskOptions()).text
    names = [line.partition("** in ")[::2] for line in told.splitlines() if line.startswith("- ")]
    assert told.startswith("**12 scheduled jobs:**")
    assert {name.removeprefix("- **"): place.partition(": ")[0] for name, place in names} == {
        "Count stamps": "cmd/cron/cron.go:4",
        "Sort letters": "cmd/cron/cron.go:5",
        "cron.count_stamps": "conf/app.ini:2",
        "Sweep the floor": "jobs/sweep.ts:6",
        "Empty the box": "post/settings.py:5",
        "clean_up_db": "post/schedules.py:6",
        "count_birds": "post/schedules.py:11",
        "post.tasks.paint": "post/schedules.py:22",
        "VacuumTables": "cmd/cron/vacuum.go:5-8",
        "Doors.start": "src/Doors.java:5",
        "WeighParcels": "src/Nightly.cs:7-9",
        "RingBells": "src/Nightly.cs:10-11",
    }
    assert 'RecurringJob.AddOrUpdate(WeighId, () => _scales.WeighParcels(), "0 3 * * *");' in told


def test_when_a_recurring_job_runs_is_told_by_what_gives_it_a_schedule(post: Index) -> None:
    for question in ("how often are parcels weighed?", "when does the job that weighs parcels run?"):
        assert '() => _scales.WeighParcels(), "0 3 * * *");' in post.ask(question, options=AskOptions()).text
    told = post.ask("when does the db cleanup run?", options=AskOptions()).text
    assert told.startswith("**How often:**\n- **clean_up_db** in post/schedules.py:6")


@pytest.mark.parametrize("question", ["which background jobs are there?", "which background jobs run?"])
def test_background_jobs_are_also_what_workers_run(post: Index, question: str) -> None:
    told = post.ask(question, options=AskOptions()).text
    assert told.startswith("**13 background jobs:**")
    assert "deliver** in post/tasks.py:1: `@shared_task(bind=True)`" in told and "Sweep the floor" in told


def test_tasks_of_celery_are_those_that_it_runs(post: Index) -> None:
    told = post.ask("which celery tasks are there?", options=AskOptions()).text
    assert told.startswith("**2 background jobs:**") and "burn" in told and "fold" not in told


def test_workflows_of_integration_are_no_background_jobs(tmp_path: Path) -> None:
    with opened_index(tmp_path, WORKFLOW, "post") as index:
        assert "Stale** in" in index.ask("which cron jobs are there?", options=AskOptions()).text
        for question in ("which background jobs are there?", "which celery tasks are there?"):
            assert "Stale** in" not in index.ask(question, options=AskOptions()).text


@pytest.mark.parametrize(
    ("question", "noun"),
    [
        ("which background tasks run on a schedule?", "background task"),
        ("what jobs are run by cron and when?", "scheduled job"),
        ("which jobs run in the pipeline?", ""),
    ],
)
def test_what_runs_by_a_schedule_is_a_list(question: str, noun: str) -> None:
    assert listed_noun(question)[0] == noun
