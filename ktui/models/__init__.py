"""View models: streams in, rows out; tested without a terminal."""
