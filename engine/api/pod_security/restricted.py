"""The checks that the restricted level adds (pod-security-admission policy/check_*.go)."""

from __future__ import annotations

from engine.api.pod_security.checks import Finding, containers, context, is_windows, named, quoted
from engine.api.types import Object

_VOLUMES = frozenset(
    (
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "image",
        "persistentVolumeClaim",
        "projected",
        "secret",
    )
)
_WINDOWS_SINCE = 25  # from here on what is Linux' own is not asked of a Pod for Windows
_SECCOMP = ("RuntimeDefault", "Localhost")


def privilege_escalation(metadata: Object, spec: Object, *, minor: int) -> Finding | None:
    if minor >= _WINDOWS_SINCE and is_windows(spec):
        return None
    guilty = [c["name"] for c in containers(spec) if context(c).get("allowPrivilegeEscalation") is not False]
    if not guilty:
        return None
    return Finding(
        "allowPrivilegeEscalation != false",
        f"{named('container', guilty)} must set securityContext.allowPrivilegeEscalation=false",
    )


def capabilities(metadata: Object, spec: Object, *, minor: int) -> Finding | None:
    if minor >= _WINDOWS_SINCE and is_windows(spec):
        return None
    keeping, adding, added = [], [], dict[str, None]()
    for container in containers(spec):
        given = context(container).get("capabilities") or {}
        if "ALL" not in (given.get("drop") or ()):
            keeping.append(container["name"])
        bad = [name for name in given.get("add") or () if name != "NET_BIND_SERVICE"]
        if bad:
            adding.append(container["name"])
            added |= dict.fromkeys(bad)
    details = []
    if keeping:
        details.append(f'{named("container", keeping)} must set securityContext.capabilities.drop=["ALL"]')
    if adding:
        words = quoted(sorted(added))
        details.append(f"{named('container', adding)} must not include {words} in securityContext.capabilities.add")
    return Finding("unrestricted capabilities", "; ".join(details)) if details else None


def volume_types(metadata: Object, spec: Object) -> Finding | None:
    names, kinds = [], dict[str, None]()
    for volume in spec.get("volumes") or ():
        kind = next((key for key in volume if key != "name"), "unknown")
        if kind not in _VOLUMES:
            names.append(volume["name"])
            kinds[kind] = None
    if not names:
        return None
    uses = "uses" if len(names) == 1 else "use"
    types = "volume type" if len(kinds) == 1 else "volume types"
    return Finding(
        "restricted volume types", f"{named('volume', names)} {uses} restricted {types} {quoted(sorted(kinds))}"
    )


def run_as_non_root(metadata: Object, spec: Object) -> Finding | None:
    pod = context(spec).get("runAsNonRoot")
    bad = [c["name"] for c in containers(spec) if context(c).get("runAsNonRoot") is False]
    unset = [c["name"] for c in containers(spec) if context(c).get("runAsNonRoot") is None]
    setters = (["pod"] if pod is False else []) + ([named("container", bad)] if bad else [])
    if setters:
        return Finding(
            "runAsNonRoot != true", f"{' and '.join(setters)} must not set securityContext.runAsNonRoot=false"
        )
    if unset and pod is not True:
        return Finding(
            "runAsNonRoot != true", f"pod or {named('container', unset)} must set securityContext.runAsNonRoot=true"
        )
    return None


def run_as_user(metadata: Object, spec: Object) -> Finding | None:
    setters = ["pod"] if context(spec).get("runAsUser") == 0 else []
    guilty = [c["name"] for c in containers(spec) if context(c).get("runAsUser") == 0]
    if guilty:
        setters.append(named("container", guilty))
    return Finding("runAsUser=0", f"{' and '.join(setters)} must not set runAsUser=0") if setters else None


def seccomp_profile(metadata: Object, spec: Object, *, minor: int) -> Finding | None:
    if minor >= _WINDOWS_SINCE and is_windows(spec):
        return None
    pod = (context(spec).get("seccompProfile") or {}).get("type")
    setters, types, unset, guilty = [], dict[str, None](), [], []
    if pod is not None and pod not in _SECCOMP:
        setters.append("pod")
        types[pod] = None
    for container in containers(spec):
        kind = (context(container).get("seccompProfile") or {}).get("type")
        if kind is None:
            unset.append(container["name"])
        elif kind not in _SECCOMP:
            guilty.append(container["name"])
            types[kind] = None
    if guilty:
        setters.append(named("container", guilty))
    if setters:
        words = quoted(sorted(types))
        return Finding(
            "seccompProfile", f"{' and '.join(setters)} must not set securityContext.seccompProfile.type to {words}"
        )
    if unset and pod is None:
        return Finding(
            "seccompProfile",
            f'pod or {named("container", unset)} must set securityContext.seccompProfile.type to "RuntimeDefault" or '
            '"Localhost"',
        )
    return None
