using Fernhill.Shop.Domain.Orders;

namespace Fernhill.Shop.Domain.Payments;

/// <summary>
/// Marks orders as paid when the bank reports the money. The broker delivers at least once,
/// so an order that is already paid is left alone.
/// </summary>
public sealed class PaymentReceivedConsumer(IOrderRepository orders) : IConsumer<PaymentReceivedEvent>
{
    /// <inheritdoc />
    public async Task ConsumeAsync(PaymentReceivedEvent message, CancellationToken cancellationToken)
    {
        var order = await orders.FindByNumberAsync(message.OrderNumber, cancellationToken)
            ?? throw new OrderNotFoundException(message.OrderNumber);
        if (order.Status is OrderStatus.Placed && message.Covers(OrderManager.Total(order)))
        {
            order.Status = OrderStatus.Paid;
            await orders.SaveAsync(order, cancellationToken);
        }
    }
}
