"""What makes a Pod the n-th of a StatefulSet: name, labels, host name and claims: pure (stateful_set_utils.go)."""

from __future__ import annotations

import re

from engine.api.types import GVK, Object, copy_object
from engine.controllers.history import POD_REVISION
from engine.controllers.ownership import controller_uid
from engine.controllers.pod_control import pod_from_template

KIND = GVK("apps", "v1", "StatefulSet")
POD_NAME = "statefulset.kubernetes.io/pod-name"
POD_INDEX = "apps.kubernetes.io/pod-index"
_NAME = re.compile(r"(.*)-([0-9]+)$")


def ordinal_of(pod: Object) -> int:
    """-1 for a name that has none."""
    match = _NAME.match(pod["metadata"]["name"])
    return int(match[2]) if match else -1


def is_member(set_: Object, pod: Object) -> bool:
    match = _NAME.match(pod["metadata"]["name"])
    return match is not None and match[1] == set_["metadata"]["name"]


def first_ordinal(set_: Object) -> int:
    return int((set_["spec"].get("ordinals") or {}).get("start", 0))


def in_range(set_: Object, pod: Object) -> bool:
    start = first_ordinal(set_)
    return start <= ordinal_of(pod) < start + int(set_["spec"].get("replicas", 1))


def revision_of_pod(pod: Object) -> str:
    return str((pod["metadata"].get("labels") or {}).get(POD_REVISION, ""))


def make_pod(set_: Object, ordinal: int, revision: str) -> Object:
    """The Pod to create; `set_` has the template of the revision."""
    pod = pod_from_template(set_["spec"]["template"], set_, KIND)
    pod["metadata"]["name"] = f"{set_['metadata']['name']}-{ordinal}"
    pod["metadata"]["namespace"] = set_["metadata"]["namespace"]
    give_identity(pod)
    give_storage(set_, pod)
    pod["spec"]["hostname"] = pod["metadata"]["name"]
    if set_["spec"].get("serviceName"):
        pod["spec"]["subdomain"] = set_["spec"]["serviceName"]
    pod["metadata"]["labels"][POD_REVISION] = revision
    return pod


def identity_labels(pod: Object) -> dict[str, str]:
    return {POD_NAME: pod["metadata"]["name"], POD_INDEX: str(ordinal_of(pod))}


def has_identity(pod: Object) -> bool:
    """By its name alone: an index that somebody has taken off is not put back (identityMatches)."""
    return bool((pod["metadata"].get("labels") or {}).get(POD_NAME) == pod["metadata"]["name"])


def give_identity(pod: Object) -> None:
    """In place, on a private copy."""
    pod["metadata"]["labels"] = {**(pod["metadata"].get("labels") or {}), **identity_labels(pod)}


def claim_name(set_: Object, template: Object, ordinal: int) -> str:
    return f"{template['metadata']['name']}-{set_['metadata']['name']}-{ordinal}"


def claims(set_: Object, pod: Object) -> list[Object]:
    """The PersistentVolumeClaims of a Pod."""
    made = []
    for template in set_["spec"].get("volumeClaimTemplates") or ():
        claim = copy_object(template)
        claim.pop("status", None)
        claim["apiVersion"], claim["kind"] = "v1", "PersistentVolumeClaim"
        metadata = claim["metadata"]
        metadata["name"] = claim_name(set_, template, ordinal_of(pod))
        metadata["namespace"] = set_["metadata"]["namespace"]
        selected = (set_["spec"].get("selector") or {}).get("matchLabels") or {}
        metadata["labels"] = {**(metadata.get("labels") or {}), **selected}
        made.append(claim)
    return made


def give_storage(set_: Object, pod: Object) -> None:
    """The claims as volumes, in place of template volumes of the same name."""
    templates = set_["spec"].get("volumeClaimTemplates") or []
    names = {template["metadata"]["name"] for template in templates}
    own = [
        {
            "name": template["metadata"]["name"],
            "persistentVolumeClaim": {"claimName": claim_name(set_, template, ordinal_of(pod))},
        }
        for template in templates
    ]
    kept = [volume for volume in pod["spec"].get("volumes") or () if volume["name"] not in names]
    if own or kept:
        pod["spec"]["volumes"] = [*own, *kept]


def has_storage(set_: Object, pod: Object) -> bool:
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or ()}
    return all(
        ((volumes.get(template["metadata"]["name"]) or {}).get("persistentVolumeClaim") or {}).get("claimName")
        == claim_name(set_, template, ordinal_of(pod))
        for template in set_["spec"].get("volumeClaimTemplates") or ()
    )


def belongs_to(set_: Object, pod: Object) -> bool:
    return controller_uid(pod) == str(set_["metadata"].get("uid", ""))
