using System.ComponentModel.DataAnnotations;
using Fernhill.Shop.Domain.Orders;

namespace Fernhill.Shop.Api.Contracts;

/// <summary>Body of <c>POST /api/orders</c>.</summary>
public sealed class PlaceOrderRequest : IValidatableObject
{
    [Required]
    public Guid CustomerId { get; init; }

    /// <summary>What to order, at least one line.</summary>
    [MinLength(1)]
    public List<OrderLineDto> Lines { get; init; } = [];

    /// <summary>Refuses the same product twice, because clients mean to add quantities then.</summary>
    public IEnumerable<ValidationResult> Validate(ValidationContext validationContext) =>
        Lines.GroupBy(line => line.Sku)
            .Where(group => group.Count() > 1)
            .Select(group => new ValidationResult($"{group.Key} is on the order twice.", [nameof(Lines)]));

    /// <summary>The command that the request stands for.</summary>
    public PlaceOrderCommand ToCommand() => new(CustomerId, Lines.ToDictionary(line => line.Sku, line => line.Quantity));
}

/// <summary>One line of a request or a response.</summary>
/// <param name="Sku">Stock keeping unit.</param>
/// <param name="Quantity">Number of pieces.</param>
public sealed record OrderLineDto(string Sku, [Range(1, 999)] int Quantity);

/// <summary>An order as clients see it.</summary>
public sealed class OrderResponse
{
    public required string Number { get; init; }

    public required OrderStatus Status { get; init; }

    /// <summary>Sum of the lines, without tax.</summary>
    public decimal Total { get; init; }

    public OrderLineDto[] Lines { get; init; } = [];

    public static OrderResponse From(Order order) => new()
    {
        Number = order.Number,
        Status = order.Status,
        Total = OrderManager.Total(order),
        Lines = [.. order.Lines.Select(line => new OrderLineDto(line.Sku, line.Quantity))],
    };
}
