using System.Runtime.CompilerServices;

[assembly: InternalsVisibleTo("Fernhill.Shop.Tests")]
[assembly: CLSCompliant(false)]
