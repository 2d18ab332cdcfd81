using System.Linq.Expressions;

namespace Fernhill.Shop.Domain.Orders;

/// <summary>
/// Builds the condition of an order search step by step. Each step narrows the search; the steps are
/// combined with "and" and translated to SQL by the repository.
/// </summary>
/// <example><code>new OrderFilterBuilder().OpenOnly().OfCustomerInCountry("GB").PlacedAfter(monday)</code></example>
public sealed class OrderFilterBuilder
{
    private readonly List<Expression<Func<Order, bool>>> _conditions = [];

    /// <summary>The conditions so far, in the order they were added.</summary>
    public IReadOnlyList<Expression<Func<Order, bool>>> Conditions => _conditions;

    /// <summary>Only the order with exactly this number.</summary>
    public OrderFilterBuilder WithNumber(string number) => Where(order => order.Number == number);

    /// <summary>Only orders whose number begins with the text, for example a year.</summary>
    public OrderFilterBuilder WithNumberStartingWith(string prefix) => Where(order => order.Number.StartsWith(prefix));

    /// <summary>Only orders of one customer.</summary>
    public OrderFilterBuilder OfCustomer(Guid customerId) => Where(order => order.CustomerId == customerId);

    /// <summary>Only orders of any of these customers.</summary>
    public OrderFilterBuilder OfAnyCustomer(IReadOnlySet<Guid> customerIds) => Where(order => customerIds.Contains(order.CustomerId));

    /// <summary>Only orders whose buyer has this name on the parcel.</summary>
    public OrderFilterBuilder OfCustomerNamed(string name) => Where(order => order.Customer.DisplayName == name);

    /// <summary>Only orders billed to a country.</summary>
    public OrderFilterBuilder OfCustomerInCountry(string countryCode) => Where(order => order.Customer.BillingAddress.CountryCode == countryCode);

    /// <summary>Only orders billed to a town or city.</summary>
    public OrderFilterBuilder OfCustomerInCity(string city) => Where(order => order.Customer.BillingAddress.City == city);

    /// <summary>Only orders billed to a post code area, such as <c>BS</c>.</summary>
    public OrderFilterBuilder OfCustomerInPostCodeArea(string area) => Where(order => order.Customer.BillingAddress.PostCode.StartsWith(area));

    /// <summary>Only orders of guests, who have no e-mail address on record.</summary>
    public OrderFilterBuilder OfGuests() => Where(order => order.Customer.Email == null);

    /// <summary>Only orders of customers with an account.</summary>
    public OrderFilterBuilder OfAccountHolders() => Where(order => order.Customer.Email != null);

    /// <summary>Only orders of customers with at least so many loyalty points.</summary>
    public OrderFilterBuilder OfLoyalCustomers(int minimumPoints) => Where(order => order.Customer.LoyaltyPoints >= minimumPoints);

    /// <summary>Only orders in exactly this status.</summary>
    public OrderFilterBuilder InStatus(OrderStatus status) => Where(order => order.Status == status);

    /// <summary>Only orders in any of these statuses.</summary>
    public OrderFilterBuilder InAnyStatus(IReadOnlySet<OrderStatus> statuses) => Where(order => statuses.Contains(order.Status));

    /// <summary>Leaves out orders in this status.</summary>
    public OrderFilterBuilder NotInStatus(OrderStatus status) => Where(order => order.Status != status);

    /// <summary>Only orders that still need work: placed or paid, not yet shipped.</summary>
    public OrderFilterBuilder OpenOnly() => Where(order => order.Status == OrderStatus.Placed || order.Status == OrderStatus.Paid);

    /// <summary>Only orders that need no more work.</summary>
    public OrderFilterBuilder ClosedOnly() => Where(order => order.Status >= OrderStatus.Delivered);

    /// <summary>Only withdrawn orders.</summary>
    public OrderFilterBuilder CancelledOnly() => Where(order => order.Status == OrderStatus.Cancelled);

    /// <summary>Only orders that came back, wholly or in part.</summary>
    public OrderFilterBuilder ReturnedOnly() => Where(order => order.Status == OrderStatus.Returned);

    /// <summary>Only orders placed after a moment.</summary>
    public OrderFilterBuilder PlacedAfter(DateTimeOffset moment) => Where(order => order.PlacedAt > moment);

    /// <summary>Only orders placed before a moment.</summary>
    public OrderFilterBuilder PlacedBefore(DateTimeOffset moment) => Where(order => order.PlacedAt < moment);

