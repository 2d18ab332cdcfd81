namespace Fernhill.Shop.Domain.Customers;

/// <summary>Keeps the loyalty scheme: points for orders, discounts for points.</summary>
public interface ILoyaltyService
{
    /// <summary>Adds the points that an order of that value earns.</summary>
    Task AddPointsAsync(Guid customerId, Money orderValue, CancellationToken cancellationToken = default);

    /// <summary>The discount a customer gets on the next order, between 0 and 0.15.</summary>
    Task<decimal> DiscountAsync(Guid customerId, CancellationToken cancellationToken = default);
}

/// <summary>Stores customers.</summary>
public interface ICustomerRepository : IRepository<Customer, Guid>
{
    /// <summary>The account with that address, compared without case, or null.</summary>
    Task<Customer?> FindByEmailAsync(string email, CancellationToken cancellationToken = default);
}

/// <summary>One point per pound, a discount step for each tier that the points reach.</summary>
public sealed class LoyaltyService : ILoyaltyService
{
    private readonly ICustomerRepository _customers;

    public LoyaltyService(ICustomerRepository customers)
    {
        ArgumentNullException.ThrowIfNull(customers);
        _customers = customers;
    }

    /// <summary>Tiers of the scheme, the best first.</summary>
    public enum Tier
    {
        /// <summary>From 5,000 points.</summary>
        Oak = 3,

        /// <summary>From 1,000 points.</summary>
        Birch = 2,

        /// <summary>Everybody else.</summary>
        Seedling = 1,
    }

    /// <inheritdoc />
    public async Task AddPointsAsync(Guid customerId, Money orderValue, CancellationToken cancellationToken = default)
    {
        if (await _customers.GetAsync(customerId, cancellationToken) is not { } customer)
        {
            return;
        }

        customer.LoyaltyPoints += (int)decimal.Floor(orderValue.Amount);
        await _customers.SaveAsync(customer, cancellationToken);
    }

    /// <inheritdoc />
    public async Task<decimal> DiscountAsync(Guid customerId, CancellationToken cancellationToken = default)
    {
        var customer = await _customers.GetAsync(customerId, cancellationToken);
        return TierRule.For(customer?.LoyaltyPoints ?? 0).Discount;
    }

    /// <summary>What a tier needs and gives.</summary>
    private readonly record struct TierRule(Tier Tier, int FromPoints, decimal Discount)
    {
        private static class Table
        {
            public static readonly TierRule[] Rules =
            [
                new(Tier.Oak, 5_000, 0.15m),
                new(Tier.Birch, 1_000, 0.05m),
                new(Tier.Seedling, 0, 0m),
            ];
        }

        public static TierRule For(int points) => Array.Find(Table.Rules, rule => points >= rule.FromPoints);
    }
}
