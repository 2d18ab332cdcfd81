using System.ComponentModel.DataAnnotations;
using Fernhill.Shop.Domain.Customers;
using Fernhill.Shop.Domain.Invoicing;
using Fernhill.Shop.Domain.Shipping;

namespace Fernhill.Shop.Domain.Orders;

/// <summary>A customer's order: what was bought, at which price, and how far it has come.</summary>
public class Order
{
    /// <summary>Technical key, assigned when the order is created.</summary>
    [Key]
    public Guid Id { get; set; }

    /// <summary>The number customers quote on the phone, for example <c>FH-2025-000417</c>.</summary>
    [Required, MaxLength(20)]
    public string Number { get; set; } = string.Empty;

    /// <summary>Key of the buyer.</summary>
    public Guid CustomerId { get; set; }

    /// <summary>The buyer.</summary>
    public Customer Customer { get; set; } = null!;

    /// <summary>How far the order has come.</summary>
    public OrderStatus Status { get; set; } = OrderStatus.Draft;

    /// <summary>What was bought; prices are frozen when the order is placed.</summary>
    public List<OrderLine> Lines { get; set; } = [];

    /// <summary>The invoice, once the goods have left the warehouse.</summary>
    public Invoice? Invoice { get; set; }

    /// <summary>Parcels that carry this order; large orders are split.</summary>
    public ICollection<ShippingLabel> Labels { get; set; } = [];

    /// <summary>Days on which the parcel may be delivered.</summary>
    public DeliveryDays DeliveryDays { get; set; } = DeliveryDays.Weekdays;

    /// <summary>When the order was placed, in UTC; null for drafts.</summary>
    public DateTimeOffset? PlacedAt { get; set; }

    public override string ToString() => $"{Number} ({Status})";
}

/// <summary>One product on an order.</summary>
public class OrderLine
{
    /// <summary>Key of the order the line belongs to.</summary>
    public Guid OrderId { get; set; }

    /// <summary>Position on the order, from 1.</summary>
    public int Position { get; set; }

    /// <summary>Stock keeping unit of the product.</summary>
    public required string Sku { get; set; }

    /// <summary>How many were ordered.</summary>
    public int Quantity { get; set; }

    /// <summary>Price of one piece at the time of ordering, without tax.</summary>
    public Money UnitPrice { get; set; }
}
