"""A conversion webhook as an author of custom resources would write it, with a certificate of its own."""

from __future__ import annotations

import json
import ssl
from base64 import b64encode
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Any

from engine.api.types import Object
from engine.pki import Authority


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        review = json.loads(self.rfile.read(int(self.headers["content-length"])))
        request = review["request"]
        target = request["desiredAPIVersion"]
        converted = [_converted(each, target) for each in request["objects"]]
        response = {"uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": converted}
        body = json.dumps(
            {"apiVersion": review["apiVersion"], "kind": "ConversionReview", "response": response}
        ).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _converted(obj: Object, target: str) -> Object:
    """v1 has `hostPort`, v2 `host` and `port`."""
    spec = obj["spec"]
    if target.endswith("/v2"):
        host, _, port = spec["hostPort"].partition(":")
        return {**obj, "apiVersion": target, "spec": {"host": host, "port": port}}
    return {**obj, "apiVersion": target, "spec": {"hostPort": f"{spec['host']}:{spec['port']}"}}


class ConversionWebhook:
    """Serves while it is entered."""

    def __init__(self, folder: Path) -> None:
        now = datetime.now(UTC)
        self._authority = Authority.create(now, "webhook")
        pair = self._authority.issue_server("localhost", ["localhost", "127.0.0.1"], now)
        pair.write(folder, "webhook")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "webhook.crt", folder / "webhook.key")
        self._server = HTTPServer(("127.0.0.1", 0), _Handler)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = Thread(target=self._server.serve_forever)

    def __enter__(self) -> ConversionWebhook:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def definition(self, group: str) -> Object:
        url = f"https://127.0.0.1:{self._server.server_port}/convert"
        bundle = b64encode(self._authority.pair.certificate).decode()
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"hosts.{group}"},
            "spec": {
                "group": group,
                "scope": "Cluster",
                "names": {"plural": "hosts", "kind": "Host"},
                "conversion": {
                    "strategy": "Webhook",
                    "webhook": {
                        "conversionReviewVersions": ["v1"],
                        "clientConfig": {"url": url, "caBundle": bundle},
                    },
                },
                "versions": [
                    _version("v1", ["hostPort"], storage=True),
                    _version("v2", ["host", "port"], storage=False),
                ],
            },
        }


def _version(name: str, fields: list[str], *, storage: bool) -> Object:
    spec = {"type": "object", "properties": {field: {"type": "string"} for field in fields}}
    schema = {"type": "object", "properties": {"spec": spec}}
    return {"name": name, "served": True, "storage": storage, "schema": {"openAPIV3Schema": schema}}
