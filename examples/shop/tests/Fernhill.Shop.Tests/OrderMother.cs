using Fernhill.Shop.Domain.Catalog;
using Fernhill.Shop.Domain.Common;
using Fernhill.Shop.Domain.Orders;
using Fernhill.Shop.Infrastructure.Repositories;

namespace Fernhill.Shop.Tests;

/// <summary>Makes the objects that tests start from.</summary>
internal static class OrderMother
{
    public static PlaceOrderCommand Command(params (string Sku, int Quantity)[] lines) =>
        new(Guid.NewGuid(), lines.ToDictionary(line => line.Sku, line => line.Quantity));

    public static InMemoryProductRepository Catalogue(params (string Sku, int Available)[] products)
    {
        var catalogue = new InMemoryProductRepository();
        foreach (var (sku, available) in products)
        {
            catalogue.Add(new Product { Sku = sku, Name = sku, Available = available, Price = new Money(9.50m, Currency.Gbp) });
        }

        return catalogue;
    }
}
