"""Webhooks and policies that stand in files beside the API server, and not in its API: they hold from its start, nobody
can change them by a request, and they alone are asked about the configuration of admission itself (KEP-5793, on by
default since 1.37)."""
