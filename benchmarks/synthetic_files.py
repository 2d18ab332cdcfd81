"""The files of one area of a synthetic repository, as templates.

`$Entity`, `$Domain`, `$Namespace` and `$version` are of the area; `$parts` are the parts that repeat, one per operation
(`$Verb`, `$reason`, `$n`) or per property (`$Name`, `$type`).
"""

from __future__ import annotations

from collections.abc import Callable
from string import Template
from typing import NamedTuple, Protocol


class Area(Protocol):
    """What a template may ask. `operations` are (verb, reason), `properties` (name, type)."""

    @property
    def domain(self) -> str: ...

    @property
    def entity(self) -> str: ...

    @property
    def namespace(self) -> str: ...

    @property
    def version(self) -> int: ...

    @property
    def operations(self) -> list[tuple[str, str]]: ...

    @property
    def properties(self) -> list[tuple[str, str]]: ...


class File(NamedTuple):
    """One file: a frame, what repeats in it, and of what."""

    frame: str
    part: str = ""
    of: Callable[[Area], list[dict[str, str]]] = lambda area: []


def written(file: File, area: Area) -> str:
    """The text of a file of an area."""
    known = {
        "Entity": area.entity,
        "entity": area.entity.lower(),
        "Domain": area.domain,
        "domain": area.domain.lower(),
        "Namespace": area.namespace,
        "version": str(area.version),
        "Verb": area.operations[0][0],
    }
    parts = "\n".join(Template(file.part.strip("\n")).substitute(known | more) for more in file.of(area))
    return Template(file.frame.lstrip("\n")).substitute(known | {"parts": parts})


def _operations(area: Area) -> list[dict[str, str]]:
    return [
        {"Verb": verb, "verb": verb.lower(), "reason": reason, "Reason": reason.title(), "n": str(number)}
        for number, (verb, reason) in enumerate(area.operations)
    ]


def _properties(area: Area) -> list[dict[str, str]]:
    return [{"Name": name, "name": name.lower(), "type": kind} for name, kind in area.properties]


_ENTITY = File(
    """
using System;
using System.Collections.Generic;

namespace $Namespace;

/// <summary>A $Entity as $Domain keeps it.</summary>
public class $Entity
{
    public Guid Id { get; set; }

$parts

    public ${Entity}State State { get; set; }

    public ICollection<${Entity}Line> Lines { get; } = new List<${Entity}Line>();
}

/// <summary>One line of a <see cref="$Entity"/>.</summary>
public record ${Entity}Line(Guid Id, Guid ${Entity}Id, string Text, decimal Amount);
""",
    """
    /// <summary>The $name of the $Entity.</summary>
    public $type $Name { get; set; }
""",
    _properties,
)

_STATE = File(
    """
namespace $Namespace;

public enum ${Entity}State
{
    New,
    /// <summary>Nothing can be done with it any more.</summary>
    Closed = 9,
}
"""
)

_CONTRACT = File(
    """
using System;
using System.Threading;
using System.Threading.Tasks;

namespace $Namespace;

/// <summary>What can be done with a $Entity, in edition $version.</summary>
public interface I${Entity}Service
{
$parts
}
""",
    """
    /// <summary>Asks $Domain to $verb one $Entity.</summary>
    Task<$Entity> ${Verb}Async(Guid id, CancellationToken token = default);
""",
    _operations,
)

_SERVICE = File(
    """
using System;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Extensions.Logging;

namespace $Namespace;

/// <summary>Keeps the rules of $Domain for every $Entity.</summary>
public class ${Entity}Service : I${Entity}Service
{
    private readonly I${Entity}Repository _repository;
    private readonly ILogger<${Entity}Service> _logger;

    public ${Entity}Service(I${Entity}Repository repository, ILogger<${Entity}Service> logger)
    {
        _repository = repository;
        _logger = logger;
    }

$parts
}
""",
    """
    /// <inheritdoc />
    public async Task<$Entity> ${Verb}Async(Guid id, CancellationToken token = default)
    {
        var found = await _repository.FindAsync(id, token)
            ?? throw new InvalidOperationException("$Entity is $reason");
        if (found.Lines.Count > $version$n)
        {
            _logger.LogWarning("$Verb of {Id} has too many lines", id);
        }

        found.State = ${Entity}State.Closed;
        await _repository.SaveAsync(found, token);
        return found;
    }
""",
    _operations,
)

_REPOSITORY_CONTRACT = File(
    """
using System;
using System.Threading;
using System.Threading.Tasks;

namespace $Namespace;

public interface I${Entity}Repository
{
    Task<$Entity?> FindAsync(Guid id, CancellationToken token);

    Task SaveAsync($Entity changed, CancellationToken token);
}
"""
)

_REPOSITORY = File(
    """
using System;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.EntityFrameworkCore;

namespace $Namespace;

/// <summary>Reads and writes $Entity rows.</summary>
public sealed class ${Entity}Repository(${Entity}Context context) : I${Entity}Repository
{
    public Task<$Entity?> FindAsync(Guid id, CancellationToken token) =>
        context.${Entity}s.Include(row => row.Lines).SingleOrDefaultAsync(row => row.Id == id, token);

    public async Task SaveAsync($Entity changed, CancellationToken token)
    {
        context.Update(changed);
        await context.SaveChangesAsync(token);
    }
}
"""
)

