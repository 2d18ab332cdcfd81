"""How well a generation answers: question sets, their metrics, their runs, and the gate before promotion."""
