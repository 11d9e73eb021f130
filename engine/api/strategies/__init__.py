"""What a kind does to an object before it is written (upstream pkg/registry, strategy.go of each kind)."""
