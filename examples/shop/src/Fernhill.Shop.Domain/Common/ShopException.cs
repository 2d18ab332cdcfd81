namespace Fernhill.Shop.Domain.Common;

/// <summary>Base of every error the shop raises itself; its message may be shown to customers.</summary>
public class ShopException : Exception
{
    public ShopException(string message)
        : base(message)
    {
    }

    public ShopException(string message, Exception inner)
        : base(message, inner)
    {
    }

    /// <summary>Stable code for clients, independent of the language of the message.</summary>
    public virtual string Code => "shop.error";
}

/// <summary>No order has the requested number, or it belongs to somebody else.</summary>
public sealed class OrderNotFoundException(string number)
    : ShopException(string.Format(CultureInfo.CurrentCulture, ShopMessages.OrderNotFound, number))
{
    public string Number { get; } = number;

    /// <inheritdoc />
    public override string Code => "order.not-found";
}
