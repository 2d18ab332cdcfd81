"""Services of gRPC, hubs of SignalR, topics and components of Dapr, and scripts that components call are listed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets.answer.plans.marked import Marked, marked_asked
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "proto/post.proto": """\
syntax = "proto3";
service Post {
  rpc Send (Letter) returns (Receipt);
  rpc SendAll (stream Letter) returns (Receipt);
  rpc Track (Receipt) returns (stream Step);
  rpc Talk (stream Step) returns (stream Step);
}
service Stamps {
  rpc Buy (Letter) returns (Receipt);
}
""",
    "src/Office/Program.cs": 'var app = builder.Build();\napp.MapHub<ParcelHub>("/hubs/parcels");\napp.Run();\n',
    "src/Office/OfficeController.cs": """\
namespace Office;

public class OfficeController
{
    [HttpPost("sent")]
    [Topic("letters", "LetterSent")]
    public Task SentAsync(Letter letter) => null;
}
""",
    "src/Depot/DepotController.cs": """\
namespace Depot;

public class DepotController
{
    [Topic("letters", "LetterLost")]
    public Task LostAsync(Letter letter) => null;
}
""",
    "src/Office/ParcelForm.cs": """\
namespace Office;

public class ParcelForm
{
    [Required]
    public string Sender { get; set; }
}
""",
    "src/Client/Tracking.razor": """\
@inject IJSRuntime Js
<p>Tracking</p>
@code {
    async Task Start()
    {
        hubConnection.On<Step>("StepDone", OnStep);
        await Js.InvokeVoidAsync("map.draw", 1);
    }
}
""",
    "src/Client/Book.cs": 'public class Book\n{\n    public Task Scroll() => js.InvokeVoidAsync("map.draw");\n}\n',
    "dapr/letters.yaml": "apiVersion: dapr.io/v1alpha1\nkind: Component\nmetadata:\n  name: letters\n",
    "compose.yml": "services:\n  queue:\n    image: rabbitmq:3\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("messages"), FILES, "post") as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "heading", "places"),
    [
        ("which gRPC services are there?", "**2 gRPC services:**", ["post.proto:2", "post.proto:8"]),
        ("which rpc methods are bidirectional streaming?", "**1 gRPC method:**", ["post.proto:6"]),
        ("which client streaming rpc methods are there?", "**1 gRPC method:**", ["post.proto:4"]),
        ("which gRPC methods are server streaming?", "**1 gRPC method:**", ["post.proto:5"]),
        ("which gRPC methods are unary?", "**2 gRPC methods:**", ["post.proto:3", "post.proto:9"]),
        ("which gRPC methods are there?", "**5 gRPC methods:**", ["post.proto:3"]),
        ("on which URL does the parcel hub listen?", "**1 hub address:**", ["Program.cs:2"]),
        ("which SignalR hubs are there?", "**1 hub address:**", ["Program.cs:2"]),
        ("which hub methods does the client listen to?", "**1 hub message handler:**", ["Tracking.razor:6"]),
        ("which JavaScript functions does the app call?", "**1 JavaScript function:**", ["Book.cs:3"]),
        ("which topics are there?", "**2 topics:**", ["OfficeController.cs:6", "DepotController.cs:5"]),
        ("which topics does the depot subscribe to?", "**1 topic:**", ["DepotController.cs:5"]),
        ("which Dapr components are configured?", "**1 component:**", ["letters.yaml:2"]),
        ("which container images does docker compose start?", "**Images in compose files:**", ["compose.yml:3"]),
        ("which fields of the parcel form are required?", "**1 rule:**", ["ParcelForm.cs:5"]),
        ("what does the parcel form validate?", "**1 rule:**", ["ParcelForm.cs:5"]),
    ],
)  # fmt: skip
def test_what_services_say_to_each_other_is_listed(
    index: Index, question: str, heading: str, places: list[str]
) -> None:
    told = index.ask(question, options=AskOptions()).text
    assert heading in told
    assert [one for one in places if one not in told] == []


@pytest.mark.parametrize(
    ("question", "marked"),
    [
        ("which services are there?", None),
        ("how does the gRPC service start?", None),
        ("which JavaScript files are there?", None),
        ("which JavaScript frameworks are used?", None),
        ("which gRPC services does the office call?", None),
        ("which messages does the client receive from the queue?", None),
        ("which methods can a client call on the hub?", None),
        ("which route leads to the parcel page?", None),
        ("what is the path of the hub?", Marked.HUBS),
    ],
)
def test_only_what_is_asked_for_is_listed(question: str, marked: Marked | None) -> None:
    assert marked_asked(question) is marked
