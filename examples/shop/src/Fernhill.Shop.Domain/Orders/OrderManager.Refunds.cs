namespace Fernhill.Shop.Domain.Orders;

public sealed partial class OrderManager
{
    /// <summary>How much of the price is paid back, by the age of the order.</summary>
    private sealed record RefundPolicy(int WithinDays, decimal Share)
    {
        /// <summary>The statutory fortnight in full, then half for a month, then nothing.</summary>
        public static readonly RefundPolicy[] All = [new(14, 1.00m), new(45, 0.50m)];

        public bool Covers(TimeSpan age) => age <= TimeSpan.FromDays(WithinDays);
    }

    /// <inheritdoc />
    [Audited("order.refund", RetentionDays = 3650)]
    public async Task<Result<Money>> RefundAsync(string number, int position, int quantity, CancellationToken cancellationToken = default)
    {
        var order = await GetByNumberAsync(number, cancellationToken);
        var line = order.Lines.SingleOrDefault(candidate => candidate.Position == position);
        if (line is null || quantity < 1 || quantity > line.Quantity)
        {
            return Result<Money>.Fail(ShopMessages.NothingToRefund);
        }

        var age = clock.GetUtcNow() - (order.PlacedAt ?? clock.GetUtcNow());
        var policy = RefundPolicy.All.FirstOrDefault(candidate => candidate.Covers(age));
        if (policy is null)
        {
            return Result<Money>.Fail(ShopMessages.RefundPeriodOver);
        }

        order.Status = OrderStatus.Returned;
        await orders.SaveAsync(order, cancellationToken);
        var price = line.UnitPrice * quantity;
        return Result<Money>.Ok((price with { Amount = price.Amount * policy.Share }).Rounded());
    }
}
