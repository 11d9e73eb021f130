"""The attach/detach controller: a CSI volume is attached to the Node of a Pod that wants it, detached when none does
(pkg/controller/volume/attachdetach; pkg/volume/csi csi_attacher.go; operation_generator.go for the events).

What is attached is told by VolumeAttachments, which a driver's external-attacher acts on (`attacher`), and in the
Node's `status.volumesAttached`, for which the kubelet waits. Every Node reaches the simulated disks, so a volume may be
attached to several of them whatever its access modes say.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from engine.api.csi_volumes import CSI_DRIVERS, needs_attachment, unique_name
from engine.api.errors import ApiError
from engine.api.persistent_volumes import CLAIMS, VOLUMES
from engine.api.types import GVR, NODES, PODS, Object
from engine.client import NORMAL, WARNING
from engine.controllers.controller import Controller
from engine.controllers.nodelifecycle.controller import NODE_INDEX, by_node_name
from engine.controllers.persistentvolume.objects import claim_key
from engine.controllers.persistentvolume.protection import claims_of
from engine.controllers.pods import is_terminal

ATTACHMENTS = GVR("storage.k8s.io", "v1", "volumeattachments")

_BY_CLAIM = "claim"
_OF_NODE = "by-node"


class AttachDetachController(Controller):
    """Its keys are Nodes."""

    name = "attachdetach-controller"
    kind = "node"
    workers = 1

    def set_up(self) -> None:
        self._pods = self.lister(PODS)
        self._nodes = self.lister(NODES)
        self._claims = self.lister(CLAIMS)
        self._volumes = self.lister(VOLUMES)
        self._drivers = self.lister(CSI_DRIVERS)
        self._attachments = self.lister(ATTACHMENTS)
        self._attaching: dict[str, str] = {}  # by the attachment's name: the last error that was told
        self.index(PODS, NODE_INDEX, by_node_name)
        self.index(PODS, _BY_CLAIM, claims_of)
        self.index(ATTACHMENTS, _OF_NODE, lambda attachment: [attachment["spec"]["nodeName"]])
        self.watch(PODS, _changed)
        self.watch(CLAIMS, lambda old, new: self._nodes_of(new))
        self.watch(NODES, _reported)
        self.watch(ATTACHMENTS, lambda old, new: [(new or old or {})["spec"]["nodeName"]])

    def _nodes_of(self, claim: Object | None) -> Iterable[str]:
        if claim is None:
            return ()
        users = self._pods.by_index(_BY_CLAIM, claim_key(claim))
        return dict.fromkeys(node for pod in users for node in _nodes(pod))

    async def reconcile(self, key: str) -> None:
        wanted = self._wanted(key)
        found = {each["metadata"]["name"]: each for each in self._attachments.by_index(_OF_NODE, key)}
        self.note(desired=sorted(wanted), actual=sorted(found))
        for name, attachment in found.items():
            if name not in wanted and self._is_own(attachment):
                await self._detach(attachment)
        if self._nodes.get(key) is None:
            return
        for name, (volume, pods) in wanted.items():
            if name not in found:
                await self._attach(name, volume, key)
            else:
                self._tell(found[name], volume, pods)
        await self._report(key, [volume for name, (volume, _) in wanted.items() if _is_attached(found.get(name))])

    def _wanted(self, node: str) -> dict[str, tuple[Object, list[Object]]]:
        """By the name of its attachment: each volume that Pods on the Node want, and those Pods."""
        wanted: dict[str, tuple[Object, list[Object]]] = {}
        for pod in self._pods.by_index(NODE_INDEX, node):
            for claim in () if is_terminal(pod) else claims_of(pod):
                volume = self._volume_of(claim)
                if volume is not None:
                    wanted.setdefault(attachment_name(volume, node), (volume, []))[1].append(pod)
        return wanted

    def _volume_of(self, key: str) -> Object | None:
        """The volume that a claim is bound to, if it is one that has to be attached."""
        claim = self._claims.by_key(key)
        if claim is None or (claim.get("status") or {}).get("phase") != "Bound":
            return None
        volume = self._volumes.get(claim["spec"].get("volumeName") or "")
        if volume is None or "csi" not in volume["spec"]:
            return None
        driver = self._drivers.get(volume["spec"]["csi"]["driver"])
        return volume if needs_attachment(driver) else None

    def _is_own(self, attachment: Object) -> bool:
        """Whether it is named as this controller names them: others are somebody else's."""
        name = (attachment["spec"].get("source") or {}).get("persistentVolumeName") or ""
        volume = self._volumes.get(name)
        metadata = attachment["metadata"]
        if volume is None or "csi" not in volume["spec"]:
            return bool(metadata["name"].startswith("csi-")) and len(metadata["name"]) == len("csi-") + 64
        return bool(metadata["name"] == attachment_name(volume, attachment["spec"]["nodeName"]))

    # -- attach and detach

    async def _attach(self, name: str, volume: Object, node: str) -> None:
        attachment: Object = {
            "apiVersion": ATTACHMENTS.api_version,
            "kind": "VolumeAttachment",
            "metadata": {"name": name},
            "spec": {
                "attacher": volume["spec"]["csi"]["driver"],
                "nodeName": node,
                "source": {"persistentVolumeName": volume["metadata"]["name"]},
            },
        }
        self._attaching[name] = ""
        try:
            await self.client.create(ATTACHMENTS, attachment)
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise

    async def _detach(self, attachment: Object) -> None:
        if attachment["metadata"].get("deletionTimestamp"):
            return
        self._attaching.pop(attachment["metadata"]["name"], None)
        try:
            await self.client.delete(ATTACHMENTS, attachment["metadata"]["name"])
        except ApiError as error:
            if error.code != 404:
                raise

    def _tell(self, attachment: Object, volume: Object, pods: list[Object]) -> None:
        """How an attachment that was begun here came out, to each Pod that waited for it."""
        name, status = attachment["metadata"]["name"], attachment.get("status") or {}
        if name not in self._attaching:
            return
        of = f'for volume "{volume["metadata"]["name"]}"'
        failed = (status.get("attachError") or {}).get("message", "")
        if status.get("attached"):
            del self._attaching[name]
            for pod in pods:
                self.recorder.event(pod, NORMAL, "SuccessfulAttachVolume", f"AttachVolume.Attach succeeded {of} ")
        elif failed and self._attaching[name] != failed:
            self._attaching[name] = failed
            for pod in pods:
                self.recorder.event(pod, WARNING, "FailedAttachVolume", f"AttachVolume.Attach failed {of} : {failed}")

    async def _report(self, name: str, attached: list[Object]) -> None:
        """In the Node's status."""
        node = self._nodes.get(name)
        if node is None:
            return
        shown = [{"name": unique_name(volume), "devicePath": ""} for volume in attached]
        shown.sort(key=lambda each: each["name"])
        if ((node.get("status") or {}).get("volumesAttached") or []) == shown:
            return
        await self.client.patch(NODES, name, {"status": {"volumesAttached": shown or None}}, subresource="status")


