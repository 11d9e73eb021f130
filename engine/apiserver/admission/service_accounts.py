"""ServiceAccount: every Pod runs as one, and gets its token, the CA and its namespace as a projected volume.

Source: plugin/pkg/admission/serviceaccount/admission.go.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

from engine.api.golang.boolean import is_true
from engine.api.pod_references import secrets_of
from engine.api.types import SERVICE_ACCOUNTS, Object
from engine.apiserver.admission.attributes import WRITES, Attributes, Operation, Plugin, Watched, denied, version_of
from engine.apiserver.lookup import StateLookup
from engine.clock import Clock
from engine.rng import Rng

ENFORCED = "kubernetes.io/enforce-mountable-secrets"
MIRROR = "kubernetes.io/config.mirror"
MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
VOLUME_PREFIX = "kube-api-access-"
# An hour and seven seconds: the odd seconds mark tokens that this plugin asked for.
TOKEN_SECONDS = 3607
DEFAULT = "default"
DEFAULT_ATTEMPTS = 10
_NOT_LISTED = " is not allowed because service account {} does not reference that"
_CONTAINERS = ("initContainers", "containers")
_TITLES = {"initContainers": "init container", "containers": "container", "ephemeralContainers": "ephemeral container"}
_UPDATED = "pods/ephemeralcontainers"


class ServiceAccount(Plugin):
    name = "ServiceAccount"
    operations = WRITES
    resources = frozenset(("pods", _UPDATED))

    def __init__(self, lookup: StateLookup, names: Rng, clock: Clock) -> None:
        self._lookup = lookup
        self._names = names
        self._clock = clock

    async def mutate(self, attributes: Attributes) -> bool:
        pod = attributes.object
        if attributes.key != "pods" or attributes.operation is not Operation.CREATE or pod is None:
            return False
        spec = pod.setdefault("spec", {})
        if MIRROR in (pod["metadata"].get("annotations") or {}):
            self._check_mirror(attributes, pod)
            return False
        if not spec.get("serviceAccountName"):
            spec["serviceAccountName"] = "default"
        spec["serviceAccount"] = spec["serviceAccountName"]
        account = await self._account(attributes, spec["serviceAccountName"])
        if _automounts(account, spec):
            self._mount_token(spec)
        if not spec.get("imagePullSecrets") and account.get("imagePullSecrets"):
            spec["imagePullSecrets"] = [dict(secret) for secret in account["imagePullSecrets"]]
        self._check_secrets(attributes, account, _CONTAINERS)  # before what other plugins say, and webhooks are asked
        return True

    async def ground(self, attributes: Attributes) -> Hashable:
        pod = attributes.object
        if pod is None or MIRROR in (pod["metadata"].get("annotations") or {}):
            return None
        name = pod["spec"].get("serviceAccountName") or DEFAULT
        account = await self._lookup.find(SERVICE_ACCOUNTS, attributes.namespace, name)
        return version_of(account) if account is not None else None

    def follows(self, attributes: Attributes, step: str) -> Sequence[Watched] | None:
        name = ((attributes.object or {}).get("spec") or {}).get("serviceAccountName") or DEFAULT
        state = self._lookup.state(SERVICE_ACCOUNTS, attributes.namespace, name)
        return (state,) if state is not None else None

    def draw(self) -> str:
        return VOLUME_PREFIX + self._names.name_suffix()

    async def validate(self, attributes: Attributes) -> None:
        pod, creates = attributes.object, attributes.operation is Operation.CREATE
        if pod is None or attributes.key != ("pods" if creates else _UPDATED):
            return
        if creates and MIRROR in (pod["metadata"].get("annotations") or {}):
            self._check_mirror(attributes, pod)
            return
        spec = pod.get("spec") or {}
        if not spec.get("serviceAccountName"):
            where = f"{attributes.namespace}/{attributes.name}"
            raise denied(attributes, f"no service account specified for pod {where}")
        account = await self._account(attributes, spec["serviceAccountName"])
        self._check_secrets(attributes, account, _CONTAINERS if creates else ("ephemeralContainers",))

    @staticmethod
    def _check_secrets(attributes: Attributes, account: Object, fields: tuple[str, ...]) -> None:
        if not is_true((account["metadata"].get("annotations") or {}).get(ENFORCED, "")):
            return
        spec = (attributes.object or {}).get("spec") or {}
        problem = next(_unmountable(account, spec, fields, whole=fields == _CONTAINERS), "")
        if problem:
            raise denied(attributes, problem)

    @staticmethod
    def _check_mirror(attributes: Attributes, pod: Object) -> None:
        spec = pod["spec"]
        if spec.get("serviceAccountName"):
            raise denied(attributes, "a mirror pod may not reference service accounts")
        if secrets_of(pod):
            raise denied(attributes, "a mirror pod may not reference secrets")
        for volume in spec.get("volumes") or ():
            projected = (volume.get("projected") or {}).get("sources") or ()
            if any("serviceAccountToken" in source for source in projected):
                raise denied(attributes, "a mirror pod may not use ServiceAccountToken volume projections")

    async def _account(self, attributes: Attributes, name: str) -> Object:
        account = await self._find(attributes.namespace, name)
        if account is None:
            raise denied(
                attributes,
                f'error looking up service account {attributes.namespace}/{name}: serviceaccount "{name}" not found',
            )
        return account

    async def _find(self, namespace: str, name: str) -> Object | None:
        """A namespace that is new has its default account in a moment: that is worth a wait of one or two seconds."""
        found = await self._lookup.find(SERVICE_ACCOUNTS, namespace, name)
        if found is not None or name != DEFAULT:
            return found
        interval = 0.1 + self._names.uniform(0.0, 0.1)
        for _ in range(DEFAULT_ATTEMPTS - 1):
            await self._clock.sleep(interval)
            if (found := await self._lookup.find(SERVICE_ACCOUNTS, namespace, name)) is not None:
                break
        return found

    def _mount_token(self, spec: Object) -> None:
        containers = [container for field in _CONTAINERS for container in spec.get(field) or ()]
        bare = [c for c in containers if all(m.get("mountPath") != MOUNT_PATH for m in c.get("volumeMounts") or ())]
        if not bare:
            return
        volumes: list[dict[str, Any]] = spec.setdefault("volumes", [])
        names = (str(volume.get("name", "")) for volume in volumes if "projected" in volume)
        name = next((each for each in names if each.startswith(VOLUME_PREFIX)), "")
        if not name:
            name = self.draw()
            volumes.append({"name": name, "projected": _projection()})
        for container in bare:
            mount = {"name": name, "readOnly": True, "mountPath": MOUNT_PATH}
            container.setdefault("volumeMounts", []).append(mount)


def _unmountable(account: Object, spec: Object, fields: Iterable[str], *, whole: bool) -> Iterator[str]:
    """What names a secret that the account does not list, for accounts that want all listed (limitSecretReferences)."""
    not_listed = _NOT_LISTED.format(account["metadata"]["name"])
    secrets = {each.get("name") for each in account.get("secrets") or ()}
    if whole:
        for volume in spec.get("volumes") or ():
            secret = (volume.get("secret") or {}).get("secretName")
            if "secret" in volume and secret not in secrets:
                yield f'volume with secret.secretName="{secret}"{not_listed} secret'
    for field in fields:
        for container in spec.get(field) or ():
            for where, name in _secrets_read(container):
                if name not in secrets:
                    who = f"{_TITLES[field]} {container.get('name', '')}"
                    yield f'{who} with {where} referencing secret.secretName="{name}"{not_listed} secret'
    if whole:
        pulled = {each.get("name") for each in account.get("imagePullSecrets") or ()}
        for position, reference in enumerate(spec.get("imagePullSecrets") or ()):
            if reference.get("name") not in pulled:
                name = reference.get("name", "")
                yield f'imagePullSecrets[{position}].name="{name}"{not_listed} imagePullSecret'


def _secrets_read(container: Object) -> Iterator[tuple[str, str]]:
    """The secrets of a container's environment, and where they are named."""
    for variable in container.get("env") or ():
        reference = (variable.get("valueFrom") or {}).get("secretKeyRef")
        if reference is not None:
            yield f"envVar {variable.get('name', '')}", reference.get("name", "")
    for source in container.get("envFrom") or ():
        if source.get("secretRef") is not None:
            yield "envFrom", source["secretRef"].get("name", "")


def _automounts(account: Object, spec: Object) -> bool:
    """The Pod's word counts before its account's."""
    if "automountServiceAccountToken" in spec:
        return bool(spec["automountServiceAccountToken"])
    return bool(account.get("automountServiceAccountToken", True))


def _projection() -> Object:
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    return {
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": TOKEN_SECONDS, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [namespace]}},
        ],
        "defaultMode": 420,
    }
