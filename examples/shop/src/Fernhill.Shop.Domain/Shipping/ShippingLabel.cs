namespace Fernhill.Shop.Domain.Shipping;

/// <summary>A printed label: one parcel of one order. Text on it keeps “typographic” quotes and the sign €.</summary>
public sealed class ShippingLabel
{
    private readonly List<string> _lines = [];

    /// <summary>Tracking number of the carrier.</summary>
    public required string TrackingNumber { get; init; }

    /// <summary>Weight of the packed parcel.</summary>
    public Weight Weight { get; init; }

    /// <summary>Line <paramref name="index"/> of the printed text.</summary>
    public string this[int index] => _lines[index];

    /// <summary>Raised when the printer has confirmed the label.</summary>
    public event EventHandler? Printed;

    /// <summary>Adds a line of text; the printer cuts after 38 characters.</summary>
    public ShippingLabel AddLine(string text)
    {
        _lines.Add(text.Length <= 38 ? text : text[..37] + "…");
        return this;
    }

    /// <summary>Tells listeners that the label has left the printer.</summary>
    public void ConfirmPrinted() => Printed?.Invoke(this, EventArgs.Empty);
}
