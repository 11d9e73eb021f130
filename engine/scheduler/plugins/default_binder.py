"""DefaultBinder: binds by posting a Binding to the pod."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engine.api.errors import ApiError
from engine.api.types import PODS, Object
from engine.scheduler.framework.cycle_state import CycleState
from engine.scheduler.framework.plugin import BindPlugin
from engine.scheduler.framework.profile import at_least
from engine.scheduler.framework.status import SUCCESS, Status, error
from engine.scheduler.pod_info import PodInfo
from engine.scheduler.trying import PAUSES, tried_again

if TYPE_CHECKING:
    from engine.scheduler.framework.handle import Handle


class DefaultBinder(BindPlugin):
    name = "DefaultBinder"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        # From 1.37 on a server that cannot answer at the moment is asked again.
        self._patient = at_least(handle.version, 37)

    async def bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        binding: Object = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"namespace": pod.namespace, "name": pod.name, "uid": pod.uid},
            "target": {"kind": "Node", "name": node_name},
        }
        try:
            await tried_again(lambda: self._post(pod, binding), self.handle.clock, PAUSES if self._patient else ())
        except (ApiError, ConnectionError) as failure:
            return error(str(failure))
        return SUCCESS

    async def _post(self, pod: PodInfo, binding: Object) -> None:
        await self.handle.client.create(PODS, binding, namespace=pod.namespace, name=pod.name, subresource="binding")
