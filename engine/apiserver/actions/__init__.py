"""What a POST does that creates no object of its own: bindings, evictions, tokens, reviews."""
