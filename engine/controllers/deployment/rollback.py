"""Rolling a Deployment back where its annotation `deprecated.deployment.rollback.to` asks for it: pure
(pkg/controller/deployment/rollback.go).

The annotation stands for a field of older versions of the API. kubectl rolls back by itself and does not use it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from engine.api.types import Object, copy_object
from engine.client import NORMAL, WARNING
from engine.controllers.deployment.replica_sets import (
    DEPRECATED_ROLLBACK,
    HASH_LABEL,
    NOT_COPIED,
    annotations_of,
    equal_ignoring_hash,
    revision,
)

_NUMBER = re.compile(r"[+-]?[0-9]+")


class Rollback(NamedTuple):
    """The Deployment to write, which asks for nothing any more, and the event that tells of it."""

    deployment: Object
    type: str
    reason: str
    message: str


def asked_revision(deployment: Object) -> int | None:
    """The revision to go back to, 0 for the one before; None where nothing that can be read is asked for."""
    text = annotations_of(deployment).get(DEPRECATED_ROLLBACK, "")
    return int(text) if _NUMBER.fullmatch(text) else None


def rolled_back(deployment: Object, replica_sets: Sequence[Object], to: int) -> Rollback:
    """`replica_sets` are all that the Deployment has."""
    name = deployment["metadata"]["name"]
    wanted = to or _last_revision(replica_sets)
    if not wanted:
        return _given_up(deployment, "DeploymentRollbackRevisionNotFound", "Unable to find last revision.")
    found = next((rs for rs in replica_sets if revision(rs) == wanted), None)
    if found is None:
        message = "Unable to find the revision to rollback to."
        return _given_up(deployment, "DeploymentRollbackRevisionNotFound", message)
    if equal_ignoring_hash(deployment["spec"]["template"], found["spec"]["template"]):
        message = f'The rollback revision contains the same template as current deployment "{name}"'
        return _given_up(deployment, "DeploymentRollbackTemplateUnchanged", message)
    message = f'Rolled back deployment "{name}" to revision {wanted}'
    return Rollback(_as_it_was(deployment, found), NORMAL, "DeploymentRollback", message)


def _last_revision(replica_sets: Sequence[Object]) -> int:
    """The second highest; 0 where there is none."""
    return [*sorted(map(revision, replica_sets), reverse=True), 0, 0][1]


def _given_up(deployment: Object, reason: str, message: str) -> Rollback:
    return Rollback(_asking_nothing(deployment), WARNING, reason, message)


def _asking_nothing(deployment: Object) -> Object:
    copy = copy_object(deployment)
    copy["metadata"]["annotations"].pop(DEPRECATED_ROLLBACK)
    return copy


def _as_it_was(deployment: Object, rs: Object) -> Object:
    """With the template and the annotations that the ReplicaSet keeps of the revision."""
    copy = _asking_nothing(deployment)
    template = copy_object(rs["spec"]["template"])
    (template.get("metadata") or {}).get("labels", {}).pop(HASH_LABEL, None)
    copy["spec"]["template"] = template
    own = {key: value for key, value in annotations_of(copy).items() if key in NOT_COPIED}
    kept = {key: value for key, value in annotations_of(rs).items() if key not in NOT_COPIED}
    copy["metadata"]["annotations"] = {**own, **kept}
    return copy
