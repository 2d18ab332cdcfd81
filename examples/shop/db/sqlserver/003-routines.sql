-- Writes one line to the audit trail.
CREATE PROCEDURE dbo.WriteAudit
    @Action  nvarchar(100),
    @Subject nvarchar(200)
AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO dbo.AuditLog (Action, Subject) VALUES (@Action, @Subject);
END;
GO

-- Sum of the lines of an order, without tax.
CREATE FUNCTION sales.OrderTotal (@OrderId uniqueidentifier)
RETURNS decimal(12, 2)
AS
BEGIN
    RETURN (SELECT SUM(l.Quantity * l.UnitPrice) FROM sales.OrderLines AS l WHERE l.OrderId = @OrderId);
END;
GO

CREATE OR ALTER FUNCTION sales.OrdersOfCustomer (@CustomerId uniqueidentifier, @From date = NULL)
RETURNS TABLE
AS
RETURN
(
    SELECT o.Number, o.PlacedAt, sales.OrderTotal(o.Id) AS Total
    FROM sales.Orders AS o
    WHERE o.CustomerId = @CustomerId AND (@From IS NULL OR o.PlacedAt >= @From)
);
GO

/* Places an order in one transaction: takes the stock first, so that two customers
   never buy the last spade. Returns the new number. */
CREATE OR ALTER PROCEDURE sales.PlaceOrder
    @CustomerId uniqueidentifier,
    @Lines      sales.OrderLineList READONLY,
    @Number     nvarchar(20) OUTPUT
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    DECLARE @OrderId uniqueidentifier = NEWID();

    BEGIN TRANSACTION;

    UPDATE p
    SET p.Available = p.Available - l.Quantity
    FROM [catalog].[Products] AS p
    JOIN @Lines AS l ON l.Sku = p.Sku
    WHERE p.Available >= l.Quantity;

    IF @@ROWCOUNT < (SELECT COUNT(*) FROM @Lines)
        THROW 50001, N'Not enough stock.', 1;

    SET @Number = CONCAT('FH-', YEAR(SYSUTCDATETIME()), '-', NEXT VALUE FOR sales.OrderNumbers);
    INSERT INTO sales.Orders (Id, Number, CustomerId, Status, PlacedAt)
    VALUES (@OrderId, @Number, @CustomerId, 10, SYSDATETIMEOFFSET());

    WITH Numbered AS
    (
        SELECT l.Sku, l.Quantity, ROW_NUMBER() OVER (ORDER BY l.Sku) AS Position FROM @Lines AS l
    )
    INSERT INTO sales.OrderLines (OrderId, Position, Sku, Quantity, UnitPrice)
    SELECT @OrderId, n.Position, n.Sku, n.Quantity, p.Price
    FROM Numbered AS n
    JOIN dbo.CurrentProducts AS p ON p.Sku = n.Sku;

    EXEC dbo.WriteAudit @Action = N'order.place', @Subject = @Number;
    COMMIT;
END;
GO

CREATE PROCEDURE sales.CancelOrder
    @Number nvarchar(20)
AS
BEGIN
    UPDATE sales.Orders SET Status = 90 WHERE Number = @Number AND Status < 30;
    EXECUTE dbo.WriteAudit N'order.cancel', @Number;
END;
GO

CREATE TRIGGER sales.OrdersAudit ON sales.Orders
AFTER UPDATE
AS
BEGIN
    IF UPDATE(Status)
        INSERT INTO dbo.AuditLog (Action, Subject)
        SELECT N'order.status', CONCAT(i.Number, N' ', d.Status, N' to ', i.Status)
        FROM inserted AS i
        JOIN deleted AS d ON d.Id = i.Id;
END;
GO
