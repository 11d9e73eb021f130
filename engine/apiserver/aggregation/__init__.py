"""APIServices, as kube-aggregator shows them in front of the API server."""
