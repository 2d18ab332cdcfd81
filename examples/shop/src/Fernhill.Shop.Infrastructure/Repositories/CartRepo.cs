using System.Net;
using Microsoft.Azure.Cosmos;

namespace Fernhill.Shop.Infrastructure.Repositories;

/// <summary>A cart that has not become an order yet.</summary>
public sealed record CartDocument(string Id, Guid? CustomerId, Dictionary<string, int> Quantities);

public interface ICartRepo
{
    Task<CartDocument?> LoadAsync(string id, CancellationToken cancellationToken = default);

    Task StoreAsync(CartDocument cart, CancellationToken cancellationToken = default);
}

/// <summary>Carts as documents in Cosmos DB; they expire by themselves after thirty days.</summary>
public sealed class CartRepo(Container carts) : ICartRepo
{
    /// <inheritdoc />
    public async Task<CartDocument?> LoadAsync(string id, CancellationToken cancellationToken = default)
    {
        try
        {
            return await carts.ReadItemAsync<CartDocument>(id, new PartitionKey(id), cancellationToken: cancellationToken);
        }
        catch (CosmosException error) when (error.StatusCode == HttpStatusCode.NotFound)
        {
            return null;
        }
    }

    /// <inheritdoc />
    public Task StoreAsync(CartDocument cart, CancellationToken cancellationToken = default) =>
        carts.UpsertItemAsync(cart, new PartitionKey(cart.Id), cancellationToken: cancellationToken);
}
