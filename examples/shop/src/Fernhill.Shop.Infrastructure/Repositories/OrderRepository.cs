using Fernhill.Shop.Domain.Common;
using Fernhill.Shop.Domain.Orders;
using Fernhill.Shop.Infrastructure.Data;
using Microsoft.EntityFrameworkCore;

namespace Fernhill.Shop.Infrastructure.Repositories;

/// <summary>Orders in SQL Server, through Entity Framework.</summary>
public sealed class OrderRepository(ShopDbContext context) : RepositoryBase<Order, Guid>(context), IOrderRepository
{
    private const int PageSize = 50;

    /// <inheritdoc />
    protected override IQueryable<Order> Query => Context.Orders.Include(order => order.Customer);

    /// <inheritdoc />
    public Task<Order?> FindByNumberAsync(string number, CancellationToken cancellationToken = default) =>
        Query.SingleOrDefaultAsync(order => order.Number == number, cancellationToken);

    /// <inheritdoc />
    public IAsyncEnumerable<Order> FindAbandonedAsync(DateTimeOffset placedBefore, CancellationToken cancellationToken = default) =>
        Context.Orders
            .FromSql($"""
                SELECT o.*
                FROM sales.OpenOrders AS v
                JOIN sales.Orders AS o ON o.Id = v.OrderId
                WHERE o.PlacedAt < {placedBefore} AND v.PaidAmount = 0
                """)
            .AsAsyncEnumerable();

    /// <inheritdoc />
    public async Task<PagedResult<Order>> SearchAsync(OrderFilterBuilder filter, int page, CancellationToken cancellationToken = default)
    {
        var matching = filter.ApplyTo(Query);
        var items = await matching
            .OrderByDescending(order => order.PlacedAt)
            .Skip((page - 1) * PageSize)
            .Take(PageSize)
            .ToListAsync(cancellationToken);
        return new PagedResult<Order>(items, page, PageSize, await matching.CountAsync(cancellationToken));
    }
}
