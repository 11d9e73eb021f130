"""What one command works with: its flags and arguments, the client, the streams, and the requests that it makes.

Every request passes through here, so that the server's warnings reach stderr and the hop's span names the object.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TextIO

from engine.api.golang.boolean import parse_bool
from engine.api.types import Object
from engine.api.wire import Response
from engine.client import Client
from engine.client.client import Watch, error_of
from engine.client.kubeconfig import KubeConfig
from engine.clock import Clock
from engine.kubectl import klog, undiscovered
from engine.kubectl.discovery import Discovery, Resource
from engine.kubectl.errors import Aggregate, CommandError, NamespaceError
from engine.kubectl.flags import Flags
from engine.kubectl.undiscovered import UndiscoveredError
from engine.trace import current_span

TABLE = (
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
)


@dataclass(slots=True)
class Session:
    """One run of one command. `program` is what it calls itself, `path` the full command (`kubectl get`)."""

    client: Client
    flags: Flags
    arguments: list[str]
    dash: int  # how many arguments stood before `--`; -1 without one
    program: str
    path: str
    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
    clock: Clock
    namespace: str
    namespace_given: bool
    discovery: Discovery
    environment: Mapping[str, str]
    kubeconfig: KubeConfig | None = None
    server: str = ""
    warnings: dict[str, None] = field(default_factory=dict)
    told_of_dry_run: bool = False

    # -- speaking

    def out(self, text: str = "") -> None:
        """A line of the result."""
        self.stdout.write(f"{text}\n")

    def err(self, text: str) -> None:
        """A line for the person that is no result."""
        self.stderr.write(f"{text}\n")

    def warn(self, place: str, text: str) -> None:
        """A line as klog heads its warnings; `place` is where upstream writes it."""
        self._klog("W", place, text)

    def log(self, place: str, text: str, *, level: int = 0) -> None:
        """A line as klog heads what is for information only, told from a level of `-v` on."""
        if self.flags.number("v") >= level:
            self._klog("I", place, text)

    def tell_undiscovered(self, error: UndiscoveredError, times: int) -> None:
        """That no server said what it knows, as often as kubectl would have asked."""
        for _ in range(times):
            self._klog("E", undiscovered.PLACE, undiscovered.line(error))

    def _klog(self, severity: str, place: str, text: str) -> None:
        self.err(klog.line(severity, self.now, place, text))

    @property
    def now(self) -> datetime:
        return self.clock.now()

    @property
    def verb(self) -> str:
        return self.path.split(" ", 1)[-1]

    # -- what several commands ask of their flags

    @property
    def all_namespaces(self) -> bool:
        return self.flags.on("all-namespaces")

    @property
    def from_files(self) -> bool:
        """Whether the objects come from files or from a kustomization (-f, -k)."""
        return bool(self.flags.many("filename")) or ("kustomize" in self.flags and bool(self.flags.text("kustomize")))

    def dry_run(self) -> str:
        """`none`, `client` or `server`. Raises CommandError for another word."""
        value = self.flags.text("dry-run") if "dry-run" in self.flags else "none"
        if value in ("none", "client", "server"):
            return value
        if value == "unchanged":
            self._tell_of_dry_run(
                "helpers.go:714", "--dry-run is deprecated and can be replaced with --dry-run=client."
            )
            return "client"
        try:
            place, meant = ("helpers.go:728", "client") if parse_bool(value) else ("helpers.go:731", "none")
        except ValueError:
            text = f'Invalid dry-run value ({value}). Must be "none", "server", or "client".'
            raise CommandError(text) from None
        instead = f"can be replaced with --dry-run={meant}."
        self._tell_of_dry_run(place, f"--dry-run={value} is deprecated (boolean value) and {instead}")
        return meant

    def _tell_of_dry_run(self, place: str, text: str) -> None:
        """Of an old way to say it, once."""
        if not self.told_of_dry_run:
            self.warn(place, text)
        self.told_of_dry_run = True

    def field_validation(self) -> str:
        """The server's word for `--validate`. Raises CommandError for one that is none."""
        value = self.flags.text("validate") if "validate" in self.flags else "strict"
        words = {"strict": "Strict", "true": "Strict", "warn": "Warn", "ignore": "Ignore", "false": "Ignore"}
        if value.lower() not in words:
            raise CommandError(
                f'invalid - validate option "{value}"; must be one of: strict (or true), warn, ignore (or false)'
            )
        return words[value.lower()]

    # -- asking

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """The JSON value of an answer. Raises ApiError or ConnectionError."""
        response = await self.send(method, path, query=query, body=body, headers=headers)
        return response.body

    async def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """One request whose failure is raised. Empty query values are left out."""
        response = await self.client.send(
            method, path, query=_query(query or {}), body=body, headers=dict(headers or {})
        )
        self._warn(response)
        if response.status >= 400:
            raise error_of(response)
        return response

    def _warn(self, response: Response) -> None:
        """Each distinct Warning header once, as kubectl's writer shows them."""
        for text in _warnings(response.headers.get("warning", "")):
            if text not in self.warnings:
                self.warnings[text] = None
                self.err(f"Warning: {text}")

    async def resolve(self, word: str) -> Resource:
        """The resource that a word names; says so where a short name could mean another one too."""
        resource = await self.discovery.resolve(self.client, word)
        for other in self.discovery.also_named(word, resource):
            text = f'short name "{word}" could also match lower priority resource {other.gvr.group_resource}'
            if text not in self.warnings:
                self.warnings[text] = None
                self.err(f"Warning: {text}")
        return resource

    async def get(self, resource: Resource, name: str, namespace: str = "", *, subresource: str = "") -> Object:
        body: Object = await self.request("GET", self.path_of(resource, namespace, name, subresource))
        return body

    async def list(self, resource: Resource, namespace: str = "", **query: Any) -> list[Object]:
        """All objects of a resource; each is given the kind and version that a list leaves out."""
        body = await self.request("GET", self.path_of_list(resource, namespace), query=query)
        typed = {"apiVersion": resource.gvr.api_version, "kind": resource.kind}
        return [{**typed, **item} for item in body.get("items") or ()]

    async def create(self, resource: Resource, namespace: str, obj: Object, **query: Any) -> Object:
        """What is made anew has no version yet: that of a dump is left out (cli-runtime's Helper.Create)."""
        metadata = {key: value for key, value in (obj.get("metadata") or {}).items() if key != "resourceVersion"}
        path = self.path_of(resource, namespace)
        body: Object = await self.request("POST", path, query=query, body={**obj, "metadata": metadata})
        return body

    async def patch(
        self,
        resource: Resource,
        name: str,
        namespace: str,
        patch: Any,
        content_type: str,
        *,
        subresource: str = "",
        **query: Any,
    ) -> Object:
        body: Object = await self.request(
            "PATCH",
            self.path_of(resource, namespace, name, subresource),
            query=query,
            body=patch,
            headers={"content-type": content_type},
        )
        return body

    async def watch(self, resource: Resource, namespace: str = "", *, accept: str = "", **query: Any) -> Watch:
        """Open a watch. Raises ApiError."""
        headers = {"accept": accept} if accept else {}
        path = self.path_of(resource, namespace)
        response = await self.send("GET", path, query={"watch": True, **query}, headers=headers)
        if response.events is None:
            raise ConnectionError(f"the server answered a watch of {resource.plural} without a stream")
        return Watch(response.events)

    def path_of(self, resource: Resource, namespace: str = "", name: str | None = None, subresource: str = "") -> str:
        """Of a collection without a name. Raises CommandError for an object that has none: it is not all of them."""
        if name == "":
            raise CommandError("resource name may not be empty")
        if name and (problem := _path_problem(name)):
            raise CommandError(f'invalid resource name "{name}": [{problem}]')
        if resource.namespaced and (problem := _path_problem(namespace)):
            raise NamespaceError(f'invalid namespace "{namespace}": [{problem}]')
        return resource.gvr.path(namespace if resource.namespaced else None, name, subresource or None)

    def path_of_list(self, resource: Resource, namespace: str = "") -> str:
        """Of a collection that is listed. What is no namespace is one failure among others there. Raises Aggregate."""
        try:
            return self.path_of(resource, namespace)
        except NamespaceError as error:
            raise Aggregate([error]) from error

    def working_on(self, resource: Resource, name: str, namespace: str) -> None:
        """Name the object in the span of this hop (the first one that a command touches)."""
        span = current_span()
        if span is not None and not span.object:
            parts = (resource.one, namespace if resource.namespaced else "", name)
            span.object = "/".join(part for part in parts if part)

    def environ(self, name: str, default: str = "") -> str:
        return self.environment.get(name, default) or default


def _path_problem(segment: str) -> str:
    """Why a name cannot be a part of a path; "" for one that can (apimachinery api/validation/path)."""
    if segment in (".", ".."):
        return f"may not be '{segment}'"
    return ", ".join(f"may not contain '{character}'" for character in "/%" if character in segment)


def _query(parameters: Mapping[str, Any]) -> dict[str, list[str]]:
    query: dict[str, list[str]] = {}
    for name, value in parameters.items():
        if value is None or value is False or value == "":
            continue
        if isinstance(value, list | tuple):
            query[name] = [str(item) for item in value]
        else:
            query[name] = ["true" if value is True else str(value)]
    return query


def _warnings(header: str) -> list[str]:
    """The texts of a Warning header (RFC 7234): `299 - "text", 299 - "text"`."""
    texts: list[str] = []
    position = 0
    while (start := header.find('"', position)) >= 0:
        text, position = "", start + 1
        while position < len(header) and header[position] != '"':
            if header[position] == "\\":
                position += 1
            text += header[position]
            position += 1
        position += 1
        texts.append(text)
    return texts
