using Fernhill.Shop.Domain.Shipping;

namespace Fernhill.Shop.Domain.Orders;

/// <summary>The operations the rest of the shop may perform on orders.</summary>
public interface IOrderManager
{
    /// <summary>Places an order: checks it, reserves stock and publishes <see cref="OrderPlacedEvent"/>.</summary>
    Task<Result<Order>> PlaceAsync(PlaceOrderCommand command, CancellationToken cancellationToken = default);

    /// <summary>Changes where an order goes, as long as no label has been printed.</summary>
    Task<Result> ChangeDeliveryDaysAsync(string number, DeliveryDays days, CancellationToken cancellationToken = default);

    /// <summary>Cancels an order that has not been shipped and releases the reserved stock.</summary>
    Task<Result> CancelAsync(string number, string reason, CancellationToken cancellationToken = default);

    /// <summary>The order with that number. Throws <see cref="OrderNotFoundException"/>.</summary>
    Task<Order> GetByNumberAsync(string number, CancellationToken cancellationToken = default);

    /// <summary>Pays back a returned quantity of one line.</summary>
    Task<Result<Money>> RefundAsync(string number, int position, int quantity, CancellationToken cancellationToken = default);
}

/// <summary>Stores orders together with their lines.</summary>
public interface IOrderRepository : IRepository<Order, Guid>
{
    /// <summary>The order with that number and its lines, or null.</summary>
    Task<Order?> FindByNumberAsync(string number, CancellationToken cancellationToken = default);

    /// <summary>Orders placed before the given time that nobody has paid for.</summary>
    IAsyncEnumerable<Order> FindAbandonedAsync(DateTimeOffset placedBefore, CancellationToken cancellationToken = default);

    /// <summary>One page of the orders that match a filter, newest first.</summary>
    Task<PagedResult<Order>> SearchAsync(OrderFilterBuilder filter, int page, CancellationToken cancellationToken = default);
}
