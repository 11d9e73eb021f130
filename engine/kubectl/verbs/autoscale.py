"""`autoscale`: make a HorizontalPodAutoscaler for a workload.

Source of the behaviour: kubectl pkg/cmd/autoscale/autoscale.go.
"""

from __future__ import annotations

import re
from decimal import Decimal

from engine.api.errors import ApiError
from engine.api.quantity import Quantity, QuantityError
from engine.api.types import GVK, Object
from engine.kubectl.change_cause import RECORD, recorded
from engine.kubectl.command import Command
from engine.kubectl.errors import CommandError
from engine.kubectl.flags import Flag, Type
from engine.kubectl.flagsets import DRY_RUN, PRINT, SAVE_CONFIG, field_manager, filename
from engine.kubectl.printers.objects import result_printer
from engine.kubectl.selection import Info, Selection, visit
from engine.kubectl.session import Session
from engine.kubectl.verbs.create import post

CPU_PERCENT = (
    "Use --cpu with percentage or resource quantity format (e.g., '70%' for utilization or '500m' for milliCPU)."
)
KIND = GVK("autoscaling", "v2", "HorizontalPodAutoscaler")
_UNITS = {"cpu": "m", "memory": "Mi"}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")


async def run(session: Session) -> None:
    flags = session.flags
    low, high = flags.number("min"), flags.number("max")
    if high < 1:
        raise CommandError(f"--max=MAXPODS is required and must be at least 1, max: {high}")
    if high < low:
        raise CommandError(f"--max=MAXPODS must be larger or equal to --min=MINPODS, max: {high}, min: {low}")
    dry_run = session.dry_run()
    if flags.number("cpu-percent") > 0 and flags.text("cpu"):
        raise CommandError("--cpu-percent and --cpu are mutually exclusive")
    metrics = _metrics(session)
    resource = await session.discovery.for_kind(session.client, KIND)

    async def autoscale(info: Info) -> None:
        if "scale" not in info.resource.subresources:
            gvr = info.resource.gvr
            raise CommandError(
                f"cannot autoscale a {info.resource.kind}: could not find scale subresource for "
                f"{gvr.group}/{gvr.version}, Resource={gvr.resource} in discovery information"
            )
        made = _autoscaler(session, info, metrics)
        made = recorded(session, made)
        new = Info(resource, info.namespace, made["metadata"]["name"], object=made)
        try:
            await post(session, new, dry_run=dry_run, validation="", typed=True)
            # Upstream has another word for what the client only tries.
            operation = "created" if dry_run == "client" else "autoscaled"
            result_printer(session, operation, dry_run=dry_run, typed=True)(new.object, resource)
        except (ApiError, CommandError) as error:
            if (problem := _without_v1(session)) is not None:
                raise CommandError(
                    "failed to create autoscaling/v2 HPA and the configuration is incompatible with autoscaling/v1: "
                    f"{problem}"
                ) from error
            raise

    selection = Selection.of_flags(session)
    selection.fetch = not session.from_files  # a manifest is taken as it stands
    if not await visit(session, selection, autoscale):
        raise CommandError("no objects passed to autoscale")


def _without_v1(session: Session) -> str | None:
    """Why what failed cannot be tried as autoscaling/v1, which knows shares of a processor only; None where it can.

    What v1 says then is what v2 has said, so that it need not be asked.
    """
    flags = session.flags
    if not flags.text("cpu"):
        return "empty input"
    of_shares = flags.number("cpu-percent") >= 0 or flags.text("cpu").endswith("%")
    return None if of_shares and not flags.text("memory") else "%!w(<nil>)"


def _metrics(session: Session) -> list[Object]:
    """What `--cpu` and `--memory` ask for. Raises CommandError."""
    found: list[Object] = []
    percent = session.flags.number("cpu-percent")
    if percent > 0:
        found.append(_metric("cpu", {"averageUtilization": percent, "type": "Utilization"}))
    for name in _UNITS:
        text = session.flags.text(name)
        if not text:
            continue
        if text.endswith("%"):
            if not text[:-1].isdigit():
                raise CommandError(f"invalid percentage value: {text[:-1]}")
            found.append(_metric(name, {"averageUtilization": int(text[:-1]), "type": "Utilization"}))
            continue
        try:
            amount = str(Quantity.parse(_with_unit(text, _UNITS[name])))
        except QuantityError as error:
            raise CommandError(f"invalid resource {name} value: {text}") from error
        found.append(_metric(name, {"averageValue": amount, "type": "AverageValue"}))
    return found


def _with_unit(text: str, unit: str) -> str:
    """A number without a unit counts thousandths of a processor, or mebibytes."""
    return f"{Decimal(text):f}{unit}" if _NUMBER.fullmatch(text) else text


def _metric(name: str, target: Object) -> Object:
    return {"type": "Resource", "resource": {"name": name, "target": target}}


def _autoscaler(session: Session, info: Info, metrics: list[Object]) -> Object:
    gvk = info.resource.gvk
    spec: Object = {
        "maxReplicas": session.flags.number("max"),
        "scaleTargetRef": {"apiVersion": gvk.api_version, "kind": gvk.kind, "name": info.name},
    }
    if session.flags.number("min") > 0:
        spec["minReplicas"] = session.flags.number("min")
    if metrics:
        spec["metrics"] = metrics
    metadata = {"name": session.flags.text("name") or info.name}
    if session.namespace_given:
        metadata["namespace"] = session.namespace
    return {
        "apiVersion": KIND.api_version,
        "kind": KIND.kind,
        "metadata": metadata,
        "spec": spec,
        "status": {"currentMetrics": None, "desiredReplicas": 0},
    }


COMMAND = Command(
    name="autoscale",
    short="Auto-scale a deployment, replica set, stateful set, or replication controller",
    usage="(-f FILENAME | TYPE NAME | TYPE/NAME) [--min=MINPODS] --max=MAXPODS [--cpu=CPU] [--memory=MEMORY]",
    run=run,
    flags=(
        *filename(),
        *PRINT,
        *DRY_RUN,
        *SAVE_CONFIG,
        *field_manager("kubectl-autoscale"),
        *RECORD,
        Flag("cpu", help="The processor time to aim at: a share of the request (80%), or an amount for each Pod."),
        Flag("cpu-percent", Type.INT32, default=-1, help="Old for --cpu.", hidden=True, deprecated=CPU_PERCENT),
        Flag("max", Type.INT32, default=-1, required=True, help="At most so many Pods."),
        Flag("memory", help="The memory to aim at, as --cpu."),
        Flag("min", Type.INT32, default=-1, help="At least so many Pods."),
        Flag("name", help="The autoscaler's name; by default the workload's."),
    ),
    examples=("autoscale deployment web --min=2 --max=10 --cpu=80%",),
)
