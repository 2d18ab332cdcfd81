-- Orders that somebody still has to work on.
CREATE VIEW sales.OpenOrders
AS
SELECT o.Id AS OrderId, o.Number, o.PlacedAt, c.DisplayName, COALESCE(i.Due, 0) AS PaidAmount
FROM sales.Orders AS o
INNER JOIN sales.Customers AS c ON c.Id = o.CustomerId
LEFT JOIN billing.Invoices AS i ON i.OrderId = o.Id AND i.Paid = 1
WHERE o.Status IN (10, 20);
GO

/* Invoices whose last day to pay has passed. A separator inside a comment ends no batch:
GO
*/
CREATE OR ALTER VIEW billing.OverdueInvoices WITH SCHEMABINDING
AS
SELECT i.Number, i.Due, DATEDIFF(day, i.DueOn, SYSUTCDATETIME()) AS DaysOverdue
FROM billing.Invoices AS i
WHERE i.Paid = 0 AND i.DueOn < CAST(SYSUTCDATETIME() AS date);
GO

CREATE SYNONYM dbo.CurrentProducts FOR [catalog].[Products];
GO
