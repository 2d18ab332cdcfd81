/* Tables of the shop. Entity Framework owns sales.Orders and sales.Customers (see InitialCreate);
   this script creates the same schema for installations without it. */
SET ANSI_NULLS ON;
GO
CREATE SCHEMA sales;
GO
CREATE SCHEMA catalog;
GO
CREATE SCHEMA billing;
GO

CREATE SEQUENCE sales.OrderNumbers AS bigint START WITH 417 INCREMENT BY 1;
GO

-- Lines as a parameter of sales.PlaceOrder.
CREATE TYPE sales.OrderLineList AS TABLE
(
    Sku      varchar(16) NOT NULL PRIMARY KEY,
    Quantity int         NOT NULL CHECK (Quantity > 0)
);
GO

CREATE TABLE sales.Customers
(
    Id            uniqueidentifier NOT NULL CONSTRAINT PK_Customers PRIMARY KEY,
    DisplayName   nvarchar(200)    NOT NULL,
    Email         nvarchar(320)    NULL,
    LoyaltyPoints int              NOT NULL CONSTRAINT DF_Customers_Points DEFAULT (0)
);
GO

CREATE TABLE [catalog].[Categories]
(
    [Id]       int IDENTITY (1, 1) NOT NULL PRIMARY KEY,
    [Slug]     varchar(80)         NOT NULL UNIQUE,
    [ParentId] int                 NULL REFERENCES [catalog].[Categories] ([Id])
);
GO

CREATE TABLE [catalog].[Products]
(
    [Sku]        varchar(16)    NOT NULL PRIMARY KEY,
    [Name]       nvarchar(200)  NOT NULL,
    [CategoryId] int            NULL,
    [Price]      decimal(10, 2) NOT NULL, -- without tax
    [Available]  int            NOT NULL DEFAULT 0
);
GO

CREATE TABLE sales.Orders
(
    Id         uniqueidentifier  NOT NULL CONSTRAINT PK_Orders PRIMARY KEY,
    Number     nvarchar(20)      NOT NULL CONSTRAINT UQ_Orders_Number UNIQUE,
    CustomerId uniqueidentifier  NOT NULL,
    Status     int               NOT NULL,
    PlacedAt   datetimeoffset(0) NULL,
    CONSTRAINT FK_Orders_Customers FOREIGN KEY (CustomerId) REFERENCES sales.Customers (Id)
);
GO

CREATE TABLE sales.OrderLines
(
    OrderId   uniqueidentifier NOT NULL,
    Position  int              NOT NULL,
    Sku       varchar(16)      NOT NULL,
    Quantity  int              NOT NULL,
    UnitPrice decimal(10, 2)   NOT NULL,
    CONSTRAINT PK_OrderLines PRIMARY KEY (OrderId, Position),
    CONSTRAINT FK_OrderLines_Orders FOREIGN KEY (OrderId) REFERENCES sales.Orders (Id) ON DELETE CASCADE,
    CONSTRAINT FK_OrderLines_Products FOREIGN KEY (Sku) REFERENCES [catalog].Products (Sku)
);
GO

CREATE TABLE billing.Invoices
(
    Number     bigint           NOT NULL PRIMARY KEY,
    OrderId    uniqueidentifier NOT NULL REFERENCES sales.Orders (Id),
    Due        decimal(10, 2)   NOT NULL,
    DueOn      date             NOT NULL,
    RemindedOn date             NULL,
    Paid       bit              NOT NULL DEFAULT 0
);
GO

CREATE TABLE AuditLog
(
    Id      bigint IDENTITY PRIMARY KEY,
    At      datetime2     NOT NULL DEFAULT SYSUTCDATETIME(),
    Action  nvarchar(100) NOT NULL,
    Subject nvarchar(200) NOT NULL
);
GO

ALTER TABLE [catalog].[Products]
    ADD CONSTRAINT FK_Products_Categories FOREIGN KEY ([CategoryId]) REFERENCES [catalog].[Categories] ([Id]);
GO

CREATE INDEX IX_Orders_Customer ON sales.Orders (CustomerId) INCLUDE (PlacedAt);
GO
