"""ImagePolicyWebhook: another server says which images may run (plugin/pkg/admission/imagepolicy admission.go)."""

from __future__ import annotations

import orjson

from engine.api.types import Object
from engine.apiserver.admission.attributes import WRITES, Attributes, Plugin, denied
from engine.apiserver.admission.image_policy_settings import ImagePolicy
from engine.apiserver.image_reviews import ImageReviews
from engine.apiserver.lru_expire_cache import LruExpireCache
from engine.apiserver.webhook_client import WebhookError
from engine.clock import Clock

_ANNOTATIONS = ".image-policy.k8s.io/"  # in the keys of a Pod's annotations that the other server is told
_AUDIT = f"imagepolicywebhook{_ANNOTATIONS}"
_FAILED_OPEN = "failed-open"
_SIZE = 1024  # answers that are remembered


class ImagePolicyWebhook(Plugin):
    name = "ImagePolicyWebhook"
    operations = WRITES
    resources = frozenset(("pods", "pods/ephemeralcontainers"))
    default = False

    def __init__(self, clock: Clock, policy: ImagePolicy, reviews: ImageReviews) -> None:
        self._policy = policy
        self._reviews = reviews
        self._answers: LruExpireCache[bytes, Object] = LruExpireCache(_SIZE, clock)

    async def validate(self, attributes: Attributes) -> None:
        pod = attributes.object
        if pod is None:
            return
        spec = _spec(attributes, pod)
        key = orjson.dumps(spec)
        status = self._answers.get(key)
        if status is None:
            try:
                status = await self._reviews.ask(spec)
            except WebhookError as error:
                self._unanswered(attributes, pod, str(error))
                return
            seconds = self._policy.allow_seconds if status.get("allowed") else self._policy.deny_seconds
            self._answers.put(key, status, seconds)
        for name, text in (status.get("auditAnnotations") or {}).items():
            attributes.annotate(_AUDIT + name, text)
        if not status.get("allowed"):
            reason = status.get("reason")
            told = f"image policy webhook backend denied one or more images: {reason}" if reason else ""
            raise denied(attributes, told or "one or more images rejected by webhook backend")

    def _unanswered(self, attributes: Attributes, pod: Object, why: str) -> None:
        """Raises ApiError 403, unless Pods are let in that nobody has judged: that stands on them."""
        if not self._policy.default_allow:
            raise denied(attributes, why)
        attributes.annotate(_AUDIT + _FAILED_OPEN, "true")
        annotations = pod["metadata"].get("annotations") or {}
        pod["metadata"]["annotations"] = {**annotations, f"alpha{_ANNOTATIONS}{_FAILED_OPEN}": "true"}


def _spec(attributes: Attributes, pod: Object) -> Object:
    """Of an ImageReview."""
    fields = ("ephemeralContainers",) if attributes.subresource else ("containers", "initContainers")
    images = [each.get("image", "") for field in fields for each in pod["spec"].get(field) or ()]
    annotations = pod["metadata"].get("annotations") or {}
    told = {name: annotations[name] for name in sorted(annotations) if _ANNOTATIONS in name}
    spec: Object = {
        "containers": [{"image": image} if image else {} for image in images],
        "annotations": told,
        "namespace": attributes.namespace,
    }
    return {name: value for name, value in spec.items() if value}
