using Fernhill.Shop.Domain.Common;

namespace Fernhill.Shop.Tests;

public class MoneyTests
{
    public static TheoryData<decimal, decimal> Roundings => new() { { 1.005m, 1.00m }, { 1.015m, 1.02m }, { -0.005m, 0.00m } };

    [Theory]
    [MemberData(nameof(Roundings))]
    public void Rounds_half_to_even(decimal amount, decimal expected) =>
        Assert.Equal(expected, new Money(amount, Currency.Gbp).Rounded().Amount);

    [Fact]
    public void Currencies_do_not_mix() =>
        Assert.Throws<InvalidOperationException>(() => new Money(1, Currency.Gbp) + new Money(1, Currency.Eur));
}
