using Azure;
using Azure.Storage.Blobs;
using Fernhill.Shop.Domain.Invoicing;

namespace Fernhill.Shop.Infrastructure.Repositories;

/// <summary>Printed invoices in blob storage, in a container with an immutability policy.</summary>
public sealed class InvoiceDocumentRepository(BlobContainerClient container) : IInvoiceDocumentRepository
{
    /// <inheritdoc />
    public async Task UploadAsync(string number, Stream pdf, CancellationToken cancellationToken = default) =>
        await container.GetBlobClient(NameOf(number)).UploadAsync(pdf, overwrite: false, cancellationToken);

    /// <inheritdoc />
    public async Task<Stream?> DownloadAsync(string number, CancellationToken cancellationToken = default)
    {
        try
        {
            return await container.GetBlobClient(NameOf(number)).OpenReadAsync(cancellationToken: cancellationToken);
        }
        catch (RequestFailedException error) when (error.Status == 404)
        {
            return null;
        }
    }

    private static string NameOf(string number) => $"invoices/{number}.pdf";
}
