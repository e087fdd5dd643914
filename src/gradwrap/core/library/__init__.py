"""The core's view of an array library: its arrays, its namespace, its scattered writes."""
