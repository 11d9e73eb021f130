"""`version`: of this client and of the server.

Source of the behaviour: kubectl pkg/cmd/version/version.go.
"""

from __future__ import annotations

import json

from engine.api.schema import resolve_version
from engine.api.types import Object
from engine.kubectl import yaml
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.kustomize import VERSION as KUSTOMIZE
from engine.kubectl.session import Session


async def run(session: Session) -> None:
    output = session.flags.text("output")
    if session.arguments:
        raise CommandError(f"extra arguments: [{' '.join(session.arguments)}]")
    if output not in ("", "json", "yaml"):
        raise CommandError("--output must be 'yaml' or 'json'")
    own = resolve_version()
    major, minor, _ = own.split(".")
    shown: Object = {
        "clientVersion": {"major": major, "minor": minor, "gitVersion": f"v{own}"},
        "kustomizeVersion": KUSTOMIZE,
    }
    failure: Exception | None = None
    if not session.flags.on("client"):
        try:
            shown["serverVersion"] = await session.request("GET", "/version")
        except ConnectionError as error:
            failure = error
    if output == "json":
        session.out(json.dumps(shown, indent=2))
    elif output == "yaml":
        session.stdout.write(yaml.dump(shown))
    else:
        session.out(f"Client Version: v{own}")
        session.out(f"Kustomize Version: {KUSTOMIZE}")
        if "serverVersion" in shown:
            session.out(f"Server Version: {shown['serverVersion']['gitVersion']}")
    if failure is not None:
        raise failure


COMMAND = Command(
    name="version",
    usage="[flags]",
    short="Print the client and server version information",
    run=run,
    offline_flag="client",
    flags=(
        Flag("client", Type.BOOL, help="Only this client's; asks no server."),
        Flag("output", short="o", help="'yaml' or 'json'."),
    ),
)
