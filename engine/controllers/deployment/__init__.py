"""The Deployment controller: rolls ReplicaSets of a template's revisions over one another."""

from engine.controllers.deployment.controller import DeploymentController

__all__ = ["DeploymentController"]
