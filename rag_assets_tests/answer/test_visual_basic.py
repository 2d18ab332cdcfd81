"""A shop in Visual Basic: what its types derive from and call, its routes, its settings and what it throws."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets_tests.cli.conftest import opened_index

FILES: dict[str, str | bytes] = {
    "README.md": "# Till\n\nSells.\n",
    "Till/OrderService.vb": """\
Imports System.Configuration

Public Interface IOrderService
    Sub Place(model As OrderModel)
End Interface

<Serializable()>
Public Class OrderService ' of the till
    Inherits BaseService

    Implements IOrderService, IDisposable

    Private ReadOnly _mail As MailSender

    Public Sub Place(model As OrderModel) Implements IOrderService.Place
        If model.Items.Count > 25 Then
            Throw New TooManyItemsException("An order has at most 25 items")
        End If
        Dim log As New OrderLog("orders")
        log.Append(model)
        _mail.Send(ConfigurationManager.AppSettings("WarehouseAddress"), My.Settings.MailSubject)
    End Sub
End Class

Public Class TooManyItemsException
    Inherits Exception
End Class
""",
    "Till/Services.vb": """\
<Serializable()>
Public MustInherit Class BaseService
    Public Property Name As String
End Class

<Serializable()>
Public Class StockService : Inherits BaseService
End Class

Public Class MailSender
    Public Sub Send(toAddress As String, subject As String)
    End Sub
End Class

Public Class Postman
    Public Sub Send(letter As String)
    End Sub
End Class

Public Class OrderLog
    Public Sub Append(model As OrderModel)
    End Sub
End Class
""",
    "Till/Database.vb": """\
Public Class Database
    Public Sub Create()
        Run("CREATE TABLE Orders (Id int)")
        Run("CREATE TABLE Stock (Id int, " & _
            "Amount int)")
    End Sub

    Public Sub Take(id As Integer)
        Run("UPDATE Stock SET Amount = Amount - 1 " & _
            "WHERE Id = @id")
    End Sub
End Class
""",
    "Till/OrdersController.vb": """\
<RoutePrefix("api/orders")>
Public Class OrdersController
    Inherits ApiController

    <HttpGet, Route("{id:int}")>
    Public Function GetOrder(id As Integer) As IHttpActionResult
        Return Ok()
    End Function

    <HttpPost>
    <Route("")>
    Public Function Create(model As OrderModel) As IHttpActionResult
        Return Ok()
    End Function

    <Route("~/health")>
    Public Function Health() As IHttpActionResult
        Return Ok()
    End Function
End Class
""",
}


@pytest.fixture(scope="module")
def till(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("till"), FILES, "till") as index:
        yield index


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (
            "which services derive from BaseService?",
            [
                "**OrderService** probably inherits **BaseService** in Till/OrderService.vb:8",
                "**StockService** probably inherits **BaseService** in Till/Services.vb:7",
            ],
        ),
        ("who implements IOrderService?", ["**OrderService** probably implements **IOrderService**"]),
        ("who calls MailSender.Send?", ["**OrderService.Place** calls **MailSender.Send** in Till/OrderService.vb:21"]),
        ("who calls OrderLog.Append?", ["**OrderService.Place** calls **OrderLog.Append** in Till/OrderService.vb:20"]),
        (
            "which endpoints are there?",
            ["**3 endpoints:**", "**GET /api/orders/{id}**", "**POST /api/orders**", "**ANY /health**"],
        ),
        ("which settings are there?", ["**2 settings:**", "**MailSubject**", "**WarehouseAddress**"]),
        ("which tables are there?", ["**2 created tables:**", "**Orders** in Till/Database.vb:3", "**Stock**"]),
        ("who writes to the Stock table?", ["**Database.Take** probably writes to **Stock** in Till/Database.vb:9"]),
        ("where is TooManyItemsException thrown?", ["in Till/OrderService.vb:17: `Throw New TooManyItemsException("]),
        (
            "what is OrderService?",
            ["Inherits BaseService", "Private ReadOnly _mail As MailSender", "Public Sub Place("],
        ),
    ],
)
def test_a_project_of_visual_basic_is_told(till: Index, question: str, told: list[str]) -> None:
    answer = till.ask(question).text
    assert [one for one in told if one not in answer] == []
