using Microsoft.Extensions.Hosting;

namespace Fernhill.Shop.Worker;

/// <summary>Entry point of the background worker.</summary>
internal static class Program
{
    /// <summary>Runs until the host is told to stop.</summary>
    /// <returns>0 after a clean stop.</returns>
    private static async Task<int> Main(string[] args)
    {
        var builder = Host.CreateApplicationBuilder(args);
        new Startup(builder.Configuration).ConfigureServices(builder.Services);
        await builder.Build().RunAsync();
        return 0;
    }
}
