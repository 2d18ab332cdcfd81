using System.Collections.Concurrent;
using Fernhill.Shop.Domain.Catalog;
using Fernhill.Shop.Domain.Common;

namespace Fernhill.Shop.Infrastructure.Repositories;

/// <summary>The catalogue in memory, for demonstrations and tests.</summary>
public sealed class InMemoryProductRepository : IProductRepository
{
    private readonly ConcurrentDictionary<string, Product> _products = new(StringComparer.OrdinalIgnoreCase);
    private readonly Lock _stock = new();

    public void Add(Product product) => _products[product.Sku] = product;

    /// <inheritdoc />
    public Task<Product?> GetAsync(string sku, CancellationToken cancellationToken = default) =>
        Task.FromResult(_products.GetValueOrDefault(sku));

    /// <inheritdoc />
    public Task<Product> ReserveAsync(string sku, int quantity, CancellationToken cancellationToken = default)
    {
        lock (_stock)
        {
            if (!_products.TryGetValue(sku, out var product) || product.Available < quantity)
            {
                throw new ShopException($"Only {product?.Available ?? 0} of {sku} left.");
            }

            product.Available -= quantity;
            return Task.FromResult(product);
        }
    }

    /// <inheritdoc />
    public Task ReleaseAsync(string sku, int quantity, CancellationToken cancellationToken = default)
    {
        lock (_stock)
        {
            _products[sku].Available += quantity;
        }

        return Task.CompletedTask;
    }

    /// <inheritdoc />
    public Task<IReadOnlyList<Product>> SearchAsync(string words, CancellationToken cancellationToken = default)
    {
        var wanted = words.Split(' ', StringSplitOptions.RemoveEmptyEntries);
        IReadOnlyList<Product> found =
        [
            .. from product in _products.Values
               let text = string.Join(' ', [product.Name, .. product.Keywords])
               where wanted.All(word => text.Contains(word, StringComparison.OrdinalIgnoreCase))
               orderby product.Sku
               select product,
        ];
        return Task.FromResult(found);
    }
}
