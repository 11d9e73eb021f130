"""How kubectl puts objects on paper: tables, YAML, JSON, names, JSONPath and custom columns."""
