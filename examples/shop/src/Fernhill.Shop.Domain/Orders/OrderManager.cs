using Fernhill.Shop.Domain.Catalog;
using Fernhill.Shop.Domain.Customers;
using Fernhill.Shop.Domain.Shipping;
using Microsoft.Extensions.Logging;

namespace Fernhill.Shop.Domain.Orders;

/// <summary>
/// Places, changes and cancels orders. Stock is reserved before anything is stored, and the
/// <see cref="OrderPlacedEvent"/> is published through the outbox, so that a crash between the two loses neither.
/// </summary>
/// <remarks>The refund half of the class is in <c>OrderManager.Refunds.cs</c>.</remarks>
public sealed partial class OrderManager(
    IOrderRepository orders,
    IProductRepository products,
    ILoyaltyService loyalty,
    IMessageBus bus,
    TimeProvider clock,
    ILogger<OrderManager> logger) : IOrderManager
{
    /// <summary>More lines than this are a wholesale order, which the sales desk handles.</summary>
    public const int MaximumLines = 100;

    private static readonly EventId PlacedEvent = new(1001, nameof(PlaceAsync));

    /// <inheritdoc />
    [Audited("order.place")]
    public async Task<Result<Order>> PlaceAsync(PlaceOrderCommand command, CancellationToken cancellationToken = default)
    {
        if (await ValidateAsync(command, cancellationToken) is { Succeeded: false } invalid)
        {
            return Result<Order>.Fail(invalid.Error!);
        }

        var order = new Order
        {
            Id = Guid.CreateVersion7(),
            Number = NextNumber(clock.GetUtcNow()),
            CustomerId = command.CustomerId,
            Status = OrderStatus.Placed,
            PlacedAt = clock.GetUtcNow(),
        };
        foreach (var (sku, quantity) in command.Quantities)
        {
            var product = await products.ReserveAsync(sku, quantity, cancellationToken);
            order.Lines.Add(new OrderLine
            {
                OrderId = order.Id,
                Position = order.Lines.Count + 1,
                Sku = sku,
                Quantity = quantity,
                UnitPrice = product.Price,
            });
        }

        await orders.SaveAsync(order, cancellationToken);
        await loyalty.AddPointsAsync(order.CustomerId, Total(order), cancellationToken);
        await bus.PublishAsync(new OrderPlacedEvent(order.Number, order.CustomerId, Total(order), clock.GetUtcNow()), cancellationToken);
        logger.LogInformation(PlacedEvent, "Placed order {Number} with {Lines} lines", order.Number, order.Lines.Count);
        return Result<Order>.Ok(order);
    }

    /// <inheritdoc />
    public async Task<Result> ChangeDeliveryDaysAsync(string number, DeliveryDays days, CancellationToken cancellationToken = default)
    {
        var order = await GetByNumberAsync(number, cancellationToken);
        if (order.Labels.Count > 0)
        {
            return Result.Fail(ShopMessages.LabelAlreadyPrinted);
        }

        order.DeliveryDays = days;
        await orders.SaveAsync(order, cancellationToken);
        return Result.Ok();
    }

    /// <inheritdoc />
    [Audited("order.cancel", RetentionDays = 730)]
    public async Task<Result> CancelAsync(string number, string reason, CancellationToken cancellationToken = default)
    {
        var order = await GetByNumberAsync(number, cancellationToken);
        if (order.Status >= OrderStatus.Shipped)
        {
            return Result.Fail(ShopMessages.OrderAlreadyShipped);
        }

        foreach (var line in order.Lines)
        {
            await products.ReleaseAsync(line.Sku, line.Quantity, cancellationToken);
        }

        order.Status = OrderStatus.Cancelled;
        await orders.SaveAsync(order, cancellationToken);
        logger.LogWarning("Cancelled order {Number}: {Reason}", number, reason);
        return Result.Ok();
    }

    /// <inheritdoc />
    public async Task<Order> GetByNumberAsync(string number, CancellationToken cancellationToken = default) =>
        await orders.FindByNumberAsync(number, cancellationToken) ?? throw new OrderNotFoundException(number);

    /// <summary>Deletes drafts that nobody has touched for the given time; they hold no stock.</summary>
    /// <returns>How many were deleted.</returns>
    public async Task<int> DeleteAbandonedDraftsAsync(TimeSpan age, CancellationToken cancellationToken = default)
    {
        var deleted = 0;
        await foreach (var draft in orders.FindAbandonedAsync(clock.GetUtcNow() - age, cancellationToken))
        {
            await orders.DeleteAsync(draft.Id, cancellationToken);
            deleted++;
        }

        return deleted;
    }

    /// <summary>Sum of the lines without tax and delivery.</summary>
    public static Money Total(Order order) => order.Lines.Select(line => line.UnitPrice * line.Quantity).Sum();

    private static OrderNumber NextNumber(DateTimeOffset now) => $"FH-{now:yyyy}-{now.Ticks % 1_000_000:000000}";

    private async Task<Result> ValidateAsync(PlaceOrderCommand command, CancellationToken cancellationToken)
    {
        if (command.Validate() is { } problem)
        {
            return Result.Fail(problem);
        }

        foreach (var sku in command.Quantities.Keys)
        {
            if (await products.GetAsync(sku, cancellationToken) is null)
            {
                return Result.Fail(string.Format(CultureInfo.CurrentCulture, ShopMessages.UnknownProduct, sku));
            }
        }

        return Result.Ok();
    }
}
