"""Markup, settings and Razor use the types and the members that they name."""

from __future__ import annotations

import time

import pytest

from rag_assets.graph.extract.registry import csharp, markup

from .chains import edges_by

CODE = {
    "Mailer.cs": "namespace Shop.Web;\npublic class Mailer : IHttpHandler\n{\n"
    "    public void ProcessRequest(HttpContext c) { }\n}\n",
    "Orders.aspx.cs": "public partial class Orders : Page { protected void Save_Click(object s, EventArgs e) { } }\n",
    "MainWindow.xaml.cs": "namespace Shop.Desktop;\npublic partial class MainWindow : Window\n{\n"
    "    void Save_Click(object s, RoutedEventArgs e) { }\n    string Title;\n}\n",
    "OrderView.cs": "namespace Shop.Desktop.Views;\npublic class OrderView : UserControl { }\n",
}
ORDERS, WINDOW = "Orders.Save_Click(object,EventArgs)|METHOD", "MainWindow.Save_Click(object,RoutedEventArgs)|METHOD"


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        (
            "app.config",
            '<add verb="*" path="a.axd" type="Shop.Web.Mailer, Shop" />\n<!-- <add type="Shop.Web.Mailer" /> -->\n',
            ["file:app.config|FILE UsesType Shop.Web.Mailer|TYPE resolved"],
        ),
        (
            "src/Web.Config",
            '<add verb="*" path="mail.axd" type="Shop.Web.Mailer, Shop" />\n<add verb="*" path="mail.axd" name="Mail"'
            ' type="Shop.Web.Mailer, Shop" />\n<add verb="GET,post" path="/m/*.axd" type="Shop.Web.Mailer" />\n'
            '<add name="Mailer" type="Shop.Web.Mailer, Shop" />\n<add verb="*" path="other.axd" type="Orders" />\n',
            [
                "Shop.Web.Mailer.ProcessRequest(HttpContext)|METHOD Exposes http:ANY /mail.axd|ENDPOINT resolved",
                "Shop.Web.Mailer.ProcessRequest(HttpContext)|METHOD Exposes http:GET /m/*.axd|ENDPOINT resolved",
                "Shop.Web.Mailer.ProcessRequest(HttpContext)|METHOD Exposes http:POST /m/*.axd|ENDPOINT resolved",
                "file:src/Web.Config|FILE UsesType Shop.Web.Mailer|TYPE resolved",
            ],
        ),
        (
            "Orders.aspx",
            '<%@ Page Inherits="Orders" %>\n<asp:Button class="Mailer" OnClick="Save_Click" Text="Send" />\n',
            [f"file:Orders.aspx|FILE Calls {ORDERS} resolved", "file:Orders.aspx|FILE UsesType Orders|TYPE resolved"],
        ),
        (
            "Mail.ashx",
            '<%@ WebHandler Language="C#" Class="Shop.Web.Mailer" %>\n',
            ["file:Mail.ashx|FILE UsesType Shop.Web.Mailer|TYPE resolved"],
        ),
        (
            "MainWindow.xaml",
            '<Window x:Class="Shop.Desktop.MainWindow" xmlns:v="clr-namespace:Shop.Desktop.Views">\n'
            '  <Button Click="Save_Click" Content="Title" />\n  <v:OrderView />\n  <v:Other />\n</Window>\n',
            [
                f"file:MainWindow.xaml|FILE Calls Shop.Desktop.{WINDOW} resolved",
                "file:MainWindow.xaml|FILE UsesType Shop.Desktop.MainWindow|TYPE resolved",
                "file:MainWindow.xaml|FILE UsesType Shop.Desktop.Views.OrderView|TYPE resolved",
            ],
        ),
        ("web.config", '<input type="Mailer" class="Orders" /><a type="No.Such.Type" /><a type="', []),
        ("README.md", 'type="Shop.Web.Mailer"', []),
    ],
    ids=["settings", "handlers", "web-forms", "directive", "xaml", "nothing", "prose"],
)
def test_what_is_named_is_used(path: str, text: str, found: list[str]) -> None:
    assert edges_by(markup, {**CODE, path: text}) == found


@pytest.mark.parametrize(
    "text", ["<!--" * 200_000, "type" * 200_000, 'a.b="c" ' * 50_000, "x:A " * 100_000, '="' * 200_000]
)
def test_no_text_takes_long(text: str) -> None:
    begin = time.process_time()
    assert edges_by(markup, {**CODE, "a.xml": f'<a x:Class="Orders" xmlns:x="using:Shop" {text}'}, "Calls") == []
    assert time.process_time() - begin < 3


PAGE = """\
@page "/orders"
@using Shop.Web
@inject IOrders Orders
@inject IOptions<ShopOptions> Options
@* @inject Mailer Mailer *@
<h1>@Options.Value.Title of Order</h1>
<p>@Prices.Shown(order.Total) @Last.Total</p>
@code {
    private Order Last { get; set; } = new("Order.Total");
    protected async Task Load() => Last = await Orders.FindAsync<Order>(1);
}
"""
PAGE_CODE = {
    "Code.cs": "namespace Shop.Web;\npublic interface IOrders { Task<T> FindAsync<T>(int id); }\n"
    "public class Order { public decimal Total { get; set; } }\n"
    "public class ShopOptions { public string Title { get; set; } }\n"
    "public static class Prices { public static string Shown(decimal value) => null; }\n"
    "public class Mailer { }\n",
    "Other.cs": "namespace Other;\npublic class Orders { }\n",
}


