"""Kubernetes' own CEL functions, and those of cel-go's extensions that it has on (apiserver pkg/cel/library)."""
