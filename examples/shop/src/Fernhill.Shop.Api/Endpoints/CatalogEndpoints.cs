using Fernhill.Shop.Api.Contracts;
using Fernhill.Shop.Domain.Catalog;
using Microsoft.AspNetCore.Http.HttpResults;

namespace Fernhill.Shop.Api.Endpoints;

/// <summary>Minimal endpoints of the catalogue.</summary>
public static class CatalogEndpoints
{
    /// <summary>Maps the endpoints below <c>/api/catalog</c>.</summary>
    public static IEndpointRouteBuilder MapCatalog(this IEndpointRouteBuilder endpoints)
    {
        var catalog = endpoints.MapGroup("/api/catalog").WithTags("Catalogue");
        catalog.MapGet("/products", SearchAsync).AllowAnonymous();
        catalog.MapGet("/products/{sku}", GetAsync).WithName("GetProduct");
        catalog.MapPut("/products/{sku}/stock", async (string sku, int quantity, IProductRepository products) =>
        {
            await products.ReleaseAsync(sku, quantity);
            return Results.NoContent();
        }).RequireAuthorization("Staff");
        return endpoints;
    }

    /// <summary>Finds products by words.</summary>
    private static async Task<Ok<ProductDto[]>> SearchAsync(string q, IProductRepository products, CancellationToken cancellationToken) =>
        TypedResults.Ok((await products.SearchAsync(q, cancellationToken)).Select(ProductDtoExtensions.ToDto).ToArray());

    private static async Task<Results<Ok<ProductDto>, NotFound>> GetAsync(string sku, IProductRepository products) =>
        await products.GetAsync(sku) is { } product ? TypedResults.Ok(product.ToDto()) : TypedResults.NotFound();
}
