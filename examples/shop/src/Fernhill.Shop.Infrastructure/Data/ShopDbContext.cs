using Fernhill.Shop.Domain.Catalog;
using Fernhill.Shop.Domain.Customers;
using Fernhill.Shop.Domain.Invoicing;
using Fernhill.Shop.Domain.Orders;
using Microsoft.EntityFrameworkCore;

namespace Fernhill.Shop.Infrastructure.Data;

/// <summary>Unit of work over the shop's SQL Server database.</summary>
public class ShopDbContext(DbContextOptions<ShopDbContext> options) : DbContext(options)
{
    /// <summary>Orders with their lines.</summary>
    public DbSet<Order> Orders => Set<Order>();

    /// <summary>Customers, guests included.</summary>
    public DbSet<Customer> Customers => Set<Customer>();

    public DbSet<Product> Products => Set<Product>();

    public DbSet<ProductCategory> Categories => Set<ProductCategory>();

    public DbSet<Invoice> Invoices => Set<Invoice>();

    /// <summary>Messages that wait to be delivered, see ADR 1.</summary>
    public DbSet<OutboxEntry> Outbox { get; set; } = null!;

    protected override void OnModelCreating(ModelBuilder modelBuilder)
    {
        modelBuilder.HasSequence<long>("OrderNumbers", "sales").StartsAt(417);
        modelBuilder.ApplyConfigurationsFromAssembly(typeof(ShopDbContext).Assembly);
        modelBuilder.Entity<OutboxEntry>(entry =>
        {
            entry.ToTable("Outbox", "messaging");
            entry.HasKey(message => message.Id);
            entry.HasIndex(message => message.DeliveredAt);
        });
    }
}

/// <summary>A message written in the transaction of the change it tells about.</summary>
public class OutboxEntry
{
    public long Id { get; set; }

    /// <summary>Full name of the message type.</summary>
    public required string Type { get; init; }

    /// <summary>The message as JSON.</summary>
    public required string Body { get; init; }

    /// <summary>When the broker took it; null while it waits.</summary>
    public DateTimeOffset? DeliveredAt { get; set; }

    public int Attempts { get; set; }
}
