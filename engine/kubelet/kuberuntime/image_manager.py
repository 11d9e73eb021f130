"""Makes sure that a container's image is on the node (pkg/kubelet/images image_manager.go, puller.go).

Pulls of one node go one after another, as serializeImagePulls (the kubelet's default) has it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from engine.api.golang.duration import duration_text
from engine.api.types import Object
from engine.client import NORMAL, WARNING
from engine.clock import Clock
from engine.kubelet import events, pods
from engine.kubelet.cri import CriError, Image, ImageService, PullProgress
from engine.kubelet.kuberuntime import errors
from engine.kubelet.kuberuntime.backoff import Backoff
from engine.kubelet.kuberuntime.errors import StartError
from engine.kubelet.runtime.reference import InvalidReferenceError, parse_reference

Say = Callable[[str, str, str], None]  # an event about the container: type, reason, message


class ImageManager:
    def __init__(self, images: ImageService, clock: Clock) -> None:
        self._images = images
        self._clock = clock
        self._backoff = Backoff(clock)
        self._one_at_a_time = asyncio.Lock()
        self._errors: dict[str, str] = {}  # of the last pull, by back-off key
        self.waiting: list[PullProgress] = []

    async def ensure_image_exists(self, pod: Object, container: Object, say: Say) -> Image:
        """The image, pulled if it must be. Raises StartError."""
        name = container["image"]
        image = _with_tag(name, say)
        present = await self._images.image_status(image)
        policy = container.get("imagePullPolicy") or ("Always" if image.endswith(":latest") else "IfNotPresent")
        if present is not None and policy != "Always":
            say(
                NORMAL,
                events.PULLED,
                f'Container image "{name}" already present on machine and can be accessed by the pod',
            )
            return present
        if policy == "Never":
            message = f'Container image "{name}" is not present with pull policy of Never'
            say(WARNING, events.ERR_IMAGE_NEVER_PULL, message)
            raise StartError(errors.ERR_IMAGE_NEVER_PULL, message)
        key = f"{pods.uid_of(pod)}_{name}"
        self._refuse_in_back_off(key, name, say)
        return await self._pull(key, name, image, say)

    def forget(self, pod_uid: str) -> None:
        self._backoff.forget(pod_uid)
        for key in [key for key in self._errors if key.startswith(pod_uid)]:
            del self._errors[key]

    def _refuse_in_back_off(self, key: str, name: str, say: Say) -> None:
        remaining = self._backoff.remaining(key)
        if not remaining:
            return
        message = f'Back-off pulling image "{name}"'
        say(NORMAL, events.BACK_OFF, message)
        if key in self._errors:
            message = f"{message}: {self._errors[key]}"
        raise StartError(errors.IMAGE_PULL_BACK_OFF, message, retry_after=remaining)

    async def _pull(self, key: str, name: str, image: str, say: Say) -> Image:
        say(NORMAL, events.PULLING, f'Pulling image "{name}"')
        began = self._clock.monotonic()
        progress = PullProgress(image, 0, began)
        self.waiting.append(progress)
        try:
            async with self._one_at_a_time:
                self.waiting.remove(progress)
                pull_began = self._clock.monotonic()
                await self._images.pull_image(image)
                pull_took = self._clock.monotonic() - pull_began
        except CriError as error:
            # An unknown code says nothing and is left out (cri-client remote_image.go).
            text = error.message if error.code == "Unknown" else str(error)
            say(WARNING, events.FAILED, f'Failed to pull image "{name}": {text}')
            self._backoff.next(key, self._clock.monotonic())
            self._errors[key] = f"{errors.ERR_IMAGE_PULL}: {text}"
            raise StartError(errors.ERR_IMAGE_PULL, text) from None
        finally:
            if progress in self.waiting:
                self.waiting.remove(progress)
        self._errors.pop(key, None)
        pulled = await self._images.image_status(image)
        if pulled is None:
            raise StartError("ImageInspectError", f'Failed to inspect image "{name}": image not found')
        took, waited = _milliseconds(pull_took), _milliseconds(self._clock.monotonic() - began)
        say(
            NORMAL,
            events.PULLED,
            f'Successfully pulled image "{name}" in {took} ({waited} including waiting). '
            f"Image size: {pulled.size} bytes.",
        )
        return pulled


def _with_tag(name: str, say: Say) -> str:
    """The name with the default tag where it has none. Raises StartError for no name at all."""
    try:
        reference = parse_reference(name)
    except InvalidReferenceError as error:
        message = f'Failed to apply default image tag "{name}": couldn\'t parse image name "{name}": {error}'
        say(WARNING, events.INSPECT_FAILED, message)
        raise StartError(errors.INVALID_IMAGE_NAME, message) from None
    if reference.tag == "latest" and not name.endswith(":latest"):
        return f"{name}:latest"
    return name


def _milliseconds(seconds: float) -> str:
    """A Go duration cut to milliseconds."""
    return duration_text(int(seconds * 1000) / 1000)
