"""What Go reads and writes, as clients of a real API server see it: JSON, YAML, numbers, times, URLs, `%v`."""
