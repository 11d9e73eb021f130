"""The node's images and the registry behind them (CRI ImageService; texts of containerd 2.x).

A registry that exists only in name: every image can be pulled, but one whose name or tag says that it is not there
(`missing`, and what upstream's end-to-end tests and tasks write for it).
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.clock import Clock
from engine.kubelet.cri import CriError, Image, PullProgress
from engine.kubelet.runtime.catalog import config_id_of, digest_of, profile_of
from engine.kubelet.runtime.reference import InvalidReferenceError, Reference, parse_reference
from engine.latency import Latency

MISSING = frozenset({"missing", "404", "non-existent", "nonexistent", "does-not-exist", "non-existing-image"})
# Tags that pages of kubernetes.io have for a rollout that does not get on: on Deployments, and on updating an app.
MISTYPED = {"library/nginx": "1.161", "google-samples/kubernetes-bootcamp": "v10"}
MIB = 1024 * 1024


class ImageStore:
    """The images of one node and the pulls under way."""

    def __init__(self, clock: Clock, latency: Latency) -> None:
        self._clock = clock
        self._latency = latency
        self._images: dict[str, Image] = {}  # by id
        self._ids: dict[str, str] = {}  # full reference to id
        self._pulls: list[PullProgress] = []
        self.pulled = 0

    def now(self) -> float:
        """The clock that the times of pulls are on."""
        return self._clock.monotonic()

    def list_images(self) -> Sequence[Image]:
        return list(self._images.values())

    def pulls(self) -> Sequence[PullProgress]:
        return list(self._pulls)

    def image_status(self, image: str) -> Image | None:
        reference = _parse(image)
        return self._images.get(self._ids.get(reference.full, "")) or self._images.get(image)

    def remove_image(self, image: str) -> None:
        found = self.image_status(image)
        if found is not None:
            del self._images[found.id]
            self._ids = {name: id for name, id in self._ids.items() if id != found.id}

    async def pull_image(self, image: str) -> str:
        """Fetch an image from its registry: a round trip, then its bytes, unless they are there already."""
        reference = _parse(image)
        size = profile_of(reference).size
        missing = 0 if reference.full in self._ids else size
        round_trip, transfer = self._latency.draw("image-pull"), self._latency.draw("image-pull-mib", missing / MIB)
        now = self._clock.monotonic()
        progress = PullProgress(image, size, now, now, round_trip + transfer)
        self._pulls.append(progress)
        try:
            if round_trip:
                await self._latency.wait(round_trip)
            _refuse_missing(reference)
            if transfer:
                await self._latency.wait(transfer)
        finally:
            self._pulls.remove(progress)
        self.pulled += 1
        return self._keep(reference).repo_digests[0]

    def _keep(self, reference: Reference) -> Image:
        profile = profile_of(reference)
        image_id = config_id_of(reference)
        tags = () if not reference.tag else (f"{reference.repository}:{reference.tag}",)
        image = Image(
            image_id,
            tags,
            (f"{reference.repository}@{digest_of(reference)}",),
            profile.size,
            profile.simulated,
            None if profile.simulated else profile.uid,
        )
        self._images[image_id] = image
        self._ids[reference.full] = image_id
        self._ids[image.repo_digests[0]] = image_id
        return image


def _parse(image: str) -> Reference:
    try:
        return parse_reference(image)
    except InvalidReferenceError as error:
        raise CriError("InvalidArgument", f'failed to parse image reference "{image}": {error}') from None


def _refuse_missing(reference: Reference) -> None:
    failed = f'failed to pull and unpack image "{reference.full}": failed to resolve image: '
    if reference.path.rpartition("/")[2] in MISSING:
        raise CriError(
            "Unknown",
            f"{failed}pull access denied, repository does not exist or may require authorization: "
            "server message: insufficient_scope: authorization failed",
        )
    if reference.tag and (reference.tag in MISSING or reference.tag == MISTYPED.get(reference.path)):
        raise CriError("NotFound", f"{failed}{reference.full}: not found")
