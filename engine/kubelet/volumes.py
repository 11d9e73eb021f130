"""A Pod's volumes as files that its simulated containers see (pkg/volume configmap, secret, projected, downwardapi).

A PersistentVolume is a simulated disk that its Pods share, whatever its source says; what the kubelet would mount from
elsewhere without one (CSI, NFS) is an empty directory here. The service account's
projected volume holds its namespace alone: no token is asked for before something can use it.
"""

from __future__ import annotations

from engine.api.types import Object
from engine.kubelet import pods
from engine.kubelet.cri import Mount
from engine.kubelet.kuberuntime.env import References, field_value
from engine.kubelet.kuberuntime.errors import ConfigError

Files = dict[str, str]


class MountError(Exception):
    """A volume cannot be set up; the message is that of the FailedMount event."""


class Volumes:
    """The volumes of one Pod, set up once for its life and shared by its containers."""

    def __init__(self, files: dict[str, Files]) -> None:
        self._files = files

    @classmethod
    async def set_up(cls, pod: Object, references: References) -> Volumes:
        """Raises MountError for a source that is neither there nor optional."""
        files: dict[str, Files] = {}
        for volume in pod["spec"].get("volumes") or ():
            try:
                files[volume["name"]] = await _files(pod, volume, references)
            except ConfigError as error:
                raise MountError(f'MountVolume.SetUp failed for volume "{volume["name"]}" : {error}') from None
        return cls(files)

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


async def _files(pod: Object, volume: Object, references: References) -> Files:
    if source := volume.get("configMap"):
        return await _keys(pod, "configmap", source, source.get("name", ""), references)
    if source := volume.get("secret"):
        return await _keys(pod, "secret", source, source.get("secretName", ""), references)
    if source := volume.get("downwardAPI"):
        return _downward(pod, source)
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
    sources = projected.get("sources") or ()
    if any(source.get("serviceAccountToken") for source in sources):
        return {"namespace": pods.namespace_of(pod)}
    files: Files = {}
    for source in sources:
        if inner := source.get("configMap"):
            files.update(await _keys(pod, "configmap", inner, inner.get("name", ""), references))
        elif inner := source.get("secret"):
            files.update(await _keys(pod, "secret", inner, inner.get("name", ""), references))
        elif inner := source.get("downwardAPI"):
            files.update(_downward(pod, inner))
    return files


async def _keys(pod: Object, kind: str, source: Object, name: str, references: References) -> Files:
    data = await references.data(kind, pods.namespace_of(pod), name)
    optional = bool(source.get("optional"))
    if data is None:
        if optional:
            return {}
        raise ConfigError(f'{kind} "{name}" not found')
    if not source.get("items"):
        return data
    missing = [item["key"] for item in source["items"] if item["key"] not in data]
    if missing and not optional:
        noun = "configmap" if kind == "configmap" else "secret"
        raise ConfigError(f"{noun} references non-existent {noun} key: {missing[0]}")
    return {item["path"]: data[item["key"]] for item in source["items"] if item["key"] in data}


def _downward(pod: Object, source: Object) -> Files:
    return {
        item["path"]: field_value(pod, item["fieldRef"]["fieldPath"])
        for item in source.get("items") or ()
        if item.get("fieldRef")
    }
