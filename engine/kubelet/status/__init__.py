"""A Pod's status: made from what the runtime holds, kept, and sent to the API server (pkg/kubelet/status)."""
