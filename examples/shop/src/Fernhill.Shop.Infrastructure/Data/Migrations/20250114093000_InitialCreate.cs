using System;
using Microsoft.EntityFrameworkCore.Migrations;

namespace Fernhill.Shop.Infrastructure.Data.Migrations
{
    /// <inheritdoc />
    public partial class InitialCreate : Migration
    {
        /// <inheritdoc />
        protected override void Up(MigrationBuilder migrationBuilder)
        {
            migrationBuilder.EnsureSchema(name: "sales");
            migrationBuilder.CreateSequence<long>(name: "OrderNumbers", schema: "sales", startValue: 417L);
            migrationBuilder.CreateTable(
                name: "Customers",
                schema: "sales",
                columns: table => new
                {
                    Id = table.Column<Guid>(type: "uniqueidentifier", nullable: false),
                    DisplayName = table.Column<string>(type: "nvarchar(200)", maxLength: 200, nullable: false),
                    Email = table.Column<string>(type: "nvarchar(320)", nullable: true),
                    LoyaltyPoints = table.Column<int>(type: "int", nullable: false, defaultValue: 0),
                },
                constraints: table => table.PrimaryKey("PK_Customers", row => row.Id));
            migrationBuilder.CreateTable(
                name: "Orders",
                schema: "sales",
                columns: table => new
                {
                    Id = table.Column<Guid>(type: "uniqueidentifier", nullable: false),
                    Number = table.Column<string>(type: "nvarchar(20)", maxLength: 20, nullable: false),
                    CustomerId = table.Column<Guid>(type: "uniqueidentifier", nullable: false),
                    Status = table.Column<int>(type: "int", nullable: false),
                    PlacedAt = table.Column<DateTimeOffset>(type: "datetimeoffset", nullable: true),
                },
                constraints: table =>
                {
                    table.PrimaryKey("PK_Orders", row => row.Id);
                    table.ForeignKey(
                        name: "FK_Orders_Customers_CustomerId",
                        column: row => row.CustomerId,
                        principalSchema: "sales",
                        principalTable: "Customers",
                        principalColumn: "Id",
                        onDelete: ReferentialAction.Restrict);
                });
            migrationBuilder.CreateIndex(
                name: "IX_Orders_Number", schema: "sales", table: "Orders", column: "Number", unique: true);
            migrationBuilder.Sql("EXEC dbo.WriteAudit @Action = N'schema.created', @Subject = N'InitialCreate';");
        }

        /// <inheritdoc />
        protected override void Down(MigrationBuilder migrationBuilder)
        {
            migrationBuilder.DropTable(name: "Orders", schema: "sales");
            migrationBuilder.DropTable(name: "Customers", schema: "sales");
            migrationBuilder.DropSequence(name: "OrderNumbers", schema: "sales");
        }
    }
}
