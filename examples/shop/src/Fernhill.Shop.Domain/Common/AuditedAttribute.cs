namespace Fernhill.Shop.Domain.Common;

/// <summary>Marks an operation whose caller, arguments and outcome are written to the audit trail.</summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Method, Inherited = false)]
public sealed class AuditedAttribute(string action) : Attribute
{
    /// <summary>Name of the action as auditors know it, for example <c>order.cancel</c>.</summary>
    public string Action { get; } = action;

    /// <summary>How long the record is kept.</summary>
    public int RetentionDays { get; init; } = 365;
}
