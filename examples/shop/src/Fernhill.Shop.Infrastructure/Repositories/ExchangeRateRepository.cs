using System.Net.Http.Json;
using Fernhill.Shop.Domain.Common;

namespace Fernhill.Shop.Infrastructure.Repositories;

/// <summary>Daily exchange rates, read from the central bank's public service and kept for an hour.</summary>
public sealed class ExchangeRateRepository(HttpClient http, TimeProvider clock)
{
    private readonly Dictionary<Currency, (decimal Rate, DateTimeOffset Until)> _kept = [];

    /// <summary>How many units of a currency one pound buys.</summary>
    public async Task<decimal> RateAsync(Currency currency, CancellationToken cancellationToken = default)
    {
        if (_kept.TryGetValue(currency, out var known) && known.Until > clock.GetUtcNow())
        {
            return known.Rate;
        }

        var rate = await http.GetFromJsonAsync<decimal>($"rates/GBP/{currency}", cancellationToken);
        _kept[currency] = (rate, clock.GetUtcNow().AddHours(1));
        return rate;
    }
}
