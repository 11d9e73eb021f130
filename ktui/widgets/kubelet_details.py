"""A kubelet as text: heartbeat, SyncLoop, CRI calls as they run, images; and of one Pod containers and probes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.text import Text

from engine.api.duration import human_duration
from engine.api.node_heartbeats import monitor_grace_period
from ktui.models.nodes import NodesModel, address, memory_text, pull_text, status_words
from ktui.models.signs import CLOCK, DONE, PAST, WAITING, WRONG, bar, short_pod
from ktui.widgets.line import fit, fit_middle

Json = Mapping[str, Any]
Colours = Mapping[str, str]
MIB = 2**20
MOST_CALLS, MOST_IMAGES = 10, 12
SIMULATED = "~ simulated: containers, images, pulls and addresses. The kubelet, its CRI calls and its writes are real."
NO_KUBELET = "No kubelet of this process runs this node: what the API knows of it is all there is to see."


def node_parts(model: NodesModel, now: datetime | None, *, width: int, colours: Colours) -> list[Text]:
    """The node itself and its kubelet."""
    node = model.node(model.name)
    if node is None:
        return []
    lines = list(_headline(node, model.inside, now, colours))
    kubelet = model.kubelet
    if kubelet is None:
        return [*lines, Text(""), Text(NO_KUBELET, colours.get("warning", ""))]
    return [
        *lines,
        *_sync_loop(kubelet["syncLoop"], kubelet["workers"], width),
        *_calls(kubelet, now, width, colours, None),
        *_images(kubelet["images"], width, colours),
        Text(""),
        Text(SIMULATED, "dim"),
    ]


def pod_parts(model: NodesModel, key: str, now: datetime | None, *, width: int, colours: Colours) -> list[Text]:
    """One Pod as its kubelet has it."""
    kubelet, pod = model.kubelet, model.pod(key)
    lines = [Text.assemble((short_pod(key), "bold"), (f"  on {model.name}", "dim"))]
    if kubelet is None:
        return [*lines, Text(NO_KUBELET, colours.get("warning", ""))]
    worker = next((worker for worker in kubelet["workers"] if worker["pod"] == key), None)
    if worker is not None:
        lines.append(
            Text(
                f"worker {worker['state']} · {worker['syncs']} syncs · status written {worker['statusWritten']}"
                f" of {worker['statusVersion']}",
                "dim",
            )
        )
        if worker["error"]:
            lines.append(Text(f"{WRONG} {worker['error']}", colours.get("error", "")))
    return [
        *lines,
        *_containers(kubelet["cri"], key, pod, width, colours),
        *_probes([probe for probe in kubelet["probes"] if probe["pod"] == key], colours),
        *_calls(kubelet, now, width, colours, key),
        Text(""),
        Text(SIMULATED, "dim"),
    ]


def _title(text: str) -> list[Text]:
    return [Text(""), Text(text, "bold")]


# -- the node


def _headline(node: Json, inside: Json, now: datetime | None, colours: Colours) -> Iterator[Text]:
    words, tone = status_words(node)
    tone = "success" if tone == "foreground" else tone
    zone = node["labels"].get("topology.kubernetes.io/zone", "")
    yield Text.assemble(
        (node["name"], "bold"), (f"  {zone}" if zone else "", "dim"), "  ", (words, colours.get(tone, ""))
    )
    yield _heartbeat(inside.get("renewed", ""), now, monitor_grace_period(node["kubeletVersion"]), colours)
    allocatable = node["allocatable"]
    facts = [
        f"{allocatable.get('cpu', '?')} cpu",
        memory_text(allocatable.get("memory", "0")),
        f"{address(node)}~",
        f"Pods get {node['podCIDR'] or 'no addresses yet'}",
        f"kubelet {node['kubeletVersion']}",
    ]
    yield Text(" · ".join(facts), "dim")
    if node["ready"] != "True" and node["message"]:
        yield Text(node["message"], colours.get("error", ""))
    for taint in node["taints"]:
        value = f"={taint['value']}" if taint.get("value") else ""
        yield Text(f"taint {taint['key']}{value}:{taint['effect']}", colours.get("warning", ""))


def _heartbeat(renewed: str, now: datetime | None, grace: float, colours: Colours) -> Text:
    if not renewed or now is None:
        return Text(f"{CLOCK} no heartbeat yet", colours.get("warning", ""))
    seconds = max(0.0, (now - datetime.fromisoformat(renewed)).total_seconds())
    left = max(0.0, 1 - seconds / grace)
    tone = "error" if seconds >= grace else "success" if seconds < grace / 2 else "warning"
    return Text.assemble(
        "heartbeat ",
        (bar(left, 8), colours.get(tone, "")),
        f" {human_duration(seconds)} ago",
        (f" · NotReady after {grace:.0f} s", "dim"),
    )


def _sync_loop(loop: Json, workers: Sequence[Json], width: int) -> Iterator[Text]:
    running = f"{len(workers)} Pod worker{'s' if len(workers) != 1 else ''}"
    yield from _title(f"SyncLoop  {loop['iterations']} iterations · {running}")
    inputs = "  ".join(f"{name} {count}" for name, count in loop["inputs"].items())
    yield Text(inputs)
    last = loop.get("last") or {}
    if last:
        yield Text(fit(f"last  {last['input']} {last['item']}", width), "dim")
    if loop["queued"]:
        yield Text(f"{WAITING} {len(loop['queued'])} more in line")


# -- CRI


def _calls(kubelet: Json, now: datetime | None, width: int, colours: Colours, key: str | None) -> Iterator[Text]:
    """What runs and what ran last, the newest first; of one Pod, or of all."""
    cri = kubelet["cri"]
    wanted = f"pod/{key}" if key is not None else None
    under_way = [call for call in cri["underWay"] if wanted is None or call["object"] == wanted]
    recent = [call for call in reversed(cri["recent"]) if wanted is None or call["object"] == wanted]
    if not under_way and not recent:
        return
    yield from _title("CRI calls~")
    for call in under_way:
        pull = next((p for p in kubelet["images"]["pulling"] if p["image"] == call.get("image")), None)
        text = pull_text(pull) if pull is not None else _call_text(call, wanted is None)
        seconds = (now - datetime.fromisoformat(call["at"])).total_seconds() if now is not None else 0.0
        yield Text(fit(f"{WAITING} {text}  {max(0.0, seconds):.1f} s", width), colours.get("warning", ""))
    for call in recent[:MOST_CALLS]:
        is_good = call["outcome"] == "ok"
        line = Text(f"{DONE if is_good else WRONG} ", colours.get("success" if is_good else "error", ""))
        took = f"{call['modelMs']:,.0f} ms~".rjust(11)
        outcome = "" if is_good else f" {call['outcome']}"
        line.append(fit(_call_text(call, wanted is None) + outcome, max(8, width - 15)).ljust(max(8, width - 15)))
        yield line.append(took, "dim")


def _call_text(call: Json, with_pod: bool) -> str:
    what = call.get("container") or call.get("image") or ""
    pod = short_pod(call["object"].partition("/")[2]) if with_pod and call["object"].startswith("pod/") else ""
    return " ".join(filter(None, (f"{call['call']:<17}", fit_middle(pod, 26), what)))


def _containers(cri: Json, key: str, pod: Json | None, width: int, colours: Colours) -> Iterator[Text]:
    sandboxes = {box["id"]: box for box in cri["sandboxes"] if box["pod"] == key}
    for box in sandboxes.values():
        state = box["state"].removeprefix("SANDBOX_").lower()
        ips = ", ".join(box["ips"]) or "no address"
        yield Text(f"sandbox {box['id'][:12]} {state} · address~ {ips} · attempt {box['attempt']}", "dim")
    containers = [container for container in cri["containers"] if container["sandbox"] in sandboxes]
    if containers:
        yield from _title("containers~")
    for container in containers:
        state = container["state"].removeprefix("CONTAINER_").lower()
        sign, tone = {"running": (DONE, "success"), "created": (WAITING, "warning")}.get(state, (PAST, ""))
        if state == "exited":
            state += f" {container['exitCode']}"
            sign, tone = (WRONG, "error") if container["exitCode"] else (DONE, "")
        line = Text(f"{sign} ", colours.get(tone, "") if tone else "dim")
        line.append(container["name"], "bold").append(f"  {state}")
        line.append(f"  {container['image'].removeprefix('docker.io/library/')}", "dim")
        line.append(f"  restarts {container['attempt']}" if container["attempt"] else "")
        ports = ", ".join(map(str, container["listening"]))
        yield line.append(f"  listens on {ports}" if ports else "", "dim")


def _probes(probes: Sequence[Json], colours: Colours) -> Iterator[Text]:
    if probes:
        yield from _title("probes")
    for probe in probes:
        sign, tone = {"Success": (DONE, "success"), "Failure": (WRONG, "error")}.get(probe["result"], (PAST, ""))
        left, period = probe["nextSeconds"], probe["periodSeconds"]
        line = Text(f"{sign} ", colours.get(tone, ""))
        line.append(f"{probe['probe']:<10}", "bold").append(f"{probe['container']:<12} {probe['probes']:>3} runs  ")
        if left is not None:
            line.append(f"next {bar(1 - left / period if period else 1, 8)} {left:.1f} s of {period}")
        else:
            line.append("waits for the container" if probe["probes"] == 0 else "at rest", "dim")
        yield line


def _images(images: Json, width: int, colours: Colours) -> Iterator[Text]:
    found = images["images"]
    if not found and not images["pulling"] and not images["waiting"]:
        return
    whole = sum(image["sizeBytes"] for image in found)
    yield from _title(f"images~  {len(found)} kept, {whole / MIB:,.0f} MiB")
    for pull in images["pulling"]:
        yield Text(f"{WAITING} {pull_text(pull)}  {pull['secondsLeft']:.1f} s left", colours.get("warning", ""))
    for pull in images["waiting"]:
        yield Text(
            f"{WAITING} {pull['image']} waits for its turn, {pull['waitedSeconds']:.1f} s", colours.get("warning", "")
        )
    for image in found[:MOST_IMAGES]:
        name = image["names"][0].removeprefix("docker.io/library/") if image["names"] else image["id"][:20]
        size = f"{image['sizeBytes'] / MIB:,.1f} MiB".rjust(12)
        yield Text(f"{DONE} {fit_middle(name, max(10, width - 16)).ljust(max(10, width - 16))}").append(size, "dim")
    if len(found) > MOST_IMAGES:
        yield Text(f"and {len(found) - MOST_IMAGES} more", "dim")
