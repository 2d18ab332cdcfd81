"""Components of Razor are classes that others show, and what they declare is listed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "Web/Web.csproj": '<Project Sdk="Microsoft.NET.Sdk.Web"></Project>\n',
    "Web/_Imports.razor": "@using System\n@attribute [Authorize]\n@inject ILogger Log\n",
    "Web/App.razor": '<Router>\n  <AuthorizeRouteView DefaultLayout="@typeof(MainLayout)" />\n</Router>\n',
    "Web/MainLayout.razor": "@inherits LayoutComponentBase\n<StampBook />\n@Body\n",
    "Web/Pages/Parcels.razor": """\
@page "/parcels"
@page "/parcels/{Id:int}"
@attribute [Authorize(Policy = "Clerks")]
@rendermode InteractiveWebAssembly
@inject IParcels Parcels
@inject IJSRuntime JS
<PageTitle>Parcels</PageTitle>
<ParcelCard Parcel="one" OnSent="Reload" />
@code {
    [Parameter] public int Id { get; set; }
    async Task Reload() => await JS.InvokeVoidAsync("map.draw");
}
""",
    "Web/Pages/Login.razor": '@page "/login"\n@attribute [AllowAnonymous]\n@layout MainLayout\n<p>Log in</p>\n',
    "Web/Areas/Stamps.cshtml.cs": "[Authorize]\npublic class StampsModel : PageModel\n{\n}\n",
    "Web/Shared/ParcelCard.razor": """\
<p @onclick="Send">@Parcel.Name</p>
@code {
    [Parameter, EditorRequired]
    public Parcel Parcel { get; set; } = new();

    [Parameter] public EventCallback<Parcel> OnSent { get; set; }
    [CascadingParameter] private Theme? Theme { get; set; }
}
""",
    "Web/Shared/AddParcelModal.razor": "<EditForm Model=\"Model\" />\n",
    "Web/Shared/AddParcelModal.razor.cs": """\
namespace Web.Shared;

public partial class AddParcelModal
{
    [Inject] private IParcels Parcels { get; set; }
    [Parameter] public Parcel Model { get; set; }
}
""",
    "Web/Shared/StampBook.razor": "@typeparam TStamp\n<p>stamps</p>\n",
    "Web/Dialogs.cs": """\
namespace Web;

public class Dialogs
{
    public void Add(IDialogService service) => service.Show<Shared.AddParcelModal>("Add");
}
""",
    "Web/Shared/LetterCard.razor": "@inherits CardBase\n@code {\n"
    "    [Parameter] public string Sender { get; set; }\n}\n",
    "Web/Shared/CardBase.cs": """\
namespace Web.Shared;

public abstract class CardBase : ComponentBase
{
    [Parameter] public string Colour { get; set; }
}
""",
    "Web.Tests/StampBookTests.cs": """\
namespace Web.Tests;

public class StampBookTests : TestContext
{
    [Fact]
    public void Shows_stamps() => RenderComponent<Web.Shared.StampBook>();
}
""",
    "Web/Parcels.cs": """\
namespace Web;

public interface IParcels { }
public class ParcelsController : ControllerBase
{
    public ParcelsController(IParcels parcels) { }
}
""",
}  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("razor"), FILES, "post") as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("which parameters does the parcel card component take?", ["**2 parameters:**", "Card.razor:4", "razor:6"]),
        ("which parameters does AddParcelModal have?", ["**1 parameter:**", "AddParcelModal.razor.cs:6"]),
        ("which event callbacks does the parcel card expose?", ["**1 event callback:**", "ParcelCard.razor:6"]),
        ("which cascading parameters are there?", ["**1 cascading parameter:**", "ParcelCard.razor:7"]),
        (
            "which services are injected into the parcels page?",
            ["**3 injected services:**", "Parcels.razor:5", "Parcels.razor:6", "_Imports.razor:3"],
        ),
        ("what services does the parcel modal inject?", ["AddParcelModal.razor.cs:5", "_Imports.razor:3"]),
        ("which components run as WebAssembly?", ["**1 render mode:**", "Parcels.razor:4"]),
        ("which pages can be opened without logging in?", ["**1 open page:**", "Login.razor:2"]),
        ("which pages need a login?", ["**3 protected pages:**", "Parcels.razor:3", "_Imports.razor:2", "Stamps"]),
        ("which policy protects the parcels page?", ["**2 access rules:**", "Parcels.razor:3", "_Imports.razor:2"]),
        ("which components does the parcels page contain?", ["**1 component:**", "Parcels.razor:8"]),
        ("which layout does the login page use?", ["**1 layout:**", "Login.razor:3"]),
        ("which generic components are there?", ["**1 generic component:**", "StampBook.razor:1"]),
        ("which components are there?", ["**6 Razor components:**", "ParcelCard.razor:1", "StampBook.razor:1"]),
        ("which parameters does LetterCard have?", ["**2 parameters:**", "LetterCard.razor:3", "CardBase.cs:5"]),
        ("list all pages with their routes", ["**3 pages:**", "Parcels.razor:1", "Parcels.razor:2", "Login.razor:1"]),
    ],
)  # fmt: skip
def test_what_a_component_declares_is_listed(index: Index, question: str, told: list[str]) -> None:
    answer = index.ask(question, options=AskOptions()).text
    assert [one for one in told if one not in answer] == []


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("where is the parcel card component used?", "Web/Pages/Parcels.razor:8"),
        ("who uses StampBook?", "Web/MainLayout.razor:2"),
        ("where is the add parcel modal opened?", "Web/Dialogs.cs:5"),
        ("which tests cover the stamp book component?", "Web.Tests/StampBookTests.cs:6"),
        ("what breaks if I change MainLayout?", "Web/Pages/Login.razor:3"),
    ],
)
def test_who_shows_a_component_is_told(index: Index, question: str, told: str) -> None:
    assert told in index.ask(question, options=AskOptions()).text


@pytest.mark.parametrize(
    "question",
    [
        "which services are injected into ParcelsController?",
        "which parameters does the parcel query take?",
        "which layout is used on phones?",
        "which pages need a refresh token?",
        "which components use the parcel queue?",
    ],
)
def test_what_is_no_component_is_not_taken_for_one(index: Index, question: str) -> None:
    answer = index.ask(question, options=AskOptions()).text
    headings = ("injected service", "parameter", "layout", "protected page", "component")
    assert not any(f" {one}:**" in answer or f" {one}s:**" in answer for one in headings)
