using Fernhill.Shop.BackOffice.Metadata;

namespace Fernhill.Shop.BackOffice;

/// <summary>Describes the business domains of the back office.</summary>
[DomainDescriptor]
public class BackOfficeDomain
{
    /// <summary>Key of the domain of purchasing.</summary>
    public const string Purchasing = "Purchasing";

    /// <summary>Suppliers and what the shop buys from them.</summary>
    [DomainDescription(Purchasing)]
    public static DomainDescription PurchasingDescription => new()
    {
        Key = Purchasing,
        Name = "Purchasing",
        Description = "Suppliers, their terms, and the purchase orders the shop sends them.",
    };
}
