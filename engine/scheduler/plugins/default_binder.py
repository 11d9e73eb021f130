"""DefaultBinder: binds by posting a Binding to the pod."""

from __future__ import annotations

from engine.api.errors import ApiError
from engine.api.types import PODS, Object
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.plugin import BindPlugin
from engine.scheduler.framework.status import SUCCESS, Status, error
from engine.scheduler.pod_info import PodInfo


class DefaultBinder(BindPlugin):
    name = "DefaultBinder"

    async def bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        binding: Object = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"namespace": pod.namespace, "name": pod.name, "uid": pod.uid},
            "target": {"kind": "Node", "name": node_name},
        }
        try:
            await self.handle.client.create(
                PODS, binding, namespace=pod.namespace, name=pod.name, subresource="binding"
            )
        except (ApiError, ConnectionError) as failure:
            return error(str(failure))
        return SUCCESS
