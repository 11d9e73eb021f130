"""A Pod's volumes as files that its simulated containers see (pkg/volume configmap, secret, projected, downwardapi).

A PersistentVolume is a simulated disk that its Pods share, whatever its source says, and a hostPath a part of the
node's own file system (`host_files`); what the kubelet would mount from elsewhere without one (CSI, NFS) is an empty
directory here. What is made of other objects is made anew from time to time, as those change. A volume with a token is
filled when something in the Pod may read it first: most Pods of a simulated node run nothing that could, and a token
each would cost more than they do.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.api.errors import ApiError
from engine.api.types import Object
from engine.clock import Clock
from engine.disks import FILE_MODE, MEMORY, Volume
from engine.kubelet import pods
from engine.kubelet.atomic_volume import AtomicVolume
from engine.kubelet.cri import Mount
from engine.kubelet.host_paths import check, within
from engine.kubelet.image_volumes import image_volume
from engine.kubelet.kuberuntime.downward import field_value, resource_value
from engine.kubelet.kuberuntime.env import References, expand, names_in
from engine.kubelet.kuberuntime.errors import ConfigError
from engine.kubelet.trust_anchors import trust_anchors
from engine.rng import Rng


class MountError(Exception):
    """Volumes cannot be set up; `messages` are those of the FailedMount events."""

    def __init__(self, messages: list[str]) -> None:
        super().__init__(", ".join(messages))
        self.messages = messages


class Volumes:
    """The volumes of one Pod, for its life and shared by its containers."""

    def __init__(self, references: References, clock: Clock, rng: Rng) -> None:
        self.filled_at = float("-inf")  # when objects were last read, by the clock of whoever sets up
        self._references = references
        self._clock = clock
        self._rng = rng
        self._volumes: dict[str, Volume] = {}

    @property
    def files(self) -> Mapping[str, Volume]:
        return self._volumes

    async def set_up(self, pod: Object) -> None:
        """Make what is not there yet. Raises MountError for sources that are neither there nor optional."""
        await self._make(pod, [volume for volume in _of(pod) if volume["name"] not in self._volumes])

    async def refresh(self, pod: Object) -> None:
        """Read again what other objects say. What has gone meanwhile leaves its volume as it is."""
        made = [volume for volume in _of(pod) if is_refreshed(volume) and not _has_token(volume)]
        try:
            await self._make(pod, made)
        except MountError:
            return

    async def fill(self, pod: Object) -> None:
        """Something in the Pod is about to read what has not been asked for yet, or not for some time."""
        for volume in _of(pod):
            if _has_token(volume):
                await self._fill(pod, volume)

    async def _fill(self, pod: Object, volume: Object) -> None:
        """Source by source: a part that cannot be had leaves the others."""
        made = Volume(read_only=True, medium=MEMORY)
        for number, source in enumerate(volume["projected"]["sources"]):
            try:
                part = await _source(pod, volume, number, source, self._references)
            except (ConfigError, ApiError):
                continue
            _add(made, part)
        known = self._atomic(volume["name"]).payload
        if known is not None:
            made.update({path: text for path, text in known.items() if path not in made})
        self._put(pod, volume, made)

    async def _make(self, pod: Object, volumes: list[Object]) -> None:
        errors = []
        for volume in volumes:
            if _may_be_filled_later(volume) and not _is_mounted_in_part(pod, volume):
                self._atomic(volume["name"])
                continue
            try:
                self._put(pod, volume, await _volume(pod, volume, self._references))
            except ConfigError as error:
                errors.append(f'MountVolume.SetUp failed for volume "{volume["name"]}" : {error}')
        if errors:
            raise MountError(errors)

    def _put(self, pod: Object, volume: Object, made: Volume) -> None:
        """Containers hold on to a volume: only its contents change."""
        name, group = volume["name"], (pod["spec"].get("securityContext") or {}).get("fsGroup")
        if is_refreshed(volume):
            self._atomic(name).write(made, group, self._clock, self._rng)
            return
        if not volume.get("hostPath"):  # the node's: no Pod's fsGroup gets it
            made.give_to(group)
        self._volumes[name] = made

    def _atomic(self, name: str) -> AtomicVolume:
        known = self._volumes.get(name)
        if not isinstance(known, AtomicVolume):
            known = self._volumes[name] = AtomicVolume()
        return known

    def mounts(self, pod: Object, container: Object, env: Mapping[str, str]) -> tuple[Mount, ...]:
        """Raises ConfigError where a path inside a volume cannot be made of the container's variables."""
        directory = f"/var/lib/kubelet/pods/{pods.uid_of(pod)}/volumes"
        images = {volume["name"] for volume in _of(pod) if volume.get("image")}
        on_host = {volume["name"]: within(volume["hostPath"]["path"]) for volume in _of(pod) if volume.get("hostPath")}
        made = []
        for mount in container.get("volumeMounts") or ():
            volume, part = self._volumes.get(mount["name"]), _sub_path(mount, env)
            if part and isinstance(volume, AtomicVolume):
                volume = volume.part(part)
            where = "/".join(filter(None, (on_host.get(mount["name"]), part)))
            source = f"{directory}/{mount['name']}"
            read_only = bool(mount.get("readOnly")) or mount["name"] in images
            made.append(Mount(mount["mountPath"], source, read_only, volume, where))
        return tuple(made)


