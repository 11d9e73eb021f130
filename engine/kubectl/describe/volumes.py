"""The volumes of a Pod, and what a PersistentVolume is made of, in words.

Source of the behaviour: kubectl pkg/describe (describeVolumes, describePersistentVolume and what they call).
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.api.types import Object
from engine.kubectl.describe import claims
from engine.kubectl.describe.volume_sources import OF_PERSISTENT_VOLUMES, OF_PODS, Source
from engine.kubectl.describe.writer import LONGEST_ANNOTATION, NONE, Page, true_false


def write(page: Page, volumes: Sequence[Object] | None, space: str = "") -> None:
    if not volumes:
        page.line(f"{space}Volumes:\t{NONE}")
        return
    page.line(f"{space}Volumes:")
    for volume in volumes:
        page.line(f"{' ' if space else ''}{volume['name']}:", 1)
        kind = next((key for key in volume if key in OF_PODS), "")
        if kind:
            _source(page, OF_PODS[kind], volume[kind])
        else:
            page.line("<unknown>", 1)
        _PARTS.get(kind, _nothing)(page, volume.get(kind) or {})


def persistent_source(page: Page, spec: Object) -> None:
    """What a PersistentVolume is made of."""
    kind = next((key for key in spec if key in OF_PERSISTENT_VOLUMES), "")
    if not kind:
        page.line("<unknown>", 1)
        return
    _source(page, OF_PERSISTENT_VOLUMES[kind], spec[kind])
    if kind == "csi":
        _attributes(page, spec[kind])


def _source(page: Page, source: Source, value: Object) -> None:
    page.field("Type", source.text, 2)
    for name, shown in source.fields(value):
        # ISCSIInterface has no colon: so kubectl writes it.
        page.line(f"{name}{'' if name == 'ISCSIInterface' else ':'}\t{shown}", 2)


def _nothing(page: Page, source: Object) -> None:
    pass


def _attributes(page: Page, source: Object) -> None:
    """Each piece of a line is indented for itself, which moves the values two levels."""
    attributes = source.get("volumeAttributes") or {}
    page.write("VolumeAttributes:\t", 2)
    if not attributes:
        page.line(NONE)
    for index, key in enumerate(sorted(attributes)):
        if index:
            page.write("", 2)
            page.write("\t", 2)
        line = f"{key}={attributes[key]}"
        page.line(line if len(line) <= LONGEST_ANNOTATION else f"{line[:LONGEST_ANNOTATION]}...", 2)


def _claim_template(page: Page, source: Object) -> None:
    template = source.get("volumeClaimTemplate")
    if template:
        with page.nested(2):
            claims.write(page, {"metadata": template.get("metadata") or {}, "spec": template.get("spec") or {}})


def _downward(page: Page, source: Object) -> None:
    page.line("Items:", 2)
    for item in source.get("items") or ():
        for key, field in (("fieldRef", "fieldPath"), ("resourceFieldRef", "resource")):
            if key in item:
                page.line(f"{item[key].get(field, '')} -> {item.get('path', '')}", 3)


def _projected(page: Page, source: Object) -> None:
    for part in source.get("sources") or ():
        if secret := part.get("secret"):
            page.field("SecretName", secret.get("name", ""), 2)
            page.field("Optional", true_false(secret.get("optional")), 2)
        elif "downwardAPI" in part:
            page.field("DownwardAPI", "true", 2)
        elif config_map := part.get("configMap"):
            page.field("ConfigMapName", config_map.get("name", ""), 2)
            page.field("Optional", true_false(config_map.get("optional")), 2)
        elif token := part.get("serviceAccountToken"):
            page.field("TokenExpirationSeconds", token.get("expirationSeconds", 3600), 2)


# What is more than a list of fields.
_PARTS = {
    "csi": _attributes,
    "ephemeral": _claim_template,
    "downwardAPI": _downward,
    "projected": _projected,
}
