"""Tokens for kubelets: of accounts that Pods of their node run as, bound to those, for who the Pods name.

Source: plugin/pkg/admission/noderestriction/admission.go (admitServiceAccount, validateNodeServiceAccountAudience).
"""

from __future__ import annotations

from engine.api.csi_migration import migrated_driver
from engine.api.errors import ApiError, aggregated
from engine.api.persistent_volumes import CLAIMS, VOLUMES
from engine.api.types import GVR, PODS, Object
from engine.apiserver.admission.attributes import Attributes, denied
from engine.apiserver.authorization import Attributes as Question
from engine.apiserver.authorization import UnionAuthorizer, Verdict
from engine.apiserver.lookup import Lookup

_DRIVERS = GVR("storage.k8s.io", "v1", "csidrivers")
_VERB = "request-serviceaccounts-token-audience"


def not_listed(gvr: GVR, kind: str, name: str) -> ApiError:
    """404 as client-go's listers word it: of the kind, not of the resource."""
    details: Object = {"name": name} if name else {}
    details |= {"group": gvr.group} if gvr.group else {}
    subject = f"{kind}.{gvr.group}" if gvr.group else kind
    return ApiError(404, "NotFound", f'{subject} "{name}" not found', details={**details, "kind": kind})


class NodeTokens:
    def __init__(self, lookup: Lookup, authorizer: UnionAuthorizer) -> None:
        self._lookup = lookup
        self._authorizer = authorizer

    async def admit(self, attributes: Attributes, node: str) -> None:
        """Raises ApiError 403, and 404 for a Pod that there is not."""
        spec = (attributes.object or {}).get("spec") or {}
        reference = spec.get("boundObjectRef") or {}
        if reference.get("apiVersion") != "v1" or reference.get("kind") != "Pod" or not reference.get("name"):
            raise denied(attributes, "node requested token not bound to a pod")
        uid = reference.get("uid")
        if not uid:
            raise denied(attributes, "node requested token with a pod binding without a uid")
        pod = await self._lookup.find(PODS, attributes.namespace, reference["name"])
        if pod is None:
            raise not_listed(PODS, "pod", reference["name"])
        if uid != pod["metadata"]["uid"]:
            raise denied(
                attributes,
                f"the UID in the bound object reference ({uid}) does not match the UID in record. The object might "
                "have been deleted and then recreated",
            )
        if (pod["spec"].get("nodeName") or "") != node:
            raise denied(attributes, "node requested token bound to a pod scheduled on a different node")
        await self._audience(attributes, pod, spec.get("audiences") or [])

    async def _audience(self, attributes: Attributes, pod: Object, audiences: list[str]) -> None:
        if len(audiences) > 1:
            raise denied(attributes, "node may only request 0 or 1 audiences")
        audience, failures = "".join(audiences), list[str]()
        for volume in pod["spec"].get("volumes") or ():
            try:
                if await self._names(pod, volume, audience):
                    return
            except ApiError as error:
                failures.append(error.message)
        if failures:
            raise denied(attributes, f'error validating audience "{audience}": {aggregated(failures)}')
        user, name, namespace = attributes.user, attributes.name, attributes.namespace
        question = Question(user, _VERB, "", "v1", audience, namespace=namespace, name=name)
        if (await self._authorizer.authorize(question)).decision.verdict is not Verdict.ALLOW:
            raise denied(
                attributes,
                f'audience "{audience}" not found in pod spec volume, {user.name} is not authorized to request tokens '
                "for this audience",
            )

    async def _names(self, pod: Object, volume: Object, audience: str) -> bool:
        """Whether a volume needs a token for the audience: itself, or its driver. Raises ApiError 404."""
        for source in (volume.get("projected") or {}).get("sources") or ():
            token = source.get("serviceAccountToken")
            if token is not None and token.get("audience", "") == audience:
                return True
        driver = await self._driver(pod, volume)
        if not driver:
            return False
        found = await self._lookup.find(_DRIVERS, "", driver)
        if found is None:
            raise not_listed(_DRIVERS, "csidriver", driver)
        requests = (found.get("spec") or {}).get("tokenRequests") or ()
        return any(each.get("audience", "") == audience for each in requests)

    async def _driver(self, pod: Object, volume: Object) -> str:
        namespace = pod["metadata"]["namespace"]
        if (volume.get("ephemeral") or {}).get("volumeClaimTemplate") is not None:
            return await self._driver_of_claim(namespace, f"{pod['metadata']['name']}-{volume['name']}")
        if "persistentVolumeClaim" in volume:
            return await self._driver_of_claim(namespace, volume["persistentVolumeClaim"].get("claimName", ""))
        return str((volume.get("csi") or {}).get("driver") or migrated_driver(volume))

    async def _driver_of_claim(self, namespace: str, name: str) -> str:
        claim = await self._lookup.find(CLAIMS, namespace, name)
        if claim is None:
            raise not_listed(CLAIMS, "persistentvolumeclaim", name)
        bound = claim["spec"].get("volumeName", "")
        volume = await self._lookup.find(VOLUMES, "", bound) if bound else None
        if volume is None:
            raise not_listed(VOLUMES, "persistentvolume", bound)
        return str((volume["spec"].get("csi") or {}).get("driver") or migrated_driver(volume["spec"]))
