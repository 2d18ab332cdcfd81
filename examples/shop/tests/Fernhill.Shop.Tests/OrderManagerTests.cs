using Fernhill.Shop.Domain.Common;
using Fernhill.Shop.Domain.Customers;
using Fernhill.Shop.Domain.Messaging;
using Fernhill.Shop.Domain.Orders;
using Microsoft.Extensions.Logging.Abstractions;

namespace Fernhill.Shop.Tests;

/// <summary>Placing, cancelling and refunding through <see cref="OrderManager"/>.</summary>
public sealed class OrderManagerTests : IAsyncLifetime
{
    private readonly FakeOrders _orders = new();
    private readonly OrderManager _manager;

    public OrderManagerTests() =>
        _manager = new OrderManager(
            _orders,
            OrderMother.Catalogue(("SPADE-01", 5), ("ROSE-07", 40)),
            new NoLoyalty(),
            new SilentBus(),
            TimeProvider.System,
            NullLogger<OrderManager>.Instance);

    public Task InitializeAsync() => Task.CompletedTask;

    public Task DisposeAsync() => Task.CompletedTask;

    [Fact]
    public async Task Placing_an_order_freezes_the_price_and_reserves_stock()
    {
        var result = await _manager.PlaceAsync(OrderMother.Command(("SPADE-01", 2)));

        Assert.True(result.Succeeded, result.Error);
        Assert.Equal(2, result.Value.Lines.Single().Quantity);
        Assert.Equal(OrderStatus.Placed, result.Value.Status);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(-3)]
    public async Task A_quantity_below_one_is_refused(int quantity)
    {
        var result = await _manager.PlaceAsync(OrderMother.Command(("SPADE-01", quantity)));

        Assert.False(result.Succeeded);
    }

    [Fact(DisplayName = "a shipped order cannot be cancelled")]
    public async Task A_shipped_order_cannot_be_cancelled()
    {
        _orders.Known = new Order { Number = "FH-2025-000001", Status = OrderStatus.Shipped };

        Assert.False((await _manager.CancelAsync("FH-2025-000001", "changed my mind")).Succeeded);
    }

    private sealed class FakeOrders : IOrderRepository
    {
        public Order? Known { get; set; }

        public Task<Order?> GetAsync(Guid key, CancellationToken cancellationToken = default) => Task.FromResult(Known);

        public Task SaveAsync(Order entity, CancellationToken cancellationToken = default) => Task.FromResult(Known = entity);

        public Task DeleteAsync(Guid key, CancellationToken cancellationToken = default) => Task.FromResult(Known = null);

        public Task<Order?> FindByNumberAsync(string number, CancellationToken cancellationToken = default) => Task.FromResult(Known);

        public IAsyncEnumerable<Order> FindAbandonedAsync(DateTimeOffset placedBefore, CancellationToken cancellationToken = default) =>
            throw new NotSupportedException();

        public Task<PagedResult<Order>> SearchAsync(OrderFilterBuilder filter, int page, CancellationToken cancellationToken = default) =>
            throw new NotSupportedException();
    }

    private sealed class NoLoyalty : ILoyaltyService
    {
        public Task AddPointsAsync(Guid customerId, Money orderValue, CancellationToken cancellationToken = default) => Task.CompletedTask;

        public Task<decimal> DiscountAsync(Guid customerId, CancellationToken cancellationToken = default) => Task.FromResult(0m);
    }

    private sealed class SilentBus : IMessageBus
    {
        public Task PublishAsync<TMessage>(TMessage message, CancellationToken cancellationToken = default)
            where TMessage : class, INotification => Task.CompletedTask;
    }
}
