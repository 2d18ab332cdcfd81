using System.ComponentModel.DataAnnotations;
using System.ComponentModel.DataAnnotations.Schema;
using Fernhill.Shop.Domain.Orders;

namespace Fernhill.Shop.Domain.Customers;

/// <summary>Somebody who buys, with an account or as a guest.</summary>
[Table("Customers", Schema = "sales")]
public class Customer
{
    /// <summary>Technical key.</summary>
    [Key]
    public Guid Id { get; set; }

    /// <summary>Name as it goes on the parcel.</summary>
    [Required, MaxLength(200)]
    public string DisplayName { get; set; } = string.Empty;

    /// <summary>E-mail address; unique among accounts, null for guests who paid in the store.</summary>
    public string? Email { get; set; }

    /// <summary>Where invoices go.</summary>
    public PostalAddress BillingAddress { get; set; } = PostalAddress.Unknown;

    /// <summary>Everything the customer has ever ordered.</summary>
    public IReadOnlyCollection<Order> Orders { get; set; } = [];

    /// <summary>Points of the loyalty scheme.</summary>
    public int LoyaltyPoints { get; set; }
}

/// <summary>A postal address in the order an envelope wants it.</summary>
/// <param name="Lines">Street, house, flat.</param>
/// <param name="PostCode">Post code as the country writes it.</param>
/// <param name="City">Town or city.</param>
/// <param name="CountryCode">Two letters, ISO 3166.</param>
public sealed record PostalAddress(string[] Lines, string PostCode, string City, string CountryCode)
{
    public static readonly PostalAddress Unknown = new([], "", "", "GB");
}
