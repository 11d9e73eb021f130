"""Addresses and ports of Services, given out and repaired (upstream pkg/registry/core/service)."""
