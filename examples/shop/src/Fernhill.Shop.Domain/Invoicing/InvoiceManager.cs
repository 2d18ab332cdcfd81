using Fernhill.Shop.Domain.Orders;

namespace Fernhill.Shop.Domain.Invoicing;

/// <summary>Issues invoices and chases the ones nobody pays.</summary>
public interface IInvoiceManager
{
    /// <summary>Issues the invoice of a shipped order.</summary>
    Task<Invoice> CreateForOrderAsync(Order order, CancellationToken cancellationToken = default);

    /// <summary>Sends a reminder for each invoice that is overdue, at most one a week.</summary>
    Task<int> RemindOverdueAsync(DateOnly today, CancellationToken cancellationToken = default);
}

/// <summary>Keeps the printed invoices; tax law wants them unchanged for ten years.</summary>
public interface IInvoiceDocumentRepository
{
    Task UploadAsync(string number, Stream pdf, CancellationToken cancellationToken = default);

    Task<Stream?> DownloadAsync(string number, CancellationToken cancellationToken = default);
}

/// <summary>A bill for one order.</summary>
public class Invoice
{
    /// <summary>Consecutive number without gaps.</summary>
    public long Number { get; set; }

    public Guid OrderId { get; set; }

    public Order Order { get; set; } = null!;

    /// <summary>Amount due including tax.</summary>
    public Money Due { get; set; }

    /// <summary>Day by which it has to be paid.</summary>
    public DateOnly DueOn { get; set; }

    /// <summary>Day of the last reminder, if any.</summary>
    public DateOnly? RemindedOn { get; set; }

    public bool Paid { get; set; }
}

/// <summary>Default <see cref="IInvoiceManager"/>: thirty days to pay, tax at the standard rate.</summary>
public sealed class InvoiceManager : IInvoiceManager
{
    private const decimal StandardVatRate = 0.20m;
    private readonly IRepository<Invoice, long> _invoices;
    private readonly IInvoiceDocumentRepository _documents;
    private readonly Func<DateOnly, IAsyncEnumerable<Invoice>> _overdue;

    /// <summary>Creates the manager.</summary>
    /// <param name="invoices">Where invoices are stored.</param>
    /// <param name="documents">Where their printed form is stored.</param>
    /// <param name="overdue">Finds the invoices that are overdue on a day.</param>
    public InvoiceManager(
        IRepository<Invoice, long> invoices,
        IInvoiceDocumentRepository documents,
        Func<DateOnly, IAsyncEnumerable<Invoice>> overdue)
    {
        _invoices = invoices ?? throw new ArgumentNullException(nameof(invoices));
        _documents = documents ?? throw new ArgumentNullException(nameof(documents));
        _overdue = overdue ?? throw new ArgumentNullException(nameof(overdue));
    }

    /// <inheritdoc />
    public async Task<Invoice> CreateForOrderAsync(Order order, CancellationToken cancellationToken = default)
    {
        var invoice = new Invoice
        {
            OrderId = order.Id,
            Order = order,
            Due = OrderManager.Total(order).WithVat(StandardVatRate),
            DueOn = DateOnly.FromDateTime(DateTime.UtcNow).AddDays(30),
        };
        await _invoices.SaveAsync(invoice, cancellationToken);
        return invoice;
    }

    /// <inheritdoc />
    public async Task<int> RemindOverdueAsync(DateOnly today, CancellationToken cancellationToken = default)
    {
        var reminded = 0;
        await foreach (var invoice in _overdue(today).WithCancellation(cancellationToken))
        {
            if (invoice.RemindedOn > today.AddDays(-7))
            {
                continue;
            }

            invoice.RemindedOn = today;
            await _invoices.SaveAsync(invoice, cancellationToken);
            reminded++;
        }

        return reminded;
    }

    /// <summary>True when the printed form of an invoice is stored.</summary>
    public async Task<bool> IsPrintedAsync(string number, CancellationToken cancellationToken = default) =>
        await _documents.DownloadAsync(number, cancellationToken) is not null;
}
