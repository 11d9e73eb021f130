"""The watch cache of each resource, and the watchers that it wakes (upstream storage/cacher)."""
