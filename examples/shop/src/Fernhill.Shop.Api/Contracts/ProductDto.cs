using Fernhill.Shop.Domain.Catalog;

namespace Fernhill.Shop.Api.Contracts
{
    /// <summary>A product as the catalogue lists it.</summary>
    public sealed record ProductDto(string Sku, string Name, decimal Price, bool InStock);

    /// <summary>Conversions between products and what clients see.</summary>
    internal static class ProductDtoExtensions
    {
        public static ProductDto ToDto(this Product product) =>
            new(product.Sku, product.Name, product.Price.Amount, product.Available > 0);
    }
}
