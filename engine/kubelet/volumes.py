"""A Pod's volumes as files that its simulated containers see (pkg/volume configmap, secret, projected, downwardapi).

A PersistentVolume is a simulated disk that its Pods share, whatever its source says; what the kubelet would mount from
elsewhere without one (CSI, NFS) is an empty directory here. What is made of other objects is made anew from time to
time, as those change. A volume with a token is filled when something in the Pod may read it first: most Pods of a
simulated node run nothing that could, and a token each would cost more than they do.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.api.errors import ApiError
from engine.api.types import Object
from engine.kubelet import pods
from engine.kubelet.cri import Mount
from engine.kubelet.kuberuntime.downward import field_value, resource_value
from engine.kubelet.kuberuntime.env import References
from engine.kubelet.kuberuntime.errors import ConfigError

Files = dict[str, str]


class MountError(Exception):
    """Volumes cannot be set up; `messages` are those of the FailedMount events."""

    def __init__(self, messages: list[str]) -> None:
        super().__init__(", ".join(messages))
        self.messages = messages


class Volumes:
    """The volumes of one Pod, for its life and shared by its containers."""

    def __init__(self, references: References) -> None:
        self.filled_at = float("-inf")  # when objects were last read, by the clock of whoever sets up
        self._references = references
        self._files: dict[str, Files] = {}

    @property
    def files(self) -> Mapping[str, Files]:
        return self._files

    async def set_up(self, pod: Object) -> None:
        """Make what is not there yet. Raises MountError for sources that are neither there nor optional."""
        await self._make(pod, [volume for volume in _of(pod) if volume["name"] not in self._files], lazily=True)

    async def refresh(self, pod: Object) -> None:
        """Read again what other objects say. What has gone meanwhile leaves its volume as it is."""
        made = [volume for volume in _of(pod) if is_refreshed(volume) and not _has_token(volume)]
        try:
            await self._make(pod, made, lazily=True)
        except MountError:
            return

    async def fill(self, pod: Object) -> None:
        """Something in the Pod is about to read what has not been asked for yet, or not for some time."""
        for volume in _of(pod):
            if _has_token(volume):
                await self._fill(pod, volume)

    async def _fill(self, pod: Object, volume: Object) -> None:
        """Source by source: a part that cannot be had leaves the others."""
        files = self._files.setdefault(volume["name"], {})
        for source in volume["projected"]["sources"]:
            try:
                files.update(await _source(pod, source, self._references))
            except (ConfigError, ApiError):
                continue

    async def _make(self, pod: Object, volumes: list[Object], *, lazily: bool) -> None:
        errors = []
        for volume in volumes:
            if lazily and _has_token(volume):
                self._files.setdefault(volume["name"], {})
                continue
            try:
                self._put(volume["name"], await _files(pod, volume, self._references))
            except ConfigError as error:
                errors.append(f'MountVolume.SetUp failed for volume "{volume["name"]}" : {error}')
        if errors:
            raise MountError(errors)

    def _put(self, name: str, files: Files) -> None:
        """Containers hold on to the mapping of a volume: only its contents change."""
        known = self._files.get(name)
        if known is None:
            self._files[name] = files
        elif known != files:
            known.clear()
            known.update(files)

    def mounts(self, pod: Object, container: Object) -> tuple[Mount, ...]:
        directory = f"/var/lib/kubelet/pods/{pods.uid_of(pod)}/volumes"
        return tuple(
            Mount(
                mount["mountPath"],
                f"{directory}/{mount['name']}",
                bool(mount.get("readOnly")),
                self._files.get(mount["name"]),
                mount.get("subPath", ""),
            )
            for mount in container.get("volumeMounts") or ()
        )


def _of(pod: Object) -> list[Object]:
    return pod["spec"].get("volumes") or []


def is_refreshed(volume: Object) -> bool:
    """Whether the volume follows the objects that it is made of (RequiresRemount)."""
    return any(volume.get(kind) for kind in ("configMap", "secret", "downwardAPI", "projected"))


def follows_objects(pod: Object) -> bool:
    """Whether the Pod has a volume of a ConfigMap or Secret that somebody has named in it."""
    return any(is_refreshed(volume) and not _has_token(volume) for volume in _of(pod))


def _has_token(volume: Object) -> bool:
    sources = (volume.get("projected") or {}).get("sources") or ()
    return any(source.get("serviceAccountToken") for source in sources)


async def _files(pod: Object, volume: Object, references: References) -> Files:
    if source := volume.get("configMap"):
        return await _keys(pod, "configmap", source, source.get("name", ""), references)
    if source := volume.get("secret"):
        return await _keys(pod, "secret", source, source.get("secretName", ""), references)
    if source := volume.get("downwardAPI"):
        return _downward(pod, source, references)
    if source := volume.get("projected"):
        return await _projected(pod, source, references)
    if source := volume.get("persistentVolumeClaim"):
        return await _disk(pod, source["claimName"], references)
    if volume.get("ephemeral") is not None:
        return await _disk(pod, f"{pods.name_of(pod)}-{volume['name']}", references)
    return {}


async def _disk(pod: Object, claim: str, references: References) -> Files:
    found = await references.disk(pods.namespace_of(pod), claim)
    return {} if found is None else found


async def _projected(pod: Object, projected: Object, references: References) -> Files:
    files: Files = {}
    errors = []
    for source in projected.get("sources") or ():
        try:
            files.update(await _source(pod, source, references))
        except ConfigError as error:
            errors.append(str(error))
    if errors:
        raise ConfigError(errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]")
    return files


async def _source(pod: Object, source: Object, references: References) -> Files:
    if inner := source.get("serviceAccountToken"):
        return {inner["path"]: await references.token(pod, inner)}
    if inner := source.get("configMap"):
        return await _keys(pod, "configmap", inner, inner.get("name", ""), references)
    if inner := source.get("secret"):
        return await _keys(pod, "secret", inner, inner.get("name", ""), references)
    if inner := source.get("downwardAPI"):
        return _downward(pod, inner, references)
    return {}


async def _keys(pod: Object, kind: str, source: Object, name: str, references: References) -> Files:
    data = await references.data(kind, pods.namespace_of(pod), name, binary=True)
    optional = bool(source.get("optional"))
    if data is None:
        if optional:
            return {}
        raise ConfigError(f'{kind} "{name}" not found')
    if not source.get("items"):
        return data
    missing = [item["key"] for item in source["items"] if item["key"] not in data]
    if missing and not optional:
        what = "configmap references non-existent config" if kind == "configmap" else "references non-existent secret"
        raise ConfigError(f"{what} key: {missing[0]}")
    return {item["path"]: data[item["key"]] for item in source["items"] if item["key"] in data}


def _downward(pod: Object, source: Object, references: References) -> Files:
    files: Files = {}
    for item in source.get("items") or ():
        if field := item.get("fieldRef"):
            files[item["path"]] = field_value(pod, field["fieldPath"])
        elif resource := item.get("resourceFieldRef"):
            files[item["path"]] = resource_value(pod, resource, references.allocatable())
    return files
