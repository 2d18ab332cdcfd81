using Fernhill.Shop.Api.Endpoints;
using Fernhill.Shop.Domain.Common;
using Fernhill.Shop.Domain.Customers;
using Fernhill.Shop.Infrastructure;

// The public face of the shop: controllers for orders and invoices, minimal endpoints for the rest.
var builder = WebApplication.CreateBuilder(args);
builder.Services.AddControllers();
builder.Services.AddRazorPages();
builder.Services.AddOpenApi();
builder.Services.AddMemoryCache();
builder.Services.AddSingleton(TimeProvider.System);
builder.Services.AddShopInfrastructure(builder.Configuration);
builder.Services.AddAuthentication().AddJwtBearer();
builder.Services.AddAuthorizationBuilder()
    .AddPolicy("Staff", policy => policy.RequireRole("clerk", "manager"));

var app = builder.Build();
app.UseExceptionHandler(errors => errors.Run(WriteProblemAsync));
app.UseAuthentication();
app.UseAuthorization();
app.MapOpenApi();
app.MapControllers();
app.MapRazorPages();
app.MapCatalog();

app.MapGet("/health", () => Results.Ok(new { status = "up" })).AllowAnonymous();
app.MapGet("/api/customers/{id:guid}/discount", async (Guid id, ILoyaltyService loyalty, CancellationToken cancellationToken) =>
    Results.Ok(await loyalty.DiscountAsync(id, cancellationToken)))
    .RequireAuthorization()
    .WithSummary("The discount a customer gets on the next order.");
app.MapPost("/api/newsletter", (NewsletterSignUp signUp) => Results.Accepted($"/api/newsletter/{signUp.Email}"));

await app.RunAsync();

// Turns errors of the shop into problem details; anything else stays a plain 500.
static async Task WriteProblemAsync(HttpContext context)
{
    var error = context.Features.Get<Microsoft.AspNetCore.Diagnostics.IExceptionHandlerFeature>()?.Error;
    var (status, code) = error switch
    {
        OrderNotFoundException => (StatusCodes.Status404NotFound, "order.not-found"),
        ShopException known => (StatusCodes.Status422UnprocessableEntity, known.Code),
        _ => (StatusCodes.Status500InternalServerError, "internal"),
    };
    await Results.Problem(statusCode: status, extensions: new Dictionary<string, object?> { ["code"] = code })
        .ExecuteAsync(context);
}

/// <summary>Body of the newsletter form.</summary>
internal sealed record NewsletterSignUp(string Email, string? Language);

/// <summary>Makes the entry point visible to integration tests.</summary>
public partial class Program;
