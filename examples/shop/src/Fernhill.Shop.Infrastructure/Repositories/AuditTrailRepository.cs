using Azure;
using Azure.Data.Tables;

namespace Fernhill.Shop.Infrastructure.Repositories;

/// <summary>Who did what, kept for auditors.</summary>
public interface IAuditTrailRepository
{
    Task AppendAsync(string action, string subject, string actor, CancellationToken cancellationToken = default);
}

/// <summary>The audit trail in table storage: one partition a day, so that a whole day can be deleted at once.</summary>
public sealed class AuditTrailRepository(TableClient table, TimeProvider clock) : IAuditTrailRepository
{
    /// <inheritdoc />
    public async Task AppendAsync(string action, string subject, string actor, CancellationToken cancellationToken = default)
    {
        var now = clock.GetUtcNow();
        var entity = new TableEntity($"{now:yyyyMMdd}", $"{now.Ticks:D19}")
        {
            ["Action"] = action,
            ["Subject"] = subject,
            ["Actor"] = actor,
        };
        await table.AddEntityAsync(entity, cancellationToken);
    }

    /// <summary>Entries of a day, in the order they were written.</summary>
    public AsyncPageable<TableEntity> ReadDay(DateOnly day) =>
        table.QueryAsync<TableEntity>(entity => entity.PartitionKey == day.ToString("yyyyMMdd"));
}
