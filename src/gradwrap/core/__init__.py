"""The core: values, levels, the table, libraries, calls, the graph, arrays, observers."""
