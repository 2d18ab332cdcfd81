using Fernhill.Shop.Domain.Invoicing;
using Microsoft.AspNetCore.Authorization;
using Microsoft.AspNetCore.Mvc;

namespace Fernhill.Shop.Api.Controllers;

/// <summary>Invoices as files.</summary>
[Route("api/[controller]/[action]")]
[Authorize(Roles = "clerk,manager")]
public class InvoicesController : Controller
{
    private readonly IInvoiceDocumentRepository _documents;
    private readonly IInvoiceManager _invoices;

    public InvoicesController(IInvoiceDocumentRepository documents, IInvoiceManager invoices)
    {
        _documents = documents;
        _invoices = invoices;
    }

    /// <summary>Downloads the printed invoice.</summary>
    [AllowAnonymous]
    [HttpGet("{number:long}")]
    public async Task<IActionResult> Download(long number) =>
        await _documents.DownloadAsync(number.ToString("D8")) is { } pdf
            ? File(pdf, "application/pdf", $"invoice-{number}.pdf")
            : NotFound();

    /// <summary>Stores a scanned invoice.</summary>
    [HttpPost]
    [ValidateAntiForgeryToken]
    public async Task<IActionResult> Upload([FromForm] string number, IFormFile scan)
    {
        await using var stream = scan.OpenReadStream();
        await _documents.UploadAsync(number, stream);
        return RedirectToAction(nameof(Download), new { number });
    }

    /// <summary>Sends the reminders that are due today.</summary>
    [HttpPost]
    public async Task<int> Remind() => await _invoices.RemindOverdueAsync(DateOnly.FromDateTime(DateTime.UtcNow));
}
