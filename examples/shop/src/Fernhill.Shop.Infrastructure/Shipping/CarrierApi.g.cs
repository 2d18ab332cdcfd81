namespace Fernhill.Shop.Infrastructure.Shipping;

public partial class CarrierApiParcel
{
    public int Grams { get; set; }

    public string PostCode { get; set; }
}
