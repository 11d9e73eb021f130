"""What a kubelet serves of itself on its port: health, Pods, statistics, metrics, its configuration and its logs
(pkg/kubelet/server). The API server's node proxy is the way to it (`engine.streaming`)."""

from engine.kubelet.server.server import KubeletServer

__all__ = ["KubeletServer"]
