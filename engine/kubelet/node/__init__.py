"""The node itself: registration, status, lease (pkg/kubelet kubelet_node_status.go, pkg/kubelet/nodestatus)."""
