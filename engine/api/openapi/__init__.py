"""The OpenAPI documents (v2 and v3) that the server publishes of its kinds."""
