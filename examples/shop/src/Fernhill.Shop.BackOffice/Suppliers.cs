using Fernhill.Shop.BackOffice.Metadata;
using Fernhill.Shop.BackOffice.Resources;

namespace Fernhill.Shop.BackOffice;

/// <summary>A nursery or manufacturer that the shop buys from.</summary>
[EntityDescription(
    BackOfficeDomain.Purchasing,
    nameof(BackOfficeResources.Supplier_Title),
    nameof(BackOfficeResources.Supplier_Help),
    nameof(BackOfficeResources.Supplier_Description),
    typeof(BackOfficeResources),
    GetListUrl = "/api/suppliers",
    GetUrl = "/api/suppliers/{id}",
    SaveUrl = "/api/supplier",
    DeleteUrl = "/api/suppliers/{id}",
    FactoryUrl = "/api/supplier/factory")]
public class Supplier : EntityBase
{
    /// <summary>Name under which the supplier trades.</summary>
    [FormField(
        LabelResource = nameof(BackOfficeResources.Supplier_Name),
        HelpResource = nameof(BackOfficeResources.Supplier_Name_Help),
        FieldType = FieldTypes.Text,
        IsRequired = true,
        ResourceType = typeof(BackOfficeResources))]
    public string Name { get; set; } = "";

    /// <summary>Terms of payment.</summary>
    [FormField(
        LabelResource = nameof(BackOfficeResources.Supplier_Terms),
        WatermarkResource = nameof(BackOfficeResources.Supplier_Terms_Watermark),
        FieldType = FieldTypes.MultiLineText,
        ResourceType = typeof(BackOfficeResources))]
    public string? Terms { get; set; }

    /// <summary>People to talk to.</summary>
    [FormField(
        LabelResource = nameof(BackOfficeResources.Supplier_Contacts),
        FieldType = FieldTypes.ChildList,
        ResourceType = typeof(BackOfficeResources))]
    public List<SupplierContact> Contacts { get; set; } = [];

    /// <summary>The row of the list view.</summary>
    public SupplierSummary CreateSummary() => new() { Id = Id, Name = Name, ContactCount = Contacts.Count };
}

/// <summary>A person at a supplier.</summary>
public class SupplierContact
{
    public required string Name { get; set; }

    public string? Phone { get; set; }
}

/// <summary>A supplier in a list.</summary>
public class SupplierSummary : SummaryData
{
    public int ContactCount { get; set; }
}

/// <summary>Stores suppliers as documents.</summary>
public class SupplierRepo : DocumentDBRepoBase<Supplier>
{
    public Task AddSupplierAsync(Supplier supplier) => CreateDocumentAsync(supplier);

    public Task<Supplier?> GetSupplierAsync(string id) => GetDocumentAsync(id);

    public Task DeleteSupplierAsync(string id) => DeleteDocumentAsync(id);
}

/// <summary>Adds, finds and removes suppliers.</summary>
public class SupplierManager(SupplierRepo suppliers) : ManagerBase
{
    /// <summary>Adds a supplier; the name is required.</summary>
    public async Task AddSupplierAsync(Supplier supplier, string user)
    {
        Authorize(user, nameof(AddSupplierAsync));
        ArgumentException.ThrowIfNullOrWhiteSpace(supplier.Name);
        await suppliers.AddSupplierAsync(supplier);
    }

    /// <summary>The supplier with that key, or null.</summary>
    public Task<Supplier?> GetSupplierAsync(string id, string user)
    {
        Authorize(user, nameof(GetSupplierAsync));
        return suppliers.GetSupplierAsync(id);
    }
}
