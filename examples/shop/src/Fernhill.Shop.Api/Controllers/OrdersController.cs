using Fernhill.Shop.Api.Contracts;
using Fernhill.Shop.Domain.Common;
using Fernhill.Shop.Domain.Messaging;
using Fernhill.Shop.Domain.Orders;
using Fernhill.Shop.Domain.Shipping;
using Microsoft.AspNetCore.Authorization;
using Microsoft.AspNetCore.Mvc;

namespace Fernhill.Shop.Api.Controllers;

/// <summary>Places, shows and cancels orders.</summary>
[ApiController]
[Authorize]
[Route("api/orders")]
[Produces("application/json")]
public sealed class OrdersController(IOrderManager orders, IOrderRepository repository) : ControllerBase
{
    /// <summary>Shows one order.</summary>
    /// <param name="number">Number of the order, as on the confirmation.</param>
    /// <response code="200">The order.</response>
    /// <response code="404">There is no such order.</response>
    [HttpGet("{number}", Name = "GetOrder")]
    [ProducesResponseType<OrderResponse>(StatusCodes.Status200OK)]
    [ProducesResponseType(StatusCodes.Status404NotFound)]
    public async Task<ActionResult<OrderResponse>> GetAsync([FromRoute] string number, CancellationToken cancellationToken) =>
        OrderResponse.From(await orders.GetByNumberAsync(number, cancellationToken));

    /// <summary>Lists orders, newest first.</summary>
    [HttpGet]
    [Authorize(Policy = "Staff")]
    public async Task<PagedResult<OrderResponse>> ListAsync(
        [FromQuery] OrderStatus? status,
        [FromQuery(Name = "q")] string? customerName,
        [FromQuery] int page = 1,
        CancellationToken cancellationToken = default)
    {
        var filter = new OrderFilterBuilder();
        if (status is { } wanted)
        {
            filter.InStatus(wanted);
        }

        if (!string.IsNullOrWhiteSpace(customerName))
        {
            filter.OfCustomerNamed(customerName);
        }

        return (await repository.SearchAsync(filter, page, cancellationToken)).Map(OrderResponse.From);
    }

    /// <summary>Places an order.</summary>
    /// <param name="request">What to order.</param>
    /// <param name="idempotencyKey">The same key twice places one order.</param>
    /// <param name="handler">Handles the command.</param>
    /// <param name="cancellationToken">Cancels the request.</param>
    [HttpPost]
    [Consumes("application/json")]
    [ProducesResponseType<OrderResponse>(StatusCodes.Status201Created)]
    [ProducesResponseType<ProblemDetails>(StatusCodes.Status422UnprocessableEntity)]
    public async Task<IActionResult> PlaceAsync(
        [FromBody] PlaceOrderRequest request,
        [FromHeader(Name = "Idempotency-Key")] string? idempotencyKey,
        [FromServices] IRequestHandler<PlaceOrderCommand, PlaceOrderResult> handler,
        CancellationToken cancellationToken)
    {
        var result = await handler.HandleAsync(request.ToCommand(), cancellationToken);
        return result.Number is { } number
            ? CreatedAtRoute("GetOrder", new { number }, new { number, idempotencyKey })
            : Problem(result.Error, statusCode: StatusCodes.Status422UnprocessableEntity);
    }

    /// <summary>Changes the days on which the parcel may come.</summary>
    [HttpPatch("{number}/delivery-days")]
    public async Task<IActionResult> ChangeDeliveryDaysAsync(string number, [FromBody] DeliveryDays days, CancellationToken cancellationToken) =>
        await orders.ChangeDeliveryDaysAsync(number, days, cancellationToken) is { Succeeded: true } ? NoContent() : Conflict();

    /// <summary>Cancels an order that has not been shipped.</summary>
    [HttpDelete("{number}")]
    public async Task<IActionResult> CancelAsync(string number, [FromQuery] string reason, CancellationToken cancellationToken)
    {
        var result = await orders.CancelAsync(number, reason, cancellationToken);
        return result.Succeeded ? NoContent() : Conflict(result.Error);
    }
}
