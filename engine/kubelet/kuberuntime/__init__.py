"""From a Pod's spec to CRI calls: what must change, and the calls that change it (pkg/kubelet/kuberuntime)."""
