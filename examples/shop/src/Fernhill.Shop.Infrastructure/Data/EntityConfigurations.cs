using Fernhill.Shop.Domain.Customers;
using Fernhill.Shop.Domain.Invoicing;
using Fernhill.Shop.Domain.Orders;
using Microsoft.EntityFrameworkCore;
using Microsoft.EntityFrameworkCore.Metadata.Builders;

namespace Fernhill.Shop.Infrastructure.Data;

/// <summary>Maps <see cref="Order"/> to <c>sales.Orders</c>; lines live and die with their order.</summary>
public sealed class OrderConfiguration : IEntityTypeConfiguration<Order>
{
    public void Configure(EntityTypeBuilder<Order> builder)
    {
        builder.ToTable("Orders", "sales");
        builder.HasKey(order => order.Id);
        builder.HasIndex(order => order.Number).IsUnique();
        builder.Property(order => order.Status).HasConversion<int>();
        builder.HasOne(order => order.Customer)
            .WithMany(customer => customer.Orders)
            .HasForeignKey(order => order.CustomerId)
            .OnDelete(DeleteBehavior.Restrict);
        builder.HasOne(order => order.Invoice)
            .WithOne(invoice => invoice.Order)
            .HasForeignKey<Invoice>(invoice => invoice.OrderId);
        builder.OwnsMany(order => order.Lines, line =>
        {
            line.ToTable("OrderLines", "sales");
            line.WithOwner().HasForeignKey(item => item.OrderId);
            line.HasKey(item => new { item.OrderId, item.Position });
            line.ComplexProperty(item => item.UnitPrice);
        });
        builder.Ignore(order => order.Labels);
    }
}

/// <summary>Keeps the billing address in the customer's own row.</summary>
public sealed class CustomerConfiguration : IEntityTypeConfiguration<Customer>
{
    public void Configure(EntityTypeBuilder<Customer> builder)
    {
        builder.HasIndex(customer => customer.Email).IsUnique().HasFilter("[Email] IS NOT NULL");
        builder.ComplexProperty(customer => customer.BillingAddress);
    }
}
