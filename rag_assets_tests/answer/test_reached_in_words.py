"""What is reached through messages, and by tests of others; and who uses what a mapper keeps in tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "README.md": "# Lock\n\nLifts and lowers gates.\n",
    "src/Bus.cs": "using System;\nusing System.Threading.Tasks;\n\nnamespace Lock;\n\n"
    "public interface ICommandHandler<T>\n{\n    Task Handle(T command);\n}\n\n"
    "public interface ICommandBus\n{\n    Task Send<T>(T command);\n}\n\n"
    "public class CommandBus(IServiceProvider services) : ICommandBus\n{\n"
    "    public Task Send<T>(T command) => services.GetRequiredService<ICommandHandler<T>>().Handle(command);\n}\n",
    "src/Gates.cs": "using System.Threading.Tasks;\n\nnamespace Lock;\n\n"
    "public record LiftGate(int Id);\n\npublic record LowerGate(int Id);\n\n"
    "public class LiftGateHandler : ICommandHandler<LiftGate>\n{\n"
    "    public Task Handle(LiftGate command) => Task.FromResult(Winch.Turns(command.Id));\n}\n\n"
    "public class LowerGateHandler : ICommandHandler<LowerGate>\n{\n"
    "    public Task Handle(LowerGate command) => Task.CompletedTask;\n}\n\n"
    "public static class Winch\n{\n    public static int Turns(int gate) => gate * 12;\n}\n",
    "src/GatesController.cs": "using Microsoft.AspNetCore.Mvc;\n\nnamespace Lock;\n\n[ApiController]\n"
    '[Route("gates")]\npublic class GatesController(ICommandBus bus) : ControllerBase\n{\n    [HttpPost("lift")]\n'
    '    public Task Lift() => bus.Send(new LiftGate(1));\n\n    [HttpPost("lower")]\n'
    "    public Task Lower() => bus.Send(new LowerGate(1));\n}\n",
    "tests/GateTests.cs": "using Xunit;\n\nnamespace Lock.Tests;\n\npublic class LiftGateHandlerTests\n{\n    [Fact]\n"
    "    public Task Lifts() => new LiftGateHandler().Handle(new LiftGate(2));\n}\n",
    "web/boat.entity.ts": "import { Column, Entity } from 'typeorm';\n\n@Entity('boats')\nexport class BoatEntity {\n"
    "  @Column()\n  name: string;\n}\n",
    "web/boat.service.ts": "import { BoatEntity } from './boat.entity';\n\nexport class BoatService {\n"
    "  constructor(private readonly boats: Repository<BoatEntity>) {}\n\n"
    "  add(): BoatEntity {\n    return new BoatEntity();\n  }\n}\n",
}


@pytest.fixture(scope="module")
def lock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("lock"), FILES, "lock") as index:
        yield index


@pytest.mark.parametrize(
    "question", ["which endpoints use the lift gate handler?", "which endpoints lead to the lift gate command?"]
)
def test_who_sends_a_message_runs_its_handler_and_not_who_sends_another_one(lock: Index, question: str) -> None:
    told = lock.ask(question).text
    assert "**1 endpoint:**" in told
    assert "POST /gates/lift" in told


def test_tests_of_what_uses_it_run_what_no_test_names(lock: Index) -> None:
    told = lock.ask("which tests cover the winch class?").text
    assert "**No test names it; these run what uses it:**" in told
    assert "**LiftGateHandlerTests.Lifts** calls **LiftGateHandler.Handle**" in told


@pytest.mark.parametrize("question", ["who uses the boat entity?", "what breaks if I change the boats table?"])
def test_an_entity_without_a_resolver_is_used_where_code_names_it(lock: Index, question: str) -> None:
    told = lock.ask(question).text
    assert "**BoatService.add** creates **BoatEntity**" in told
    assert "**BoatService.constructor** names **BoatEntity**" in told


def test_users_of_the_product_are_told_of_what_a_hundred_tests_use(tmp_path: Path) -> None:
    tests = "".join(
        f"CREATE PROCEDURE SluiceTests.[test {at}] AS\nBEGIN\n  SELECT Id FROM dbo.Sluice;\nEND;\nGO\n"
        for at in range(99)
    )
    files = {
        "db/Sluice.sql": "CREATE TABLE dbo.Sluice (Id int);\n",
        "db/Report.sql": "CREATE PROCEDURE dbo.Report AS\nBEGIN\n  SELECT COUNT(*) FROM dbo.Sluice;\nEND;\n",
        "db/Zero.sql": "CREATE PROCEDURE dbo.Zero AS\nBEGIN\n  DELETE FROM dbo.Sluice;\nEND;\n",
        "tests/SluiceTests.sql": tests,
    }
    with opened_index(tmp_path, files, "sluices") as index:
        told = index.ask("what breaks if I change the sluice table?").text
    assert "**Report** reads from" in told and "**Zero** writes to" in told
    assert "**Tests that run it (99):**" in told


def test_tests_of_a_file_that_is_called_as_it_come_first(tmp_path: Path) -> None:
    def tests(schema: str) -> str:
        return f"CREATE PROCEDURE {schema}.[test it] AS\nBEGIN\n  EXEC dbo.LockLike 1;\nEND;\nGO\n"

    files = {
        "db/LockLike.sql": "CREATE PROCEDURE dbo.LockLike @Id int AS\nBEGIN\n  SELECT @Id;\nEND;\n",
        "tests/AnchorTests.class.sql": tests("AnchorTests"),
        "tests/LockLikeTests.class.sql": tests("LockLikeTests"),
    }
    with opened_index(tmp_path, files, "locks") as index:
        told = index.ask("which tests cover LockLike?").text
    assert "**These tests name it:**" in told
    assert 0 < told.index("tests/LockLikeTests.class.sql:3") < told.index("tests/AnchorTests.class.sql:3")
