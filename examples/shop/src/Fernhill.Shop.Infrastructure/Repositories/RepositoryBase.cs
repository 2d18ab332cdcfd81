using Fernhill.Shop.Domain.Common;
using Fernhill.Shop.Infrastructure.Data;
using Microsoft.EntityFrameworkCore;

namespace Fernhill.Shop.Infrastructure.Repositories;

/// <summary>The part of a repository that is the same for every entity of the database.</summary>
public abstract class RepositoryBase<TEntity, TKey>(ShopDbContext context) : IRepository<TEntity, TKey>
    where TEntity : class
    where TKey : notnull
{
    protected ShopDbContext Context { get; } = context;

    /// <summary>What a query for this entity always loads with it.</summary>
    protected virtual IQueryable<TEntity> Query => Context.Set<TEntity>();

    /// <inheritdoc />
    public virtual async Task<TEntity?> GetAsync(TKey key, CancellationToken cancellationToken = default) =>
        await Context.Set<TEntity>().FindAsync([key], cancellationToken);

    /// <inheritdoc />
    public async Task SaveAsync(TEntity entity, CancellationToken cancellationToken = default)
    {
        if (Context.Entry(entity).State == EntityState.Detached)
        {
            Context.Add(entity);
        }

        await Context.SaveChangesAsync(cancellationToken);
    }

    /// <inheritdoc />
    public async Task DeleteAsync(TKey key, CancellationToken cancellationToken = default)
    {
        if (await GetAsync(key, cancellationToken) is { } entity)
        {
            Context.Remove(entity);
            await Context.SaveChangesAsync(cancellationToken);
        }
    }
}
