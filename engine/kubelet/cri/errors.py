"""Failures of the runtime: gRPC statuses, printed as the kubelet prints them."""

from __future__ import annotations


class CriError(Exception):
    """`code` is gRPC's name (`NotFound`, `Unknown`, `DeadlineExceeded`), `message` what stands behind `desc =`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return f"rpc error: code = {self.code} desc = {self.message}"
