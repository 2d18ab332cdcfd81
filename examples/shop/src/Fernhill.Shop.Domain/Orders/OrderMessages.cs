namespace Fernhill.Shop.Domain.Orders;

/// <summary>Asks to place an order.</summary>
/// <param name="CustomerId">The buyer.</param>
/// <param name="Quantities">Stock keeping unit to number of pieces.</param>
public sealed record PlaceOrderCommand(Guid CustomerId, IReadOnlyDictionary<string, int> Quantities) : IRequest<PlaceOrderResult>
{
    /// <summary>What is wrong with the command itself, or null. Says nothing about stock.</summary>
    public string? Validate() => Quantities switch
    {
        { Count: 0 } => ShopMessages.CartEmpty,
        { Count: > OrderManager.MaximumLines } => ShopMessages.TooManyLines,
        _ when Quantities.Values.Any(quantity => quantity < 1) => ShopMessages.QuantityNotPositive,
        _ => null,
    };
}

/// <summary>Asks to cancel an order. Carries data only.</summary>
public sealed record CancelOrderCommand(string Number, string Reason) : IRequest<Result>;

/// <summary>Asks for one order by the number on the confirmation.</summary>
public sealed record OrderByNumberQuery(string Number) : IRequest<Order>
{
    /// <summary>The number as it is stored: customers type blanks and lower case.</summary>
    public string NormalisedNumber() => Number.Trim().ToUpperInvariant();
}

/// <summary>Says that an order has been placed. Warehouse, mailing and loyalty listen to it.</summary>
public sealed record OrderPlacedEvent(string Number, Guid CustomerId, Money Total, DateTimeOffset OccurredAt) : INotification
{
    /// <summary>One line for the audit trail.</summary>
    public string ToAuditLine() => $"{OccurredAt:O} placed {Number} for {Total}";
}

/// <summary>Answers <see cref="PlaceOrderCommand"/>.</summary>
public sealed class PlaceOrderResult
{
    /// <summary>Number of the new order, when there is one.</summary>
    public string? Number { get; private init; }

    /// <summary>Why there is none.</summary>
    public string? Error { get; private init; }

    /// <summary>Translates the manager's result for the outside.</summary>
    public static PlaceOrderResult From(Result<Order> result) =>
        result.Succeeded ? new() { Number = result.Value.Number } : new() { Error = result.Error };
}
