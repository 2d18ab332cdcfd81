namespace Fernhill.Shop.Domain.Payments;

/// <summary>How a customer pays.</summary>
public enum PaymentMethod
{
    /// <summary>Debit or credit card, through the gateway.</summary>
    Card = 1,

    /// <summary>Direct transfer; the order waits for the money.</summary>
    BankTransfer = 2,

    /// <summary>On account, for known business customers only.</summary>
    Invoice = 4,
}

/// <summary>Takes money from cards.</summary>
public interface IPaymentGateway
{
    /// <summary>Blocks an amount on the card without taking it yet.</summary>
    Task<PaymentAuthorizationResult> AuthorizeAsync(string cardToken, Money amount, CancellationToken cancellationToken = default);

    /// <summary>Takes a blocked amount.</summary>
    Task CaptureAsync(string authorizationCode, CancellationToken cancellationToken = default);
}

/// <summary>What the gateway said to an authorisation.</summary>
public sealed record PaymentAuthorizationResult(bool Approved, string? AuthorizationCode, string? DeclineCode)
{
    /// <summary>The code when approved. Throws <see cref="PaymentDeclinedException"/> otherwise.</summary>
    public string CodeOrThrow() =>
        Approved ? AuthorizationCode! : throw new PaymentDeclinedException(DeclineCode ?? "unknown");
}

/// <summary>The bank declined the payment. The decline code is for the log, never for the customer.</summary>
public sealed class PaymentDeclinedException(string declineCode) : ShopException(ShopMessages.PaymentDeclined)
{
    public string DeclineCode { get; } = declineCode;

    /// <inheritdoc />
    public override string Code => "payment.declined";
}

/// <summary>Says that money for an order has arrived.</summary>
public sealed record PaymentReceivedEvent(string OrderNumber, Money Amount, PaymentMethod Method, DateTimeOffset OccurredAt)
    : INotification
{
    /// <summary>True when the payment is at least what was due.</summary>
    public bool Covers(Money due) => Amount.CompareTo(due) >= 0;
}
