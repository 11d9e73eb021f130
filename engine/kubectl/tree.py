"""All commands, in the order in which kubectl lists them."""

from __future__ import annotations

from engine.kubectl.command import Command
from engine.kubectl.verbs import (
    api_resources,
    apply,
    create,
    delete,
    describe,
    generators,
    get,
    label,
    patch,
    replace,
    scale,
    version,
)

CREATE = Command(
    name="create",
    short="Create a resource from a file or from stdin",
    usage="-f FILENAME",
    run=create.run,
    flags=create.FLAGS,
    children=generators.COMMANDS,
    examples=("create -f web.yaml", "create deployment web --image=nginx:1.27 --replicas=3"),
)
ROOT = Command(
    name="",
    short="Control the Kubernetes cluster",
    children=(
        CREATE,
        get.COMMAND,
        delete.COMMAND,
        describe.COMMAND,
        scale.COMMAND,
        apply.COMMAND,
        patch.COMMAND,
        replace.COMMAND,
        label.LABEL,
        label.ANNOTATE,
        api_resources.RESOURCES,
        api_resources.VERSIONS,
        version.COMMAND,
    ),
)
