using Fernhill.Shop.Domain.Shipping;
using Microsoft.Extensions.Caching.Memory;

namespace Fernhill.Shop.Infrastructure.Shipping;

/// <summary>Stands in front of a carrier and remembers quotes for a day; bookings always go through.</summary>
public sealed class ParcelRateProxy(ICarrierClient carrier, IMemoryCache cache) : ICarrierClient
{
    /// <inheritdoc />
    public Task<string> BookParcelAsync(Weight weight, string postCode, CancellationToken cancellationToken = default) =>
        carrier.BookParcelAsync(weight, postCode, cancellationToken);

    /// <inheritdoc />
    public async Task<decimal> QuoteAsync(Weight weight, string postCode, CancellationToken cancellationToken = default) =>
        await cache.GetOrCreateAsync((weight.Grams, postCode), entry =>
        {
            entry.AbsoluteExpirationRelativeToNow = TimeSpan.FromDays(1);
            return carrier.QuoteAsync(weight, postCode, cancellationToken);
        });
}
