namespace Fernhill.Shop.Domain.Common;

/// <summary>Tax and formatting helpers for <see cref="Money"/>.</summary>
public static class MoneyExtensions
{
    /// <summary>Sums the amounts of a sequence; an empty sequence is zero in the book currency.</summary>
    public static Money Sum(this IEnumerable<Money> amounts) =>
        amounts.Aggregate((Money?)null, (total, next) => total is { } sum ? sum + next : next) ?? Money.Zero;

    extension(Money money)
    {
        /// <summary>True when nothing is owed.</summary>
        public bool IsZero => money.Amount == 0m;

        /// <summary>Adds value added tax at the given rate, 0.20 for twenty percent.</summary>
        public Money WithVat(decimal rate) => (money with { Amount = money.Amount * (1m + rate) }).Rounded();
    }
}
