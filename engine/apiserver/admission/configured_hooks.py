"""What files configure of webhooks and policies, read: whom webhooks are asked as, and what stands in folders."""

from __future__ import annotations

from engine.api.resources import ResourceRegistry
from engine.api.schema import Definitions, load_definitions
from engine.apiserver.admission.attributes import Plugin
from engine.apiserver.admission.configuration import AdmissionConfiguration, AdmissionConfigurationError
from engine.apiserver.admission.hook_files import HookFiles
from engine.apiserver.admission.manifests.files import ManifestError
from engine.apiserver.admission.manifests.metrics import ManifestMetrics
from engine.apiserver.admission.manifests.source import Manifests, Reading
from engine.apiserver.admission.metrics import AdmissionMetrics
from engine.apiserver.admission.optional import ImagePolicyWebhook
from engine.apiserver.image_reviews import ImageReviews
from engine.apiserver.webhook_credentials import Credentials, CredentialsError
from engine.clock import Clock, VirtualClock
from engine.rng import Rng


def check_hooks(configuration: AdmissionConfiguration, version: str) -> None:
    """Raises AdmissionConfigurationError for files with which a server of this version would not start."""
    image_policy_plugins(configuration, VirtualClock(), Rng(0))
    if configuration.hooks:
        definitions, resources = load_definitions(version), ResourceRegistry.for_version(version)
        configured = ConfiguredHooks(configuration, definitions, resources, AdmissionMetrics(), VirtualClock(), "")
        for plugin in configuration.hooks:
            configured.credentials(plugin)
            configured.manifests(plugin)


def image_policy_plugins(configuration: AdmissionConfiguration, clock: Clock, chance: Rng) -> list[Plugin]:
    """ImagePolicyWebhook, where a file says what it asks. Raises AdmissionConfigurationError."""
    policy = configuration.image_policy
    if policy is None:
        return []
    try:
        reviews = ImageReviews(policy.kubeconfig, backoff=policy.backoff, chance=chance)
    except CredentialsError as error:
        told = f'couldn\'t init admission plugin "{ImagePolicyWebhook.name}": {error}'
        raise AdmissionConfigurationError(told) from error
    return [ImagePolicyWebhook(clock, policy, reviews)]


class ConfiguredHooks:
    """Both methods raise AdmissionConfigurationError for what a server would not start with."""

    def __init__(
        self,
        configuration: AdmissionConfiguration,
        definitions: Definitions,
        resources: ResourceRegistry,
        metrics: AdmissionMetrics,
        clock: Clock,
        identity: str,
    ) -> None:
        self._files = configuration.hooks
        self._reading: Reading | None = None
        if any(each.manifests is not None for each in self._files.values()):
            metrics.manifests = ManifestMetrics(clock, identity)
            self._reading = Reading(definitions, resources, metrics.manifests)

    def credentials(self, plugin: str) -> Credentials:
        try:
            return Credentials(self._of(plugin).credentials)
        except CredentialsError as error:
            raise AdmissionConfigurationError(f'couldn\'t init admission plugin "{plugin}": {error}') from error

    def manifests(self, plugin: str) -> Manifests | None:
        folder = self._of(plugin).manifests
        if folder is None or self._reading is None:
            return None
        try:
            return Manifests(plugin, folder, self._reading)
        except ManifestError as error:
            what = f'failed to load static manifests of {plugin} from "{folder}": {error}'
            raise AdmissionConfigurationError(what) from error

    def _of(self, plugin: str) -> HookFiles:
        return self._files.get(plugin, HookFiles())
