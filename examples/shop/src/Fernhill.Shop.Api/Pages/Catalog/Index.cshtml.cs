using Fernhill.Shop.Domain.Catalog;
using Microsoft.AspNetCore.Mvc;
using Microsoft.AspNetCore.Mvc.RazorPages;

namespace Fernhill.Shop.Api.Pages.Catalog;

/// <summary>The page that lists products and searches them.</summary>
public class IndexModel(IProductRepository products) : PageModel
{
    /// <summary>What the visitor searched for.</summary>
    [BindProperty]
    public string Words { get; set; } = "";

    /// <summary>Products to show.</summary>
    public IReadOnlyList<Product> Products { get; private set; } = [];

    public string Heading => Words.Length == 0 ? "All products" : $"Products for “{Words}”";

    public async Task OnGetAsync(string? category, CancellationToken cancellationToken) =>
        Products = await products.SearchAsync(category ?? "", cancellationToken);

    public async Task<IActionResult> OnPostSearchAsync(CancellationToken cancellationToken)
    {
        Products = await products.SearchAsync(Words, cancellationToken);
        return Page();
    }
}
