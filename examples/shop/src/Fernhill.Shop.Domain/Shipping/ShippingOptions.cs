namespace Fernhill.Shop.Domain.Shipping;

/// <summary>Days on which a customer is at home. Combine with <c>|</c>.</summary>
[Flags]
public enum DeliveryDays
{
    None = 0,

    /// <summary>Monday to Friday.</summary>
    Weekdays = 1 << 0,

    Saturday = 1 << 1,

    /// <summary>Only in cities, at extra cost.</summary>
    Sunday = 1 << 2,

    /// <summary>Any day.</summary>
    Any = Weekdays | Saturday | Sunday,
}

/// <summary>Settings of the section <c>Shipping</c>.</summary>
public sealed class ShippingOptions
{
    /// <summary>Name of the configuration section.</summary>
    public const string SectionName = "Shipping";

    /// <summary>Orders from this value on are delivered free of charge.</summary>
    public decimal FreeFrom { get; set; } = 60m;

    /// <summary>Base address of the carrier's service.</summary>
    public Uri CarrierAddress { get; set; } = new("https://carrier.fernhill.example/");

    /// <summary>Key for the carrier's service; comes from the environment in production.</summary>
    public string ApiKey { get; set; } = "";

    /// <summary>Problems with the settings, none when the list is empty.</summary>
    public IEnumerable<string> Validate()
    {
        if (FreeFrom < 0)
        {
            yield return "Shipping:FreeFrom must not be negative.";
        }

        if (CarrierAddress.Scheme != Uri.UriSchemeHttps)
        {
            yield return "Shipping:CarrierAddress must use https.";
        }
    }
}

/// <summary>A weight in grams, because the carrier's tariff has steps of one gram.</summary>
public readonly struct Weight : IEquatable<Weight>
{
    public Weight(int grams) => Grams = grams >= 0 ? grams : throw new ArgumentOutOfRangeException(nameof(grams));

    public int Grams { get; }

    /// <summary>Heavier than one courier may lift alone.</summary>
    public bool NeedsTwoPeople => Grams > 30_000;

    public static Weight operator +(Weight left, Weight right) => new(left.Grams + right.Grams);

    public static bool operator ==(Weight left, Weight right) => left.Equals(right);

    public static bool operator !=(Weight left, Weight right) => !left.Equals(right);

    public bool Equals(Weight other) => Grams == other.Grams;

    public override bool Equals(object? obj) => obj is Weight other && Equals(other);

    public override int GetHashCode() => Grams;
}
