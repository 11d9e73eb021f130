"""`set` and its subcommands."""

from __future__ import annotations

from engine.kubectl.command import Command
from engine.kubectl.verbs.setting.environment import ENV
from engine.kubectl.verbs.setting.image import IMAGE
from engine.kubectl.verbs.setting.resources import RESOURCES, SERVICE_ACCOUNT
from engine.kubectl.verbs.setting.selector import SELECTOR, SUBJECT

COMMAND = Command(
    name="set",
    short="Set specific features on objects",
    usage="SUBCOMMAND",
    children=(ENV, IMAGE, RESOURCES, SELECTOR, SERVICE_ACCOUNT, SUBJECT),
)
