"""What a file says of ImagePolicyWebhook (plugin/pkg/admission/imagepolicy config.go)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from engine.api.golang.duration import duration_text
from engine.api.golang.forms import BOOL, INT64, STRING, Struct, UnmarshalError, check
from engine.api.types import Object

_FORM = Struct(
    "AdmissionConfig",
    {
        "imagePolicy": Struct(
            "imagePolicyWebhookConfig",
            {
                "kubeConfigFile": STRING,
                "allowTTL": INT64,
                "denyTTL": INT64,
                "retryBackoff": INT64,
                "defaultAllow": BOOL,
            },
            "imagepolicy",
        )
    },
    "imagepolicy",
)
_DISABLED, _DEFAULT = -1, 0
_MINUTE = 60.0


class ImagePolicyError(Exception):
    """The plugin cannot be configured by this."""


class ImagePolicy(NamedTuple):
    """`backoff` are the seconds before the first of several tries."""

    kubeconfig: Path | None = None
    allow_seconds: float = 5 * _MINUTE
    deny_seconds: float = 30.0
    backoff: float = 0.5
    default_allow: bool = False


def image_policy(part: Any) -> ImagePolicy:
    """Raises ImagePolicyError."""
    try:
        check(part, _FORM)
    except UnmarshalError as error:
        raise ImagePolicyError(str(error)) from None
    said: Object = part.get("imagePolicy") or {}
    file, usual = said.get("kubeConfigFile"), ImagePolicy()
    return ImagePolicy(
        Path(file) if file else None,
        backoff=_seconds(said.get("retryBackoff"), 0.001, 1e-9, 5 * _MINUTE, usual.backoff),
        allow_seconds=_seconds(said.get("allowTTL"), 1.0, 1.0, 30 * _MINUTE, usual.allow_seconds),
        deny_seconds=_seconds(said.get("denyTTL"), 1.0, 1.0, 30 * _MINUTE, usual.deny_seconds),
        default_allow=bool(said.get("defaultAllow")),
    )


def _seconds(said: int | None, scale: float, least: float, most: float, usual: float) -> float:
    if said == _DISABLED:
        return 0.0
    if said is None or said == _DEFAULT:
        return usual
    seconds = said * scale
    if not least <= seconds <= most:
        shown = (duration_text(each) for each in (least, most, seconds))
        raise ImagePolicyError("valid value is between {} and {}, got {}".format(*shown))
    return seconds
