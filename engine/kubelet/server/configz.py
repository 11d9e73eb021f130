"""/configz: the KubeletConfiguration that a node here goes by (staging/src/k8s.io/kubelet/config/v1beta1 types.go, with
the defaults of pkg/kubelet/apis/config/v1beta1), as kubeadm would have set it up.

Settings that a simulated node has no use for are left out; what is here is what this kubelet does.
"""

from __future__ import annotations

from engine.api.golang.duration import duration_text
from engine.api.types import Object
from engine.config import NodeConfig
from engine.kubelet import eviction
from engine.kubelet.kuberuntime.network_files import CLUSTER_DNS, CLUSTER_DOMAIN
from engine.kubelet.node import agent, lease, status


def configuration(config: NodeConfig) -> Object:
    return {
        "enableServer": True,
        "podLogsDir": "/var/log/pods",
        "syncFrequency": "1m0s",
        "address": "0.0.0.0",
        "port": status.KUBELET_PORT,
        "serializeImagePulls": True,
        "authentication": {
            "x509": {"clientCAFile": "/etc/kubernetes/pki/ca.crt"},
            "webhook": {"enabled": True, "cacheTTL": "2m0s"},
            "anonymous": {"enabled": False},
        },
        "authorization": {
            "mode": "Webhook",
            "webhook": {"cacheAuthorizedTTL": "5m0s", "cacheUnauthorizedTTL": "30s"},
        },
        "enableDebuggingHandlers": True,
        "clusterDomain": CLUSTER_DOMAIN,
        "clusterDNS": [CLUSTER_DNS],
        "nodeStatusReportFrequency": duration_text(agent.REPORT_FREQUENCY),
        "nodeLeaseDurationSeconds": lease.DURATION_SECONDS,
        "cgroupDriver": "systemd",
        "cpuManagerPolicy": "none",
        "memoryManagerPolicy": "None",
        "topologyManagerPolicy": "none",
        "topologyManagerScope": "container",
        "maxPods": config.pods,
        "podPidsLimit": -1,
        "nodeStatusMaxImages": status.MAX_IMAGES,
        "evictionHard": {"memory.available": str(eviction.THRESHOLD)},
        "evictionPressureTransitionPeriod": duration_text(eviction.PRESSURE_TRANSITION_PERIOD),
        "enableControllerAttachDetach": True,
        "failSwapOn": True,
        "memorySwap": {},
        "configMapAndSecretChangeDetectionStrategy": "Watch",
        "enforceNodeAllocatable": ["pods"],
        "volumePluginDir": "/usr/libexec/kubernetes/kubelet-plugins/volume/exec/",
        "enableSystemLogHandler": True,
        "enableSystemLogQuery": False,
        "registerNode": True,
        "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
    }
