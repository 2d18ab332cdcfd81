"""Sender → message ← handler, of MediatR, MassTransit and NServiceBus."""

from __future__ import annotations

import pytest

from rag_assets.contracts.graph import GraphEdge
from rag_assets.graph.extract.messages import messages
from rag_assets_tests.graph.chains import edges_by, found_by

MESSAGES = "namespace Shop; public record Ship(int Id); public class Shipped { } public interface IMark { }"


def found(text: str) -> list[str]:
    return edges_by(messages, {"Messages.cs": MESSAGES, "a.cs": f"namespace Shop; {text}"})


@pytest.mark.parametrize(
    ("text", "edge"),
    [
        ("class H : IRequestHandler<Ship, int> { public Task<int> Handle(Ship s, CancellationToken c) => null; }",
         "Shop.H.Handle(Ship,CancellationToken)|METHOD Handles Shop.Ship|TYPE resolved"),
        ("class H : IConsumer<Shipped> { public Task Consume(ConsumeContext<Shipped> c) => null; }",
         "Shop.H.Consume(ConsumeContext<Shipped>)|METHOD Handles Shop.Shipped|TYPE resolved"),
        ("class H : IConsumer<Batch<Shipped>> { public Task Consume(ConsumeContext<Batch<Shipped>> c) => null; }",
         "Shop.H.Consume(ConsumeContext<Batch<Shipped>>)|METHOD Handles Shop.Shipped|TYPE resolved"),
        ("class H : IHandleMessages<Ship> { public Task Handle(Ship m, IMessageHandlerContext c) => null; }",
         "Shop.H.Handle(Ship,IMessageHandlerContext)|METHOD Handles Shop.Ship|TYPE resolved"),
        ("class H : IAmStartedByMessages<Ship> { public Task Handle(Ship m, IMessageHandlerContext c) => null; }",
         "Shop.H.Handle(Ship,IMessageHandlerContext)|METHOD Handles Shop.Ship|TYPE resolved"),
        ("class S : ISaga, InitiatedBy<Ship> { public Task Consume(ConsumeContext<Ship> c) => null; }",
         "Shop.S.Consume(ConsumeContext<Ship>)|METHOD Handles Shop.Ship|TYPE resolved"),
        ("class M : MassTransitStateMachine<State> { public Event<Shipped> Done { get; private set; } }",
         "Shop.M|TYPE Handles Shop.Shipped|TYPE resolved"),
        ("static class F { public class H : IRequestHandler<Ship> { public Task Handle(Ship s) => null; } }",
         "Shop.F.H.Handle(Ship)|METHOD Handles Shop.Ship|TYPE resolved"),
        ("class ShipHandler { public void Handle(Ship s, IClock clock) { } }",
         "Shop.ShipHandler.Handle(Ship,IClock)|METHOD Handles Shop.Ship|TYPE probable"),
        ("class TakeNote : IShopHandler<Ship> { public Task HandleAsync(Ship s) => null; }",
         "Shop.TakeNote.HandleAsync(Ship)|METHOD Handles Shop.Ship|TYPE probable"),
        ("abstract class B<T> : INotificationHandler<T> { public Task Handle(T t) => null; } class H : B<Shipped> { }",
         "Shop.H|TYPE Handles Shop.Shipped|TYPE resolved"),
        ('class Api : ControllerBase { [HttpPost("shipped"), Topic("pubsub", "shipped")] '
         "public Task Note(CloudEvent<Shipped> s) => null; }",
         "Shop.Api.Note(CloudEvent<Shipped>)|METHOD Handles Shop.Shipped|TYPE resolved"),
        ('class Api { [Function("f")] public void Run(ILogger log, [ServiceBusTrigger("q")] Ship ship) { } }',
         "Shop.Api.Run(ILogger,Ship)|METHOD Handles Shop.Ship|TYPE resolved"),
    ],
    ids=["mediatr", "masstransit", "batch", "nservicebus", "nservicebus-saga", "saga", "state-machine", "nested",
         "convention", "interface-of-ones-own", "generic-base", "attribute", "attribute-of-parameter"],
)  # fmt: skip
def test_handlers(text: str, edge: str) -> None:
    assert found(text) == [edge]


def test_each_message_has_its_own_method() -> None:
    text = """class H : IHandle<Ship>, IHandler<Ship>, IHandler<Shipped>
    { public void Handle(Ship s) { } public void Handle(Shipped s) { } }"""
    assert found(text) == [
        "Shop.H.Handle(Ship)|METHOD Handles Shop.Ship|TYPE resolved",
        "Shop.H.Handle(Shipped)|METHOD Handles Shop.Shipped|TYPE resolved",
    ]


