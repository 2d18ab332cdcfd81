namespace Fernhill.Shop.Infrastructure.Repositories;

/// <summary>Any store of small values; the host decides which.</summary>
public interface IKeyValueStore
{
    ValueTask<T?> GetAsync<T>(string key, CancellationToken cancellationToken = default);

    ValueTask SetAsync<T>(string key, T value, CancellationToken cancellationToken = default);
}

/// <summary>Wish lists. Where they end up is up to the store, so nothing here tells the kind of storage.</summary>
public sealed class WishListRepository(IKeyValueStore store)
{
    /// <summary>Adds a product to a customer's wish list, once.</summary>
    public async Task AddAsync(Guid customerId, string sku, CancellationToken cancellationToken = default)
    {
        var wishes = await store.GetAsync<SortedSet<string>>(KeyOf(customerId), cancellationToken) ?? [];
        wishes.Add(sku);
        await store.SetAsync(KeyOf(customerId), wishes, cancellationToken);
    }

    private static string KeyOf(Guid customerId) => $"wishes/{customerId:N}";
}
