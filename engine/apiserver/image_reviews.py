"""Asking the server that a kubeconfig names which images may run (plugin/pkg/admission/imagepolicy)."""

from __future__ import annotations

from pathlib import Path

from engine.api.golang.forms import BOOL, STRING, Map, Struct
from engine.api.types import GVK, Object
from engine.apiserver.kubeconfig_webhook import KubeconfigWebhook
from engine.rng import Rng

_REVIEW = GVK("imagepolicy.k8s.io", "v1alpha1", "ImageReview")
_FORM = Struct(
    "ImageReview",
    {
        "kind": STRING,
        "apiVersion": STRING,
        "status": Struct("ImageReviewStatus", {"allowed": BOOL, "reason": STRING, "auditAnnotations": Map(STRING)}),
    },
    "v1alpha1",
)
_SCHEME = "pkg/api/legacyscheme/scheme.go:30"


class ImageReviews:
    def __init__(self, kubeconfig: Path | None, *, backoff: float, chance: Rng) -> None:
        """Raises CredentialsError for a kubeconfig that names no server, or cannot be read."""
        self._webhook = KubeconfigWebhook(kubeconfig, backoff=backoff, chance=chance)

    async def ask(self, spec: Object) -> Object:
        """The status of a review. Raises WebhookError."""
        review = {"kind": _REVIEW.kind, "apiVersion": _REVIEW.api_version, "metadata": {}, "spec": spec}
        found = await self._webhook.ask({**review, "status": {"allowed": False}}, _REVIEW, _FORM, scheme=_SCHEME)
        status: Object = found.get("status") or {}
        return status
