using System.Data;
using Fernhill.Shop.Domain.Customers;
using Fernhill.Shop.Infrastructure.Data;
using Microsoft.Data.SqlClient;
using Microsoft.EntityFrameworkCore;

namespace Fernhill.Shop.Infrastructure.Repositories;

/// <summary>Customers in SQL Server. The statement report uses ADO.NET, because it streams.</summary>
public sealed class CustomerRepository(ShopDbContext context, string connectionString)
    : RepositoryBase<Customer, Guid>(context), ICustomerRepository
{
    private const string StatementSql = """
        SELECT o.Number, o.PlacedAt, sales.OrderTotal(o.Id) AS Total, i.DueOn
        FROM sales.Orders AS o
        LEFT JOIN billing.Invoices AS i ON i.OrderId = o.Id
        WHERE o.CustomerId = @CustomerId
        ORDER BY o.PlacedAt; -- "quotes" and {braces} are plain text here
        """;

    /// <inheritdoc />
    public Task<Customer?> FindByEmailAsync(string email, CancellationToken cancellationToken = default) =>
        Context.Customers.SingleOrDefaultAsync(customer => customer.Email == email, cancellationToken);

    /// <summary>Streams the account statement of a customer, oldest order first.</summary>
    public async IAsyncEnumerable<(string Number, decimal Total)> ReadStatementAsync(Guid customerId)
    {
        await using var connection = new SqlConnection(connectionString);
        await using var command = new SqlCommand(StatementSql, connection);
        command.Parameters.Add("@CustomerId", SqlDbType.UniqueIdentifier).Value = customerId;
        await connection.OpenAsync();
        await using var reader = await command.ExecuteReaderAsync();
        while (await reader.ReadAsync())
        {
            yield return (reader.GetString(0), reader.GetDecimal(2));
        }
    }

    /// <summary>Withdraws an order in the database itself; used by support when the shop is down.</summary>
    public async Task CancelOrderByProcedureAsync(string number, CancellationToken cancellationToken = default)
    {
        await using var connection = new SqlConnection(connectionString);
        await using var command = new SqlCommand("sales.CancelOrder", connection) { CommandType = CommandType.StoredProcedure };
        command.Parameters.AddWithValue("@Number", number);
        await connection.OpenAsync(cancellationToken);
        await command.ExecuteNonQueryAsync(cancellationToken);
    }
}
