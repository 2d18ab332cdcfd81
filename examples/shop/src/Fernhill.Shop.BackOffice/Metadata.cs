namespace Fernhill.Shop.BackOffice.Metadata;

/// <summary>Marks the class that describes business domains.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class DomainDescriptorAttribute : Attribute;

/// <summary>Marks the property that describes one domain.</summary>
[AttributeUsage(AttributeTargets.Property)]
public sealed class DomainDescriptionAttribute(string key) : Attribute
{
    public string Key { get; } = key;
}

/// <summary>Describes an entity to the form generator: texts come from a resource class, addresses from here.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class EntityDescriptionAttribute(
    string domain, string titleResource, string userHelpResource, string descriptionResource, Type resourceType) : Attribute
{
    public string Domain { get; } = domain;

    public string TitleResource { get; } = titleResource;

    public string UserHelpResource { get; } = userHelpResource;

    public string DescriptionResource { get; } = descriptionResource;

    public Type ResourceType { get; } = resourceType;

    public string? GetListUrl { get; init; }

    public string? GetUrl { get; init; }

    public string? SaveUrl { get; init; }

    public string? DeleteUrl { get; init; }

    public string? FactoryUrl { get; init; }
}

/// <summary>Kinds of input on a form.</summary>
public enum FieldTypes
{
    Text = 0,
    MultiLineText = 1,
    Money = 2,
    Picker = 3,
    ChildList = 4,
}

/// <summary>Puts a property on the generated form.</summary>
[AttributeUsage(AttributeTargets.Property)]
public sealed class FormFieldAttribute : Attribute
{
    public required string LabelResource { get; init; }

    public string? HelpResource { get; init; }

    public string? WatermarkResource { get; init; }

    public FieldTypes FieldType { get; init; }

    public bool IsRequired { get; init; }

    public required Type ResourceType { get; init; }
}

/// <summary>A business domain as the back office shows it.</summary>
public sealed class DomainDescription
{
    public required string Key { get; init; }

    public required string Name { get; init; }

    public required string Description { get; init; }
}

/// <summary>Base of everything the back office edits.</summary>
public abstract class EntityBase
{
    public string Id { get; set; } = "";

    public DateTimeOffset LastUpdated { get; set; }
}

/// <summary>Base of the rows of a list view.</summary>
public abstract class SummaryData
{
    public string Id { get; set; } = "";

    public string Name { get; set; } = "";
}

/// <summary>Base of managers: checks that the caller may do what is asked.</summary>
public abstract class ManagerBase
{
    protected static void Authorize(string user, string action) =>
        ArgumentException.ThrowIfNullOrWhiteSpace(user, action);
}

/// <summary>Base of repositories over a document database.</summary>
public abstract class DocumentDBRepoBase<TEntity>
    where TEntity : EntityBase
{
    private readonly Dictionary<string, TEntity> _documents = [];

    protected Task CreateDocumentAsync(TEntity entity) => Task.FromResult(_documents[entity.Id] = entity);

    protected Task<TEntity?> GetDocumentAsync(string id) => Task.FromResult(_documents.GetValueOrDefault(id));

    protected Task DeleteDocumentAsync(string id) => Task.FromResult(_documents.Remove(id));

    protected Task<IEnumerable<TEntity>> QueryAsync(Func<TEntity, bool> where) => Task.FromResult(_documents.Values.Where(where));
}