    /// <summary>Only orders placed on a day, in UTC.</summary>
    public OrderFilterBuilder PlacedOn(DateOnly day) => Where(order => order.PlacedAt.HasValue && DateOnly.FromDateTime(order.PlacedAt.Value.UtcDateTime) == day);

    /// <summary>Only drafts that were never placed.</summary>
    public OrderFilterBuilder NeverPlaced() => Where(order => order.PlacedAt == null);

    /// <summary>Only orders that have been invoiced.</summary>
    public OrderFilterBuilder WithInvoice() => Where(order => order.Invoice != null);

    /// <summary>Only orders that have not been invoiced.</summary>
    public OrderFilterBuilder WithoutInvoice() => Where(order => order.Invoice == null);

    /// <summary>Only orders whose invoice is settled.</summary>
    public OrderFilterBuilder WithInvoicePaid() => Where(order => order.Invoice != null && order.Invoice.Paid);

    /// <summary>Only orders whose invoice is still open.</summary>
    public OrderFilterBuilder WithInvoiceUnpaid() => Where(order => order.Invoice != null && !order.Invoice.Paid);

    /// <summary>Only orders whose invoice was due before a day.</summary>
    public OrderFilterBuilder WithInvoiceDueBefore(DateOnly day) => Where(order => order.Invoice != null && order.Invoice.DueOn < day);

    /// <summary>Only orders with at least one payment reminder.</summary>
    public OrderFilterBuilder WithReminderSent() => Where(order => order.Invoice != null && order.Invoice.RemindedOn != null);

    /// <summary>Only orders whose buyer was never reminded.</summary>
    public OrderFilterBuilder WithoutReminder() => Where(order => order.Invoice == null || order.Invoice.RemindedOn == null);

    /// <summary>Only orders with a printed label.</summary>
    public OrderFilterBuilder WithLabel() => Where(order => order.Labels.Count > 0);

    /// <summary>Only orders that nobody has packed.</summary>
    public OrderFilterBuilder WithoutLabel() => Where(order => order.Labels.Count == 0);

    /// <summary>Only the order that this parcel belongs to.</summary>
    public OrderFilterBuilder WithTrackingNumber(string trackingNumber) => Where(order => order.Labels.Any(label => label.TrackingNumber == trackingNumber));

    /// <summary>Only orders that travel in at least so many parcels.</summary>
    public OrderFilterBuilder SplitIntoParcels(int minimum) => Where(order => order.Labels.Count >= minimum);

    /// <summary>Only orders with a parcel that needs two people.</summary>
    public OrderFilterBuilder WithHeavyParcel() => Where(order => order.Labels.Any(label => label.Weight.NeedsTwoPeople));

    /// <summary>Only orders that contain a product.</summary>
    public OrderFilterBuilder ContainingSku(string sku) => Where(order => order.Lines.Any(line => line.Sku == sku));

    /// <summary>Only orders that contain one of these products.</summary>
    public OrderFilterBuilder ContainingAnySku(IReadOnlySet<string> skus) => Where(order => order.Lines.Any(line => skus.Contains(line.Sku)));

    /// <summary>Leaves out orders that contain a product.</summary>
    public OrderFilterBuilder WithoutSku(string sku) => Where(order => order.Lines.All(line => line.Sku != sku));

    /// <summary>Only orders with a line of more than so many pieces.</summary>
    public OrderFilterBuilder WithLineQuantityOver(int quantity) => Where(order => order.Lines.Any(line => line.Quantity > quantity));

    /// <summary>Only orders with at least so many lines.</summary>
    public OrderFilterBuilder WithLinesAtLeast(int count) => Where(order => order.Lines.Count >= count);

    /// <summary>Only orders with at most so many lines.</summary>
    public OrderFilterBuilder WithLinesAtMost(int count) => Where(order => order.Lines.Count <= count);

    /// <summary>Only orders with a product dearer than the amount.</summary>
    public OrderFilterBuilder WithUnitPriceOver(decimal amount) => Where(order => order.Lines.Any(line => line.UnitPrice.Amount > amount));

    /// <summary>Only orders priced in a currency.</summary>
    public OrderFilterBuilder InCurrency(Currency currency) => Where(order => order.Lines.All(line => line.UnitPrice.Currency == currency));

    /// <summary>Applies all conditions to a query.</summary>
    public IQueryable<Order> ApplyTo(IQueryable<Order> orders) =>
        _conditions.Aggregate(orders, (query, condition) => query.Where(condition));

    private OrderFilterBuilder Where(Expression<Func<Order, bool>> condition)
    {
        _conditions.Add(condition);
        return this;
    }
}