def _sub_path(mount: Object, env: Mapping[str, str]) -> str:
    """(kubelet_pods.go makeMounts, container/helpers.go ExpandContainerVolumeMounts)"""
    path = str(mount.get("subPath") or "")
    if pattern := mount.get("subPathExpr"):
        if missing := sorted({name for name in names_in(pattern) if not env.get(name)}):
            raise ConfigError(f"missing value for {', '.join(missing)}")
        path = expand(pattern, env)
    if path.startswith("/"):
        raise ConfigError(f"error SubPath `{path}` must not be an absolute path")
    if ".." in path.split("/"):
        raise ConfigError(f"unable to provision SubPath `{path}`: must not contain '..'")
    return path


def _of(pod: Object) -> list[Object]:
    return pod["spec"].get("volumes") or []


def is_refreshed(volume: Object) -> bool:
    """Whether the volume follows the objects that it is made of (RequiresRemount)."""
    return any(volume.get(kind) for kind in ("configMap", "secret", "downwardAPI", "projected"))


def follows_objects(pod: Object) -> bool:
    """Whether the Pod has a volume of a ConfigMap or Secret that somebody has named in it."""
    return any(is_refreshed(volume) and not _has_token(volume) for volume in _of(pod))


def _is_mounted_in_part(pod: Object, volume: Object) -> bool:
    """Whether a container that starts is given what the volume then holds, once and for all."""
    return any(
        mount["name"] == volume["name"] and (mount.get("subPath") or mount.get("subPathExpr"))
        for container in (*(pod["spec"].get("initContainers") or ()), *pod["spec"]["containers"])
        for mount in container.get("volumeMounts") or ()
    )


def _has_token(volume: Object) -> bool:
    sources = (volume.get("projected") or {}).get("sources") or ()
    return any(source.get("serviceAccountToken") for source in sources)


def _may_be_filled_later(volume: Object) -> bool:
    """For its token's sake; not where its Pod waits for what somebody else has to make first."""
    sources = (volume.get("projected") or {}).get("sources") or ()
    return _has_token(volume) and not any(
        source.get("podCertificate") or source.get("clusterTrustBundle") for source in sources
    )


async def _volume(pod: Object, volume: Object, references: References) -> Volume:
    if source := volume.get("configMap"):
        return await _keys(pod, "configmap", source, source.get("name", ""), references)
    if source := volume.get("secret"):
        return await _keys(pod, "secret", source, source.get("secretName", ""), references)
    if source := volume.get("downwardAPI"):
        return _downward(pod, source, references)
    if volume.get("projected"):
        return await _projected(pod, volume, references)
    if source := volume.get("persistentVolumeClaim"):
        return await _disk(pod, source["claimName"], references)
    if volume.get("ephemeral") is not None:
        return await _disk(pod, f"{pods.name_of(pod)}-{volume['name']}", references)
    if source := volume.get("hostPath"):
        root = references.host_root()
        check(root, source)
        return root
    if source := volume.get("image"):
        return image_volume(source.get("reference", ""))
    return Volume(medium=(volume.get("emptyDir") or {}).get("medium", ""))


async def _disk(pod: Object, claim: str, references: References) -> Volume:
    found = await references.disk(pods.namespace_of(pod), claim)
    return Volume() if found is None else found


async def _projected(pod: Object, volume: Object, references: References) -> Volume:
    made = Volume(read_only=True, medium=MEMORY)
    errors = []
    for number, source in enumerate(volume["projected"].get("sources") or ()):
        try:
            part = await _source(pod, volume, number, source, references)
        except ConfigError as error:
            errors.append(str(error))
        else:
            _add(made, part)
    if errors:
        raise ConfigError(errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]")
    return made


