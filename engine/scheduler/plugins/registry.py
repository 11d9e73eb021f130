"""All in-tree plugins, by name."""

from __future__ import annotations

from engine.scheduler.framework.plugin import Plugin
from engine.scheduler.plugins.coscheduling import Coscheduling
from engine.scheduler.plugins.default_binder import DefaultBinder
from engine.scheduler.plugins.default_preemption import DefaultPreemption
from engine.scheduler.plugins.dynamic_resources import DynamicResources
from engine.scheduler.plugins.image_locality import ImageLocality
from engine.scheduler.plugins.inter_pod_affinity import InterPodAffinity
from engine.scheduler.plugins.node_affinity import NodeAffinity
from engine.scheduler.plugins.node_declared_features import NodeDeclaredFeatures
from engine.scheduler.plugins.node_name import NodeName
from engine.scheduler.plugins.node_ports import NodePorts
from engine.scheduler.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from engine.scheduler.plugins.node_resources_fit import NodeResourcesFit
from engine.scheduler.plugins.node_unschedulable import NodeUnschedulable
from engine.scheduler.plugins.node_volume_limits import NodeVolumeLimits
from engine.scheduler.plugins.pod_topology_spread import PodTopologySpread
from engine.scheduler.plugins.priority_sort import PrioritySort
from engine.scheduler.plugins.scheduling_gates import SchedulingGates
from engine.scheduler.plugins.taint_toleration import TaintToleration
from engine.scheduler.plugins.volume_binding import VolumeBinding
from engine.scheduler.plugins.volume_restrictions import VolumeRestrictions
from engine.scheduler.plugins.volume_zone import VolumeZone

REGISTRY: dict[str, type[Plugin]] = {
    plugin.name: plugin
    for plugin in (
        SchedulingGates,
        PrioritySort,
        NodeUnschedulable,
        NodeName,
        TaintToleration,
        NodeAffinity,
        NodePorts,
        NodeResourcesFit,
        VolumeRestrictions,
        NodeVolumeLimits,
        VolumeBinding,
        VolumeZone,
        PodTopologySpread,
        InterPodAffinity,
        DynamicResources,
        DefaultPreemption,
        NodeResourcesBalancedAllocation,
        ImageLocality,
        DefaultBinder,
        NodeDeclaredFeatures,
        Coscheduling,
    )
}