def attachment_name(volume: Object, node: str) -> str:
    csi = volume["spec"]["csi"]
    return f"csi-{sha256((csi['volumeHandle'] + csi['driver'] + node).encode()).hexdigest()}"


def _is_attached(attachment: Object | None) -> bool:
    return bool(((attachment or {}).get("status") or {}).get("attached"))


def _changed(old: Object | None, new: Object | None) -> Iterable[str]:
    """The Nodes where a Pod begins or ends to want its volumes."""
    if old is not None and new is not None:
        same_node = old["spec"].get("nodeName") == new["spec"].get("nodeName")
        if same_node and is_terminal(old) == is_terminal(new):
            return ()
    return dict.fromkeys([*_nodes(old), *_nodes(new)])


def _reported(old: Object | None, new: Object | None) -> Iterable[str]:
    """A Node says something else of what is attached than it did: rightly, if this controller has written it."""
    if old is None or new is None:
        return ()
    before, after = ((node.get("status") or {}).get("volumesAttached") for node in (old, new))
    return () if before == after else [new["metadata"]["name"]]


def _nodes(pod: Object | None) -> list[str]:
    """The Node of a Pod with claims, which may be over by now."""
    node = pod["spec"].get("nodeName") if pod is not None else None
    return [node] if pod is not None and node and claims_of(pod) else []
