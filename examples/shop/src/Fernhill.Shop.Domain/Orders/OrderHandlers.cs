using Microsoft.Extensions.Logging;

namespace Fernhill.Shop.Domain.Orders;

/// <summary>Handles <see cref="PlaceOrderCommand"/> by handing it to the order manager.</summary>
public sealed class PlaceOrderHandler(IOrderManager orders) : IRequestHandler<PlaceOrderCommand, PlaceOrderResult>
{
    /// <inheritdoc />
    public async Task<PlaceOrderResult> HandleAsync(PlaceOrderCommand request, CancellationToken cancellationToken) =>
        PlaceOrderResult.From(await orders.PlaceAsync(request, cancellationToken));
}

/// <summary>Handles <see cref="OrderByNumberQuery"/>.</summary>
public sealed class OrderByNumberHandler(IOrderManager orders) : IRequestHandler<OrderByNumberQuery, Order>
{
    /// <inheritdoc />
    public Task<Order> HandleAsync(OrderByNumberQuery request, CancellationToken cancellationToken) =>
        orders.GetByNumberAsync(request.NormalisedNumber(), cancellationToken);
}

/// <summary>Sends the order confirmation to the customer when an order has been placed.</summary>
public sealed class OrderConfirmationSender(ILogger<OrderConfirmationSender> logger) : INotificationHandler<OrderPlacedEvent>
{
    /// <inheritdoc />
    public Task HandleAsync(OrderPlacedEvent notification, CancellationToken cancellationToken)
    {
        logger.LogInformation("Confirmation: {Line}", notification.ToAuditLine());
        return Task.CompletedTask;
    }
}
