global using System;
global using System.Collections.Generic;
global using System.Threading.Tasks;
