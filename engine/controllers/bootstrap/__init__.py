"""The controllers of bootstrap tokens (pkg/controller/bootstrap), which kubeadm turns on."""

from engine.controllers.bootstrap.signer import BootstrapSigner
from engine.controllers.bootstrap.token_cleaner import TokenCleaner

__all__ = ["BootstrapSigner", "TokenCleaner"]
