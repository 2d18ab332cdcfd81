namespace Fernhill.Shop.Domain.Orders;

/// <summary>The life of an order. The numbers are stored in the database and must not change.</summary>
public enum OrderStatus
{
    /// <summary>Still being put together in the cart.</summary>
    Draft = 0,

    /// <summary>Placed by the customer; stock is reserved, money is not yet taken.</summary>
    Placed = 10,

    /// <summary>The payment has been authorised.</summary>
    Paid = 20,

    /// <summary>Handed to the carrier.</summary>
    Shipped = 30,

    /// <summary>Confirmed as delivered by the carrier.</summary>
    Delivered = 40,

    /// <summary>Withdrawn before shipping; the reservation is released.</summary>
    Cancelled = 90,

    /// <summary>Sent back, wholly or in part.</summary>
    Returned = 91,
}
