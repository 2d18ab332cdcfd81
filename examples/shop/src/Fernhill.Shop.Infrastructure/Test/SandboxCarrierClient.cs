using Fernhill.Shop.Domain.Shipping;
using Fernhill.Shop.Infrastructure.Shipping;

namespace Fernhill.Shop.Infrastructure.Test;

/// <summary>
/// A carrier that never sends anything. It is part of the product, for shops that try it out: the folder is
/// called Test, but nothing in it is a test.
/// </summary>
public sealed class SandboxCarrierClient : ICarrierClient
{
    private int _booked;

    /// <inheritdoc />
    public Task<string> BookParcelAsync(Weight weight, string postCode, CancellationToken cancellationToken = default) =>
        Task.FromResult($"SANDBOX-{Interlocked.Increment(ref _booked):000000}");

    /// <inheritdoc />
    public Task<decimal> QuoteAsync(Weight weight, string postCode, CancellationToken cancellationToken = default) =>
        Task.FromResult(weight.NeedsTwoPeople ? 24.90m : 4.90m);
}
