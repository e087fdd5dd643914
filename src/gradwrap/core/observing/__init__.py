"""Those who look on: hooks, watches, inspections of a pass, places where work was done."""
