namespace Fernhill.Shop.Domain.Common;

/// <summary>Currencies the shop sells in, numbered as in ISO 4217.</summary>
public enum Currency
{
    /// <summary>Pound sterling, the currency the books are kept in.</summary>
    Gbp = 826,

    /// <summary>US dollar.</summary>
    Usd = 840,

    /// <summary>Euro.</summary>
    Eur = 978,
}

/// <summary>
/// An amount of money in one currency. Amounts of different currencies never mix:
/// adding them throws instead of converting silently.
/// </summary>
/// <param name="Amount">The amount in major units, for example pounds.</param>
/// <param name="Currency">The currency of the amount.</param>
public readonly record struct Money(decimal Amount, Currency Currency) : IComparable<Money>
{
    /// <summary>Nothing, in the book currency.</summary>
    public static readonly Money Zero = new(0m, Currency.Gbp);

    /// <summary>True for amounts below zero, such as refunds.</summary>
    public bool IsNegative => Amount < 0m;

    public static Money operator +(Money left, Money right) => new(left.Amount + SameCurrency(left, right), left.Currency);

    public static Money operator -(Money left, Money right) => new(left.Amount - SameCurrency(left, right), left.Currency);

    public static Money operator *(Money price, int quantity) => price with { Amount = price.Amount * quantity };

    public static implicit operator decimal(Money money) => money.Amount;

    /// <summary>Rounds half to even to the two decimals that an invoice shows.</summary>
    public Money Rounded() => this with { Amount = Math.Round(Amount, 2, MidpointRounding.ToEven) };

    /// <inheritdoc />
    public int CompareTo(Money other) => Amount.CompareTo(SameCurrency(this, other));

    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Amount:0.00} {Currency}");

    private static decimal SameCurrency(Money left, Money right) =>
        left.Currency == right.Currency
            ? right.Amount
            : throw new InvalidOperationException($"Cannot combine {left.Currency} with {right.Currency}.");
}
