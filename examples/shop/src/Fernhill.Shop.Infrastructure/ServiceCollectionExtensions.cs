using Fernhill.Shop.Domain.Catalog;
using Fernhill.Shop.Domain.Customers;
using Fernhill.Shop.Domain.Orders;
using Fernhill.Shop.Domain.Shipping;
using Fernhill.Shop.Infrastructure.Data;
using Fernhill.Shop.Infrastructure.Repositories;
using Fernhill.Shop.Infrastructure.Shipping;
using Microsoft.EntityFrameworkCore;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace Fernhill.Shop.Infrastructure;

/// <summary>Registers the infrastructure with the host.</summary>
public static class ServiceCollectionExtensions
{
    /// <summary>Adds the database, the repositories and the carrier.</summary>
    /// <param name="services">The services of the host.</param>
    /// <param name="configuration">Read for the connection string <c>Shop</c> and the section <c>Shipping</c>.</param>
    public static IServiceCollection AddShopInfrastructure(this IServiceCollection services, IConfiguration configuration)
    {
        var connectionString = configuration.GetConnectionString("Shop")
            ?? throw new InvalidOperationException("The connection string 'Shop' is missing.");
        services.AddDbContext<ShopDbContext>(options => options.UseSqlServer(connectionString));
        services.Configure<ShippingOptions>(configuration.GetSection(ShippingOptions.SectionName));
        services.AddScoped<IOrderRepository, OrderRepository>();
        services.AddScoped<IOrderManager, OrderManager>();
        services.AddScoped<ILoyaltyService, LoyaltyService>();
        services.AddSingleton<IProductRepository, InMemoryProductRepository>();
        services.AddScoped<ICustomerRepository>(provider =>
            new CustomerRepository(provider.GetRequiredService<ShopDbContext>(), connectionString));
        services.AddHttpClient<CarrierClient>();
        services.AddScoped<ICarrierClient>(provider =>
            new ParcelRateProxy(provider.GetRequiredService<CarrierClient>(), provider.GetRequiredService<IMemoryCache>()));
        return services;
    }
}
