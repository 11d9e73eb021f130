"""The order of a subset's ports, and of subsets: the MD5 of how Go prints them (pkg/api/v1/endpoints/util.go).

What Go prints is spew's dump with types (`dump.ForHash`). A port says the same everywhere, so its place is too; a
subset has uids in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import md5

from engine.api.types import Object


def port_order(port: Object) -> bytes:
    return _digest(f"(v1.EndpointPort){_port(port)}")


def subset_order(subset: Object) -> bytes:
    lists = (
        f"Addresses:{_list('EndpointAddress', map(_address, subset.get('addresses') or ()))}",
        f"NotReadyAddresses:{_list('EndpointAddress', map(_address, subset.get('notReadyAddresses') or ()))}",
        f"Ports:{_list('EndpointPort', map(_port, subset.get('ports') or ()))}",
    )
    return _digest(f"(v1.EndpointSubset){{{' '.join(lists)}}}")


def _digest(text: str) -> bytes:
    return md5(text.encode(), usedforsecurity=False).digest()


def _list(of: str, items: Iterable[str]) -> str:
    listed = " ".join(items)
    return f"([]v1.{of})[{listed}]" if listed else f"([]v1.{of})<nil>"


def _port(port: Object) -> str:
    protocol = port.get("appProtocol", "<nil>")
    said = f"Name:(string){port.get('name', '')} Port:(int32){port['port']} Protocol:(v1.Protocol){port['protocol']}"
    return f"{{{said} AppProtocol:(*string){protocol}}}"


def _address(address: Object) -> str:
    target = address.get("targetRef")
    reference = "<nil>" if target is None else _reference(target)
    said = f"IP:(string){address['ip']} Hostname:(string){address.get('hostname', '')}"
    node = address.get("nodeName", "<nil>")
    return f"{{{said} NodeName:(*string){node} TargetRef:(*v1.ObjectReference){reference}}}"


def _reference(target: Object) -> str:
    fields = (
        ("Kind", "string", "kind"),
        ("Namespace", "string", "namespace"),
        ("Name", "string", "name"),
        ("UID", "types.UID", "uid"),
        ("APIVersion", "string", "apiVersion"),
        ("ResourceVersion", "string", "resourceVersion"),
        ("FieldPath", "string", "fieldPath"),
    )
    return f"{{{' '.join(f'{name}:({kind}){target.get(key, str())}' for name, kind, key in fields)}}}"
