"""`cluster-info`: where the control plane is (kubectl pkg/cmd/clusterinfo)."""

from __future__ import annotations

from engine.kubectl.command import Command
from engine.kubectl.fetching import listed
from engine.kubectl.session import Session
from engine.kubectl.verbs.cluster_dump import DUMP

LABEL = "kubernetes.io/cluster-service=true"


async def run(session: Session) -> None:
    try:
        services = await session.resolve("services")
        found = await listed(session, services, "kube-system", labels=LABEL)
        session.out(f"Kubernetes control plane is running at {session.server or 'this process'}")
        for service in found:
            metadata = service["metadata"]
            ports = service["spec"].get("ports") or [{}]
            name = f"{metadata['name']}:{ports[0]['name']}" if ports[0].get("name") else metadata["name"]
            path = f"/api/v1/namespaces/{metadata['namespace']}/services/{name}/proxy"
            shown = (metadata.get("labels") or {}).get("kubernetes.io/name", metadata["name"])
            session.out(f"{shown} is running at {session.server}{path}")
    finally:
        session.out(f"\nTo further debug and diagnose cluster problems, use '{session.program} cluster-info dump'.")


COMMAND = Command(name="cluster-info", usage="[flags]", short="Display cluster information", run=run, children=(DUMP,))