def _add(volume: Volume, part: Volume) -> None:
    volume.update(part)
    volume.modes.update(part.modes)
    volume.owners.update(part.owners)


async def _source(pod: Object, volume: Object, number: int, source: Object, references: References) -> Volume:
    """One source of a projected volume, whose defaultMode is that of all of them."""
    default = {"defaultMode": volume["projected"].get("defaultMode", FILE_MODE)}
    if inner := source.get("serviceAccountToken"):
        return await _token(pod, inner, default["defaultMode"], references)
    if inner := source.get("clusterTrustBundle"):
        anchors = await trust_anchors(inner, references)
        return _for_user(pod, {inner["path"]: anchors}, default["defaultMode"])
    if inner := source.get("podCertificate"):
        key, chain = await references.pod_certificate(pod, volume["name"], number, inner)
        wanted = {"credentialBundlePath": key + chain, "keyPath": key, "certificateChainPath": chain}
        files = {inner[field]: text for field, text in wanted.items() if inner.get(field)}
        return _for_user(pod, files, default["defaultMode"])
    if inner := source.get("configMap"):
        return await _keys(pod, "configmap", {**default, **inner}, inner.get("name", ""), references)
    if inner := source.get("secret"):
        return await _keys(pod, "secret", {**default, **inner}, inner.get("name", ""), references)
    if inner := source.get("downwardAPI"):
        return _downward(pod, {**default, **inner}, references)
    return Volume(read_only=True)


async def _token(pod: Object, projection: Object, mode: int, references: References) -> Volume:
    try:
        token = await references.token(pod, projection)
    except ApiError as error:
        raise ConfigError(f"failed to fetch token: {error}") from None
    return _for_user(pod, {projection["path"]: token}, mode)


def _for_user(pod: Object, files: dict[str, str], mode: int) -> Volume:
    """Whoever runs as somebody else, or for a group, has the files for itself alone (projected.go collectData)."""
    user, group = _user(pod), (pod["spec"].get("securityContext") or {}).get("fsGroup")
    modes = dict.fromkeys(files, mode if user is None and group is None else 0o600)
    made = Volume(files, modes, read_only=True)
    if user is not None:
        made.owners.update(dict.fromkeys(files, (user, group or 0)))
    return made


def _user(pod: Object) -> int | None:
    """The one user that all containers of the Pod run as; None where not all say it (util.FsUserFrom)."""
    spec = pod["spec"]
    of_pod = (spec.get("securityContext") or {}).get("runAsUser")
    users = {
        (container.get("securityContext") or {}).get("runAsUser", of_pod)
        for container in (*(spec.get("initContainers") or ()), *spec["containers"])
    }
    user: int | None = users.pop()
    return None if users else user


async def _keys(pod: Object, kind: str, source: Object, name: str, references: References) -> Volume:
    data = await references.data(kind, pods.namespace_of(pod), name, binary=True)
    optional = bool(source.get("optional"))
    if data is None:
        if optional:
            return Volume(read_only=True)
        raise ConfigError(f'{kind} "{name}" not found')
    items = source.get("items") or [{"key": key, "path": key} for key in data]
    missing = [item["key"] for item in items if item["key"] not in data]
    if missing and not optional:
        what = "configmap references non-existent config" if kind == "configmap" else "references non-existent secret"
        raise ConfigError(f"{what} key: {missing[0]}")
    medium = MEMORY if kind == "secret" else ""
    present = [item for item in items if item["key"] in data]
    return Volume(
        {item["path"]: data[item["key"]] for item in present}, _modes(source, present), read_only=True, medium=medium
    )


def _downward(pod: Object, source: Object, references: References) -> Volume:
    items = source.get("items") or []
    files: dict[str, str] = {}
    for item in items:
        if field := item.get("fieldRef"):
            files[item["path"]] = field_value(pod, field["fieldPath"])
        elif resource := item.get("resourceFieldRef"):
            files[item["path"]] = resource_value(pod, resource, references.allocatable())
    return Volume(files, _modes(source, items), read_only=True, medium=MEMORY)


def _modes(source: Object, items: list[Object]) -> dict[str, int]:
    default = source.get("defaultMode", FILE_MODE)
    modes = {item["path"]: item["mode"] if item.get("mode") is not None else default for item in items}
    return {path: mode for path, mode in modes.items() if mode != FILE_MODE}
