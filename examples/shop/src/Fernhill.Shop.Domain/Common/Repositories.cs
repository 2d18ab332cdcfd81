namespace Fernhill.Shop.Domain.Common;

/// <summary>What every repository of aggregates offers.</summary>
/// <typeparam name="TEntity">The aggregate root.</typeparam>
/// <typeparam name="TKey">Type of its key.</typeparam>
public interface IRepository<TEntity, in TKey>
    where TEntity : class
    where TKey : notnull
{
    /// <summary>The entity with that key, or null.</summary>
    Task<TEntity?> GetAsync(TKey key, CancellationToken cancellationToken = default);

    /// <summary>Adds a new entity or stores the changes of a known one.</summary>
    Task SaveAsync(TEntity entity, CancellationToken cancellationToken = default);

    /// <summary>Removes the entity; removing an unknown key is not an error.</summary>
    Task DeleteAsync(TKey key, CancellationToken cancellationToken = default);
}
