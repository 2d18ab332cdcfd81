using System.IO.Compression;

namespace Fernhill.Shop.Infrastructure.Storage;

/// <summary>
/// Packs the receipts of a month into one archive for the accountant. The till at the garden centre still runs
/// on an old framework and compiles this file as a link, hence the conditions.
/// </summary>
public sealed class ReceiptArchive
#if NET9_0_OR_GREATER
    : IAsyncDisposable
#else
    : IDisposable
#endif
{
    private readonly ZipArchive _archive;

    public ReceiptArchive(Stream target) => _archive = new ZipArchive(target, ZipArchiveMode.Create);

    /// <summary>Adds one receipt under its number.</summary>
#if NET9_0_OR_GREATER
    public async ValueTask AddReceiptAsync(
        string number,
        ReadOnlyMemory<byte> content,
#else
    public async Task AddReceiptAsync(
        string number,
        byte[] content,
#endif
        CancellationToken cancellationToken = default)
    {
        var entry = _archive.CreateEntry($"receipts/{number}.txt", CompressionLevel.Optimal);
        using var stream = entry.Open();
#if NET9_0_OR_GREATER
        await stream.WriteAsync(content, cancellationToken);
#else
        await stream.WriteAsync(content, 0, content.Length, cancellationToken);
#endif
    }

#if NET9_0_OR_GREATER
    /// <summary>Finishes the archive.</summary>
    public ValueTask DisposeAsync()
    {
        _archive.Dispose();
        return ValueTask.CompletedTask;
    }
#else
    /// <summary>Finishes the archive on the old framework.</summary>
    public void Dispose() => _archive.Dispose();
#endif
}
