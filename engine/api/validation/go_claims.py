"""Claims for devices as field errors show them: the internal types of pkg/apis/resource/types.go, without JSON tags."""

from __future__ import annotations

from engine.api.types import Object
from engine.api.validation.go_pods import embedded_metadata
from engine.api.validation.go_structs import struct_shown


def device_claim(spec: Object) -> Object:
    return struct_shown(spec, "ResourceClaimSpec")


def device_claim_template(spec: Object) -> Object:
    """Only metadata, which is embedded, has tags."""
    return {**embedded_metadata(spec), "Spec": device_claim(spec.get("spec", {}))}
