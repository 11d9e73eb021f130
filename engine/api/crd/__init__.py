"""Custom resources as pure functions: what a CustomResourceDefinition must be, and what its schema does to objects.

A version of a definition is compiled once into a `CustomVersion`, which the rest of the object model meets through
`ResourceInfo.extension`. Source of the behaviour: apiextensions-apiserver pkg/apiserver/schema and pkg/apis.
"""
