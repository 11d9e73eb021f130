"""The REST verbs, generic over every resource (apiserver pkg/registry/generic, pkg/endpoints)."""
