global using System.Globalization;
global using Fernhill.Shop.Domain.Common;
global using Fernhill.Shop.Domain.Messaging;
global using Fernhill.Shop.Domain.Resources;
global using OrderNumber = System.String;
