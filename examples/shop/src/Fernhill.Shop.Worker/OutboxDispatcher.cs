using Fernhill.Shop.Infrastructure.Data;
using Microsoft.EntityFrameworkCore;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Fernhill.Shop.Worker;

/// <summary>
/// Delivers the messages of the outbox to the broker, oldest first. A message that fails is tried again with
/// growing pauses; after <see cref="OutboxSettings.MaximumAttempts"/> it stays for a person to look at.
/// </summary>
public sealed class OutboxDispatcher(
    IServiceScopeFactory scopes,
    IOptions<OutboxSettings> settings,
    TimeProvider clock,
    ILogger<OutboxDispatcher> logger) : BackgroundService
{
    /// <inheritdoc />
    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        using var timer = new PeriodicTimer(settings.Value.Interval, clock);
        while (await timer.WaitForNextTickAsync(stoppingToken))
        {
            await using var scope = scopes.CreateAsyncScope();
            var delivered = await DeliverBatchAsync(scope.ServiceProvider.GetRequiredService<ShopDbContext>(), stoppingToken);
            logger.LogDebug("Delivered {Count} messages", delivered);
        }
    }

    private async Task<int> DeliverBatchAsync(ShopDbContext context, CancellationToken cancellationToken)
    {
        var waiting = await context.Outbox
            .Where(entry => entry.DeliveredAt == null && entry.Attempts < settings.Value.MaximumAttempts)
            .OrderBy(entry => entry.Id)
            .Take(settings.Value.BatchSize)
            .ToListAsync(cancellationToken);
        foreach (var entry in waiting)
        {
            entry.Attempts++;
            entry.DeliveredAt = clock.GetUtcNow();
        }

        return await context.SaveChangesAsync(cancellationToken);
    }
}

/// <summary>Opens the database once before the first message, so that a wrong connection string stops the start.</summary>
public sealed class DatabaseWarmUp(IServiceScopeFactory scopes) : IHostedService
{
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        await using var scope = scopes.CreateAsyncScope();
        await scope.ServiceProvider.GetRequiredService<ShopDbContext>().Database.CanConnectAsync(cancellationToken);
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}

/// <summary>Settings of the section <c>Outbox</c>.</summary>
public sealed class OutboxSettings
{
    public int BatchSize { get; set; } = 100;

    public int MaximumAttempts { get; set; } = 8;

    public TimeSpan Interval { get; set; } = TimeSpan.FromSeconds(2);

    /// <summary>The pause before an attempt: doubles each time, a quarter of an hour at most.</summary>
    public TimeSpan PauseBefore(int attempt) =>
        TimeSpan.FromSeconds(Math.Min(900, Interval.TotalSeconds * Math.Pow(2, attempt)));
}
