using Fernhill.Shop.Infrastructure;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace Fernhill.Shop.Worker;

/// <summary>Registers what the worker needs: the outbox dispatcher and the warm-up of the database.</summary>
public sealed class Startup(IConfiguration configuration)
{
    public void ConfigureServices(IServiceCollection services)
    {
        services.AddSingleton(TimeProvider.System);
        services.AddMemoryCache();
        services.AddShopInfrastructure(configuration);
        services.Configure<OutboxSettings>(configuration.GetSection("Outbox"));
        services.AddHostedService<DatabaseWarmUp>();
        services.AddHostedService<OutboxDispatcher>();
    }
}
