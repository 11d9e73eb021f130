"""AlwaysPullImages: nobody runs an image that they cannot pull because it is on the node already.

Source: plugin/pkg/admission/alwayspullimages.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.api.errors import ApiError, aggregated
from engine.api.types import Object
from engine.apiserver.admission.attributes import WRITES, Attributes, Plugin, denied

_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
_WRONG = 'Unsupported value: "{}": supported values: "Always"'


class AlwaysPullImages(Plugin):
    name = "AlwaysPullImages"
    operations = WRITES
    default = False

    async def mutate(self, attributes: Attributes) -> bool:
        pod = attributes.object
        if pod is None or not _concerns(attributes, pod):
            return False
        for _, container in _containers(pod):
            container["imagePullPolicy"] = "Always"
        for volume in pod["spec"].get("volumes") or ():
            if volume.get("image") is not None:
                volume["image"]["pullPolicy"] = "Always"
        return True

    async def validate(self, attributes: Attributes) -> None:
        """An aggregate of errors has no code of its own upstream, and is an internal error."""
        pod = attributes.object
        if pod is None or not _concerns(attributes, pod):
            return
        policies = [(path, container.get("imagePullPolicy", "")) for path, container in _containers(pod)]
        wrong = [
            denied(attributes, f"{path}.imagePullPolicy: {_WRONG.format(policy)}").message
            for path, policy in policies
            if policy != "Always"
        ]
        if wrong:
            raise ApiError(500, "", aggregated(wrong))


def _concerns(attributes: Attributes, pod: Object) -> bool:
    """What brings no image that was not there before is let be."""
    if attributes.key != "pods":
        return False
    return attributes.old is None or not _images(pod) <= _images(attributes.old)


def _images(pod: Object) -> set[str]:
    return {container.get("image", "") for _, container in _containers(pod)}


def _containers(pod: Object) -> Iterator[tuple[str, Object]]:
    for field in _CONTAINERS:
        for index, container in enumerate(pod["spec"].get(field) or ()):
            yield f"spec.{field}[{index}]", container
