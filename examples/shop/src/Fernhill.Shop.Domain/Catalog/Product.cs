using System.ComponentModel.DataAnnotations;

namespace Fernhill.Shop.Domain.Catalog;

/// <summary>Something the shop sells: a spade, a rose, a bag of compost.</summary>
public class Product
{
    /// <summary>Stock keeping unit, printed below the bar code.</summary>
    [Key, MaxLength(16)]
    public required string Sku { get; init; }

    /// <summary>Name in the shop's own language.</summary>
    public required string Name { get; set; }

    /// <summary>Category the product is listed under.</summary>
    public ProductCategory? Category { get; set; }

    /// <summary>Price of one piece without tax.</summary>
    public Money Price { get; set; }

    /// <summary>Pieces in the warehouse that nobody has reserved.</summary>
    public int Available { get; set; }

    /// <summary>Search words that are not in the name.</summary>
    public List<string> Keywords { get; } = [];
}

/// <summary>A node of the category tree.</summary>
public class ProductCategory
{
    public int Id { get; set; }

    /// <summary>Last part of the address of the category page.</summary>
    public string Slug { get; set; } = string.Empty;

    /// <summary>The category above, null at the root.</summary>
    public ProductCategory? Parent { get; set; }

    /// <summary>The categories below.</summary>
    public List<ProductCategory> Children { get; set; } = [];
}

/// <summary>The yearly photo contest. The name ends in "test" only by accident.</summary>
public sealed record PhotoContest(int Year, string Theme, DateOnly EntriesUntil);

/// <summary>Price of a number of pieces of a product, before loyalty discounts.</summary>
/// <param name="product">The product.</param>
/// <param name="quantity">Number of pieces, at least one.</param>
public delegate Money PriceRule(Product product, int quantity);

/// <summary>The catalogue with its stock.</summary>
public interface IProductRepository
{
    /// <summary>The product with that stock keeping unit, or null.</summary>
    Task<Product?> GetAsync(string sku, CancellationToken cancellationToken = default);

    /// <summary>Takes pieces out of the available stock. Throws <see cref="ShopException"/> when there are too few.</summary>
    Task<Product> ReserveAsync(string sku, int quantity, CancellationToken cancellationToken = default);

    /// <summary>Puts reserved pieces back.</summary>
    Task ReleaseAsync(string sku, int quantity, CancellationToken cancellationToken = default);

    /// <summary>Products whose name or keywords contain all the words.</summary>
    Task<IReadOnlyList<Product>> SearchAsync(string words, CancellationToken cancellationToken = default);
}
