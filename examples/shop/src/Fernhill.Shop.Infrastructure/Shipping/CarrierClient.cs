using System.Net.Http.Headers;
using System.Net.Http.Json;
using Fernhill.Shop.Domain.Shipping;
using Microsoft.Extensions.Options;

namespace Fernhill.Shop.Infrastructure.Shipping;

/// <summary>The carrier as the shop sees it.</summary>
public interface ICarrierClient
{
    /// <summary>Orders a pick-up and returns the tracking number.</summary>
    Task<string> BookParcelAsync(Weight weight, string postCode, CancellationToken cancellationToken = default);

    /// <summary>What a parcel would cost, in pounds.</summary>
    Task<decimal> QuoteAsync(Weight weight, string postCode, CancellationToken cancellationToken = default);
}

/// <summary>Talks to the carrier's REST service. Retries are configured where the client is registered.</summary>
public sealed class CarrierClient : ICarrierClient
{
    private readonly HttpClient _http;

    public CarrierClient(HttpClient http, IOptions<ShippingOptions> options)
    {
        _http = http;
        _http.BaseAddress = options.Value.CarrierAddress;
        _http.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("ApiKey", options.Value.ApiKey);
    }

    /// <inheritdoc />
    public async Task<string> BookParcelAsync(Weight weight, string postCode, CancellationToken cancellationToken = default)
    {
        using var response = await _http.PostAsJsonAsync("v2/parcels", new { weight.Grams, postCode }, cancellationToken);
        response.EnsureSuccessStatusCode();
        return await response.Content.ReadAsStringAsync(cancellationToken);
    }

    /// <inheritdoc />
    public Task<decimal> QuoteAsync(Weight weight, string postCode, CancellationToken cancellationToken = default) =>
        _http.GetFromJsonAsync<decimal>($"v2/quotes?grams={weight.Grams}&to={Uri.EscapeDataString(postCode)}", cancellationToken);
}
