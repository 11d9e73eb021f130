"""Replacements within a text that is JSON or YAML itself, such as the data of a ConfigMap.

Source of the behaviour: kustomize api/filters/replacement (setValueInStructuredData).
"""

from __future__ import annotations

import json
from typing import Any

from engine.api.golang.json import written
from engine.api.golang.yaml import YamlError, load, resolve_v3
from engine.kubectl import yaml
from engine.kubectl.kustomize import paths
from engine.kubectl.kustomize.errors import BuildError
from engine.kubectl.kustomize.resource import copied


def put(obj: dict[str, Any], steps: list[str], value: Any, *, create: Any) -> bool:
    """Set what the steps lead to within a text; whether they lead into one, and to something there."""
    for length in range(1, len(steps)):
        try:
            found = paths.lookup(obj, steps[:length])
        except BuildError:
            return False
        if isinstance(found, dict | list) or found is None:
            continue
        return isinstance(found, str) and _put(obj, steps, length, found, value=value, create=create)
    return False


def _put(obj: dict[str, Any], steps: list[str], length: int, text: str, *, value: Any, create: Any) -> bool:
    try:
        document = load(text, scalars=resolve_v3)
        if not isinstance(document, dict | list):
            return False
        places = list(paths.places(document, steps[length:], create=create))
    except (YamlError, BuildError):
        return False
    if not places:
        return False
    for place in places:
        old = place.value
        scalar = not isinstance(old, dict | list) and not isinstance(value, dict | list)
        typed = scalar and old is not None and not isinstance(old, str)
        place.holder[place.key] = resolve_v3(paths.text_of(value)) if typed else copied(value)
    holder = paths.lookup(obj, steps[: length - 1])
    holder[steps[length - 1]] = _text(document, text)
    return True


def _text(document: Any, before: str) -> str:
    if before.strip()[:1] in ("{", "["):
        if "\n" in before and "  " in before:
            return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False)
        return written(document)
    return yaml.dump(document).strip()
