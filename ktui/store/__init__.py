"""`ktui store`: etcdctl's words over what the debug endpoints of a cluster answer."""