@pytest.mark.parametrize(
    ("members", "body", "message"),
    [
        ("IMediator _m;", "await _m.Send(new Ship(1));", "Ship resolved"),
        ("ISender sender;", "await sender.Send(ship);", "Ship resolved"),
        ("IPublishEndpoint _p;", "await _p.Publish<Shipped>(new { Id = 1 });", "Shipped resolved"),
        ("IBus _bus;", "var m = new Shipped(); await _bus.Publish(m);", "Shipped resolved"),
        ("IRequestClient<Ship> _c;", "await _c.GetResponse<Shipped>(new { });", "Ship resolved"),
        ("Services s; class Services { public IMediator Mediator { get; } }", "s.Mediator.Send(ship);",
         "Ship resolved"),
        ("", "Mediator.Send(new Ship(1));", "Ship probable"),
        ("", "AddDomainEvent(new Shipped());", "Shipped probable"),
        ("Socket _s;", "_s.Send(new Ship(1));", ""),
        ("HttpClient sender;", "sender.Send(new Ship(1));", ""),
        ("IMediator _m;", 'await _m.Send("text");', ""),
        ("IMediator _m;", "// _m.Send(new Ship(1));", ""),
    ],
    ids=["constructed", "parameter", "type-argument", "local", "request-client", "property-path", "inherited-sender",
         "domain-event", "socket", "named-like-a-sender", "no-message", "comment"],
)  # fmt: skip
def test_senders(members: str, body: str, message: str) -> None:
    text = f"class A : Base {{ {members} public async Task Do(Ship ship) {{ {body} }} }}"
    name, _, confidence = message.partition(" ")
    wanted = [f"Shop.A.Do(Ship)|METHOD References Shop.{name}|TYPE {confidence}"] if message else []
    assert found(text) == wanted


@pytest.mark.parametrize(
    "text",
    ["class M { public Task Invoke(HttpContext c) => null; }", "interface IH : IRequestHandler<Ship> { }",
     "class A { public void Handle(Ship s) { } }", "class H : IRequestHandler<", "class H<T> : IRequestHandler<T> { }"],
    ids=["middleware", "interface", "any-class", "broken", "open-generic"],
)  # fmt: skip
def test_what_handles_nothing(text: str) -> None:
    assert found(text) == []


def test_a_state_machine_sends_from_its_activities() -> None:
    text = """class M : MassTransitStateMachine<State>
    {
        public M() { Initially(When(A).Publish(c => new Shipped()).SendAsync(Where, c => c.Init<Ship>(new { }))); }
    }"""
    assert found(text) == [
        "Shop.M.M()|METHOD References Shop.Shipped|TYPE resolved",
        "Shop.M.M()|METHOD References Shop.Ship|TYPE resolved",
    ]


WRAPPED = """public interface IWraps<T, R> : IRequest<R> where T : IRequest<R> { }
    public class Wrapped<T, R> : IWraps<T, R> where T : IRequest<R> { public T Inner; }
    public record Stop(int Id) : IRequest<bool>; public class Box { } public record StopCommand(int Id); """


@pytest.mark.parametrize(
    ("argument", "inner"),
    [("Stop", ["Shop.Stop"]), ("StopCommand", ["Shop.StopCommand"]), ("Box", []), ("Guid", [])],
    ids=["implements", "named", "no-message", "of-a-library"],
)
def test_a_wrapped_message_is_sent_too(argument: str, inner: list[str]) -> None:
    body = f"var w = new Wrapped<{argument}, bool>(x); await _m.Send(w);"
    text = f"{WRAPPED} class A {{ IMediator _m; public async Task Do() {{ {body} }} }}"
    assert found(text) == [
        *(f"Shop.A.Do()|METHOD References {name}|TYPE probable" for name in inner),
        "Shop.A.Do()|METHOD References Shop.Wrapped`2|TYPE resolved",
    ]


def test_a_handler_of_one_case_of_a_generic_message_is_probable() -> None:
    text = f"""{WRAPPED}
    abstract class Base<T, R> : IRequestHandler<Wrapped<T, R>, R> {{ public Task<R> Handle(Wrapped<T, R> w) => null; }}
    class ByBase : Base<Stop, bool> {{ }}
    class Direct : IRequestHandler<Wrapped<Stop, bool>, bool> {{ }}"""
    assert found(text) == [
        "Shop.Base`2.Handle(Wrapped<T,R>)|METHOD Handles Shop.Wrapped`2|TYPE resolved",
        "Shop.ByBase|TYPE Handles Shop.Wrapped`2|TYPE probable",
        "Shop.Direct|TYPE Handles Shop.Wrapped`2|TYPE probable",
    ]


ABOVE = pytest.mark.parametrize(
    "above",
    ["", "/// <summary>Handle (all) of H :</summary>\n", '[Obsolete("Handle( H :")]\n'],
    ids=["", "doc", "attribute"],
)


@ABOVE
def test_a_handler_is_where_its_method_is_named(above: str) -> None:
    text = f"namespace Shop;\nclass H : IRequestHandler<Ship>\n{{\n{above}public Task Handle(\n  Ship s)\n{{\n}}\n}}"
    assert _lines(text) == [text.partition("public")[0].count("\n") + 1]


@ABOVE
def test_a_handler_without_its_method_is_where_it_is_named(above: str) -> None:
    text = f"namespace Shop;\n\n{above}class H : IRequestHandler<Ship>\n{{\n}}"
    assert _lines(text) == [text.partition("class")[0].count("\n") + 1]


def test_an_event_of_a_state_machine_is_where_it_is_named() -> None:
    text = "namespace Shop;\nclass M : MassTransitStateMachine<S>\n{\npublic Event<Shipped> Done\n{\nget;\n}\n}"
    assert _lines(text) == [4]


def _lines(text: str) -> list[int]:
    edges = found_by(messages, {"Messages.cs": MESSAGES, "a.cs": text})
    return [edge.line for edge in edges if isinstance(edge, GraphEdge)]
