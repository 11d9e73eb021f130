"""A folder built: its resources accumulated, changed as its kustomization says, and its references mended.

Source of the behaviour: kustomize api/krusty/kustomizer.go and api/internal/target/kusttarget.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.kubectl import yaml
from engine.kubectl.kustomize import VERSION, content, hashing, ordering, origins, references, variables
from engine.kubectl.kustomize.builtin_fields import METADATA_LABELS
from engine.kubectl.kustomize.kustomization import read
from engine.kubectl.kustomize.loader import Loader, base
from engine.kubectl.kustomize.target import Target

LOCAL = "config.kubernetes.io/local-config"


def build(
    path: str,
    *,
    restricted: bool = True,
    order: str = "legacy",
    warn: Callable[[str], None],
    log: Callable[[str, str], None],
) -> list[dict[str, Any]]:
    """The objects that a folder's kustomization makes. Raises BuildError.

    `warn` is told of fields that are old, `log` of what upstream writes into its log, with the place that it does at.
    """
    loader = Loader(base(path), restricted=restricted)
    kustomization = read(loader)
    target = Target(loader, kustomization, warn=warn)
    made = target.accumulate()
    hashing.add_hashes(made.resources)
    references.fix(made.resources, made.configuration.references)
    for name in variables.resolve(made.resources, made.variables, made.configuration.specs["varReference"]):
        log("log.go:244", f"well-defined vars that were never replaced: {name}")
    kept = [r for r in made.resources if r.texts("annotations").get(LOCAL, "false") == "false"]
    made.resources.all = ordering.ordered(kept, kustomization.fields.get("sortOptions") or {"order": order})
    options = kustomization.list("buildMetadata")
    if "managedByLabel" in options:
        label = {"app.kubernetes.io/managed-by": f"kustomize-{VERSION}"}
        content.add_texts(made.resources, label, METADATA_LABELS)
    origins.annotate(made.resources, options)
    return [resource.obj for resource in made.resources]


def text(objects: list[dict[str, Any]]) -> str:
    """The objects as one YAML stream."""
    return "---\n".join(yaml.dump(obj) for obj in objects)
