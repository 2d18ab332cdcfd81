namespace Fernhill.Shop.Domain.Common;

/// <summary>The outcome of an operation that may fail for a reason the caller is expected to handle.</summary>
public class Result
{
    protected Result(bool succeeded, string? error)
    {
        Succeeded = succeeded;
        Error = error;
    }

    /// <summary>True when the operation did what was asked.</summary>
    public bool Succeeded { get; }

    /// <summary>Why it did not, in words a customer may read.</summary>
    public string? Error { get; }

    public static Result Ok() => new(true, null);

    public static Result Fail(string error) => new(false, error);
}

/// <summary>A <see cref="Result"/> that carries a value when it succeeded.</summary>
/// <typeparam name="T">Type of the value.</typeparam>
public sealed class Result<T> : Result
{
    private readonly T? _value;

    private Result(T? value, bool succeeded, string? error)
        : base(succeeded, error) => _value = value;

    /// <summary>The value. Throws when the operation failed.</summary>
    public T Value => Succeeded ? _value! : throw new InvalidOperationException(Error);

    public static Result<T> Ok(T value) => new(value, true, null);

    public static new Result<T> Fail(string error) => new(default, false, error);
}

/// <summary>One page of a longer list, with what a pager needs to know.</summary>
public sealed record PagedResult<TItem>(IReadOnlyList<TItem> Items, int Page, int PageSize, int TotalCount)
{
    /// <summary>Number of pages, at least one.</summary>
    public int PageCount => Math.Max(1, (TotalCount + PageSize - 1) / PageSize);

    /// <summary>The same page with each item converted.</summary>
    public PagedResult<TOther> Map<TOther>(Func<TItem, TOther> convert) =>
        new([.. Items.Select(convert)], Page, PageSize, TotalCount);
}