def test_a_razor_page_uses_what_its_code_names() -> None:
    assert edges_by(markup, {**PAGE_CODE, "Orders.razor": PAGE}) == [
        "file:Orders.razor|FILE Calls Shop.Web.IOrders.FindAsync(int)|METHOD resolved",
        "file:Orders.razor|FILE Calls Shop.Web.Prices.Shown(decimal)|METHOD resolved",
        "file:Orders.razor|FILE Contains Orders|TYPE resolved",
        "file:Orders.razor|FILE References Shop.Web.Order.Total|PROPERTY resolved",
        "file:Orders.razor|FILE References Shop.Web.ShopOptions.Title|PROPERTY resolved",
        "file:Orders.razor|FILE UsesType Shop.Web.IOrders|TYPE resolved",
        "file:Orders.razor|FILE UsesType Shop.Web.Order|TYPE resolved",
        "file:Orders.razor|FILE UsesType Shop.Web.ShopOptions|TYPE resolved",
    ]


def test_a_component_is_a_class_of_its_folder_that_tags_use() -> None:
    project = "<Project><PropertyGroup><RootNamespace>Shop.Web</RootNamespace></PropertyGroup></Project>"
    files = {
        "web/Web.csproj": project,
        "web/Parts/Stamp.razor": "<p>@Name</p>\n",
        "web/Parts/Seal.razor": "@namespace Other\n<Stamp />\n",
        "web/Parts/Card.razor": "<b />\n",
        "web/Parts/Card.razor.cs": "namespace Shop.Elsewhere;\npublic partial class Card { }\n",
        "web/Page.razor": "<Stamp />\n@* <Seal /> *@\n<Other.Seal>List<Card></Other.Seal>\n<Card/>\n<Nothing />\n",
    }
    assert edges_by(markup, files) == [
        "file:web/Page.razor|FILE Contains Shop.Web.Page|TYPE resolved",
        "file:web/Page.razor|FILE UsesType Other.Seal|TYPE resolved",
        "file:web/Page.razor|FILE UsesType Shop.Elsewhere.Card|TYPE resolved",
        "file:web/Page.razor|FILE UsesType Shop.Web.Parts.Stamp|TYPE resolved",
        "file:web/Parts/Card.razor|FILE Contains Shop.Elsewhere.Card|TYPE resolved",
        "file:web/Parts/Seal.razor|FILE Contains Other.Seal|TYPE resolved",
        "file:web/Parts/Seal.razor|FILE UsesType Shop.Web.Parts.Stamp|TYPE resolved",
        "file:web/Parts/Stamp.razor|FILE Contains Shop.Web.Parts.Stamp|TYPE resolved",
    ]


def test_a_component_with_type_parameters_is_the_class_beside_it() -> None:
    files = {
        "Grid.razor": "@typeparam TItem where TItem : class\n<b />\n",
        "Grid.razor.cs": "namespace Shop;\npublic partial class Grid<TItem> { }\n",
        "Page.razor": '<Grid TItem="Order" />\n',
    }
    assert edges_by(markup, files) == [
        "file:Grid.razor|FILE Contains Shop.Grid`1|TYPE resolved",
        "file:Page.razor|FILE Contains Page|TYPE resolved",
        "file:Page.razor|FILE UsesType Shop.Grid`1|TYPE resolved",
    ]


def test_a_component_has_a_base_that_no_index_knows() -> None:
    files = {
        "Grid.razor": "<b />\n",
        "Ext.cs": "public static class Ext { public static void Wait(this IRendered<IComponent> it) { } }\n",
        "Tests.cs": "public class Tests { void Shown(IRendered<Grid> grid) { grid.Wait(); } }\n",
    }
    assert edges_by(csharp, files, "Calls") == [
        "Tests.Shown(IRendered<Grid>)|METHOD Calls Ext.Wait(IRendered<IComponent>)|METHOD resolved"
    ]


def test_a_tag_means_no_component_of_a_project_that_its_own_does_not_refer_to() -> None:
    project = '<Project Sdk="Microsoft.NET.Sdk.Razor"></Project>'
    files = {"web/Web.csproj": project, "web/Page.razor": "<Seal />\n"}
    files |= {"admin/Admin.csproj": project, "admin/Seal.razor": "<b />\n"}
    assert edges_by(markup, files) == [
        "file:admin/Seal.razor|FILE Contains Admin.Seal|TYPE resolved",
        "file:web/Page.razor|FILE Contains Web.Page|TYPE resolved",
    ]


def test_a_view_uses_the_members_of_its_model() -> None:
    view = "@model Shop.Web.Order\n<p>@Model.Total and Model.Nothing</p>\n"
    assert edges_by(markup, {**PAGE_CODE, "Views/Order.cshtml": view}) == [
        "file:Views/Order.cshtml|FILE References Shop.Web.Order.Total|PROPERTY resolved",
        "file:Views/Order.cshtml|FILE UsesType Shop.Web.Order|TYPE resolved",
    ]


@pytest.mark.parametrize(
    "text", ["@*" * 100_000, "A.B<" * 50_000, "@inject A<" * 30_000, "A<" * 100_000, "\n@code{" + "Order<" * 30_000]
)
def test_no_razor_text_takes_long(text: str) -> None:
    begin = time.process_time()
    edges_by(markup, {**PAGE_CODE, "a.razor": text})
    assert time.process_time() - begin < 3
