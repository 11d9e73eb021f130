"""Custom resources as the API server serves them: definitions become resources, live.

Stands where apiextensions-apiserver stands in kube-apiserver. What a definition means is in `engine.api.crd`.
"""
