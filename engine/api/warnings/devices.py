"""What slices of devices are warned of (pkg/registry/resource/resourceslice/strategy.go)."""

from __future__ import annotations

import json

from engine.api.types import Object


def resource_slice(obj: Object) -> list[str]:
    """Names of drivers are compared as they are written."""
    driver = (obj.get("spec") or {}).get("driver", "")
    if driver == driver.lower():
        return []
    return [f"spec.driver: driver names should be lowercase; {json.dumps(driver)} contains uppercase characters"]