_CONTEXT = File(
    """
using Microsoft.EntityFrameworkCore;

namespace $Namespace;

public class ${Entity}Context(DbContextOptions<${Entity}Context> options) : DbContext(options)
{
    public DbSet<$Entity> ${Entity}s => Set<$Entity>();

    public DbSet<${Entity}Line> ${Entity}Lines => Set<${Entity}Line>();

    protected override void OnModelCreating(ModelBuilder model)
    {
        model.Entity<$Entity>().ToTable("${Entity}s", "$domain").HasKey(row => row.Id);
    }
}
"""
)

_CONTROLLER = File(
    """
using System;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Mvc;

namespace $Namespace;

[ApiController]
[Route("api/$domain/${entity}s")]
public class ${Entity}Controller : ControllerBase
{
    private readonly I${Entity}Service _service;

    public ${Entity}Controller(I${Entity}Service service) => _service = service;

$parts
}
""",
    """
    /// <summary>Asks to $verb the $Entity with this id.</summary>
    [HttpPost("{id:guid}/$verb")]
    [ProducesResponseType(typeof($Entity), 200)]
    public async Task<IActionResult> $Verb(Guid id, CancellationToken token) =>
        Ok(await _service.${Verb}Async(id, token));
""",
    _operations,
)

_HANDLER = File(
    """
using System;
using System.Threading;
using System.Threading.Tasks;
using MediatR;

namespace $Namespace;

public record $Verb${Entity}Command(Guid Id, string Comment) : IRequest<$Entity>;

public class $Verb${Entity}Handler(I${Entity}Service service) : IRequestHandler<$Verb${Entity}Command, $Entity>
{
    public Task<$Entity> Handle($Verb${Entity}Command request, CancellationToken token) =>
        service.${Verb}Async(request.Id, token);
}
"""
)

_EXTENSIONS = File(
    """
using Microsoft.Extensions.DependencyInjection;

namespace $Namespace;

public static class ${Entity}Extensions
{
    public static IServiceCollection Add${Entity}s(this IServiceCollection services)
    {
        services.AddDbContext<${Entity}Context>();
        services.AddScoped<I${Entity}Repository, ${Entity}Repository>();
        services.AddScoped<I${Entity}Service, ${Entity}Service>();
        return services;
    }
}
"""
)

_TESTS = File(
    """
using System;
using System.Threading.Tasks;
using Xunit;

namespace $Namespace.Tests;

public class ${Entity}ServiceTests
{
$parts
}
""",
    """
    [Fact]
    public async Task ${Verb}_refuses_what_is_$reason()
    {
        var service = new ${Entity}Service(_repository, _logger);
        await Assert.ThrowsAsync<InvalidOperationException>(() => service.${Verb}Async(Guid.Empty));
    }
""",
    _operations,
)

_TEXTS = File(
    """
<?xml version="1.0" encoding="utf-8"?>
<root>
$parts
</root>
""",
    """
  <data name="${Entity}_$Name" xml:space="preserve">
    <value>$Name of the $Entity in $Domain (edition $version)</value>
  </data>
""",
    _properties,
)

_SQL = File(
    """
CREATE TABLE $domain.${Entity}s (
    Id UNIQUEIDENTIFIER NOT NULL PRIMARY KEY,
$parts
    State INT NOT NULL
);
GO

CREATE PROCEDURE $domain.Close$Entity @id UNIQUEIDENTIFIER AS
BEGIN
    UPDATE $domain.${Entity}s SET State = 9 WHERE Id = @id;
    SELECT * FROM $domain.${Entity}s WHERE Id = @id;
END
""",
    "    $Name NVARCHAR(200) NULL,",
    _properties,
)

_GUIDE = File(
    """
# ${Entity}s

A $Entity belongs to $Domain.

$parts
""",
    """
## How to $verb a $Entity

Call `${Verb}Async`. What is $reason is refused, and $Domain is told about it.
""",
    _operations,
)

SERVICE, CONTRACT, TEXTS, ENTITY, TESTS = "{}Service.cs", "I{}Service.cs", "{}Texts.resx", "{}.cs", "{}Tests.cs"

FILES: dict[str, File] = {
    ENTITY: _ENTITY,
    "{}State.cs": _STATE,
    CONTRACT: _CONTRACT,
    SERVICE: _SERVICE,
    "I{}Repository.cs": _REPOSITORY_CONTRACT,
    "{}Repository.cs": _REPOSITORY,
    "{}Context.cs": _CONTEXT,
    "{}Controller.cs": _CONTROLLER,
    "{}Handler.cs": _HANDLER,
    "{}Extensions.cs": _EXTENSIONS,
    TESTS: _TESTS,
    TEXTS: _TEXTS,
    "{}.sql": _SQL,
    "{}.md": _GUIDE,
}
"""File name, with a place for the entity → its template."""
