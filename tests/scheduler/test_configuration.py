"""KubeSchedulerConfiguration files: what they change, and what is said of those that are wrong."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

from engine.clock import VirtualClock
from engine.rng import Rng
from engine.scheduler.cache.snapshot import Snapshot
from engine.scheduler.configuration import SchedulerConfiguration
from engine.scheduler.configuration.fields import ConfigurationError
from engine.scheduler.configuration.loading import load, load_file
from engine.scheduler.framework.handle import Handle
from engine.scheduler.framework.plugin import POINTS
from engine.scheduler.framework.profile import Profile
from engine.scheduler.framework.runtime import Framework
from engine.scheduler.plugins.registry import REGISTRY
from engine.scheduler.queue.nominator import Nominator
from tests.scheduler.harness import Objects

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def configured(text: str) -> SchedulerConfiguration:
    return load(HEAD + dedent(text))


def profile(plugins: str) -> Profile:
    """The only profile of a configuration with these `plugins`."""
    (found,) = configured("profiles:\n- plugins:\n" + indent(dedent(plugins), "    ")).profiles
    return found


def built(found: Profile) -> Framework:
    handle = Handle(
        clock=VirtualClock(),
        rng=Rng(1),
        snapshot=Snapshot(),
        nominator=Nominator(),
        lister=lambda resource: Objects([]),
    )
    return Framework(found, REGISTRY, handle)


def at(found: Profile, point: str) -> list[str]:
    return [plugin.name for plugin in found.plugins if plugin.serves(point)]


def test_an_empty_configuration_is_the_default_profile() -> None:
    found, default = configured(""), SchedulerConfiguration()
    (only,) = found.profiles
    assert only.scheduler_name == "default-scheduler"
    assert (found.initial_backoff, found.max_backoff, found.extenders) == (1.0, 10.0, ())
    by_file, by_default = built(only), built(default.profiles[0])
    for point in POINTS:
        field = "".join(f"_{c.lower()}" if c.isupper() else c for c in point).lstrip("_")
        names = [[plugin.name for plugin in getattr(framework, field)] for framework in (by_file, by_default)]
        assert names[0] == names[1], point
    assert by_file.weights == {name: by_default.weights[name] for name in by_file.weights}


def test_several_profiles_with_shares_of_their_own() -> None:
    found = configured("""
        percentageOfNodesToScore: 30
        podInitialBackoffSeconds: 2
        podMaxBackoffSeconds: 20
        profiles:
        - schedulerName: default-scheduler
        - schedulerName: packer
          percentageOfNodesToScore: 100
          pluginConfig:
          - name: NodeResourcesFit
            args:
              scoringStrategy:
                type: MostAllocated
                resources: [{name: cpu, weight: 5}, {name: memory}]
        """)
    assert [(p.scheduler_name, p.percentage_of_nodes_to_score) for p in found.profiles] == [
        ("default-scheduler", 30), ("packer", 100),
    ]  # fmt: skip
    assert (found.initial_backoff, found.max_backoff) == (2.0, 20.0)
    assert found.profiles[1].plugin_args["NodeResourcesFit"]["scoringStrategy"] == {
        "type": "MostAllocated",
        "resources": [{"name": "cpu", "weight": 5}, {"name": "memory", "weight": 1}],
    }


@pytest.mark.parametrize(
    ("plugins", "point", "names"),
    [
        (
            "score: {disabled: [{name: '*'}], enabled: [{name: ImageLocality, weight: 7}]}",
            "Score",
            ["ImageLocality"],
        ),
        (
            "multiPoint: {disabled: [{name: '*'}], "
            "enabled: [{name: PrioritySort}, {name: DefaultBinder}, {name: NodeName}]}",
            "Filter",
            ["NodeName"],
        ),
        (
            "filter: {disabled: [{name: NodePorts}, {name: NodeName}]}",
            "Filter",
            [
                "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodeResourcesFit", "VolumeRestrictions",
                "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity",
                "DynamicResources", "NodeDeclaredFeatures",
            ],
        ),
        # What a point names again comes first there, in the order of the point.
        (
            "score: {enabled: [{name: ImageLocality}, {name: TaintToleration}]}",
            "Score",
            [
                "ImageLocality", "TaintToleration", "NodeAffinity", "NodeResourcesFit", "VolumeBinding",
                "PodTopologySpread", "InterPodAffinity", "DynamicResources", "NodeResourcesBalancedAllocation",
            ],
        ),
        # multiPoint names again: the plugin stays in its place.
        (
            "multiPoint: {enabled: [{name: NodeName}]}",
            "PreFilter",
            [
                "NodeAffinity", "NodePorts", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone",
                "PodTopologySpread", "InterPodAffinity", "DynamicResources", "NodeDeclaredFeatures",
            ],
        ),
        ("postFilter: {disabled: [{name: DefaultPreemption}]}", "PostFilter", ["DynamicResources"]),
    ],
    ids=["only one score", "only three", "without some", "named first", "named again", "no preemption"],
)  # fmt: skip
def test_which_plugins_serve_where(plugins: str, point: str, names: list[str]) -> None:
    assert at(profile(plugins), point) == names


def test_the_weight_at_score_counts_before_that_of_multi_point() -> None:
    found = built(
        profile("""
            multiPoint: {enabled: [{name: NodeAffinity, weight: 9}, {name: TaintToleration, weight: 8}]}
            score: {enabled: [{name: NodeAffinity, weight: 4}]}
            """)
    )
    assert (found.weights["NodeAffinity"], found.weights["TaintToleration"], found.weights["ImageLocality"]) == (
        4,
        8,
        1,
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("parralelism: 1", 'strict decoding error: unknown field "parralelism"'),
        ("profiles: [{plugins: {filtre: {}}}]", 'strict decoding error: unknown field "profiles[0].plugins.filtre"'),
        (
            "profiles: [{pluginConfig: [{name: NodeAffinity, args: {added: 1}}]}]",
            'strict decoding error: unknown field "profiles[0].pluginConfig[0].args.added"',
        ),
        ("parallelism: many", "parallelism: json: cannot unmarshal string into a field of type int"),
        ("parallelism: 0", "parallelism: Invalid value: 0: should be an integer value greater than zero"),
        (
            "percentageOfNodesToScore: 101",
            "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]",
        ),
        (
            "podInitialBackoffSeconds: 5\npodMaxBackoffSeconds: 3",
            "podMaxBackoffSeconds: Invalid value: 3: must be greater than or equal to PodInitialBackoffSeconds",
        ),
        ("profiles: [{schedulerName: a}, {}]", "profiles[1].schedulerName: Required value"),
        (
            "profiles: [{schedulerName: a}, {schedulerName: a}]",
            'profiles[1].schedulerName: Duplicate value: "profiles[0].schedulerName"',
        ),
        (
            "profiles: [{plugins: {filter: {enabled: [{name: EBSLimits}]}}}]",
            'profiles[0].plugins.filter.enabled[0]: Invalid value: "EBSLimits": was invalid in version '
            '"kubescheduler.config.k8s.io/v1" (KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")',
        ),
        ("profiles: [{plugins: {filter: {enabled: [{name: Mine}]}}}]", 'FilterPlugin "Mine" does not exist'),
        (
            "profiles: [{plugins: {filter: {enabled: [{name: ImageLocality}]}}}]",
            'plugin "ImageLocality" does not extend FilterPlugin plugin',
        ),
        (
            "profiles: [{plugins: {filter: {enabled: [{name: NodeName}, {name: NodeName}]}}}]",
            'plugin "NodeName" already registered as "FilterPlugin"',
        ),
        (
            "profiles: [{plugins: {bind: {disabled: [{name: '*'}]}}}]",
            'at least one bind plugin is needed for profile with scheduler name "default-scheduler"',
        ),
        (
            "profiles: [{plugins: {queueSort: {disabled: [{name: '*'}]}}}]",
            'only one queue sort plugin required for profile with scheduler name "default-scheduler", but got 0',
        ),
        (
            "profiles: [{pluginConfig: [{name: NodeAffinity, args: {kind: PodArgs}}]}]",
            "decoding .profiles[0].pluginConfig[0]: args for plugin NodeAffinity were not of type "
            "NodeAffinityArgs.kubescheduler.config.k8s.io, got PodArgs.kubescheduler.config.k8s.io",
        ),
        (
            "profiles: [{pluginConfig: [{name: A}, {name: A}]}]",
            'profiles[0].pluginConfig[1]: Duplicate value: "A"',
        ),
        (
            "extenders: [{bindVerb: b}, {bindVerb: b}]",
            'extenders: Invalid value: "found 2 extenders implementing bind": only one extender can implement bind',
        ),
        (
            "extenders: [{prioritizeVerb: p}]",
            "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it",
        ),
        (
            "extenders: [{managedResources: [{name: cpu}]}]",
            'extenders[0].managedResources[0].name: Invalid value: "cpu": is an invalid extended resource name',
        ),
        ("extenders: [{httpTimeout: soon}]", 'extenders[0].httpTimeout: time: invalid duration "soon"'),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        configured(text)
    assert str(caught.value) == message


ARGS = "profiles[0].pluginConfig[0].args"


@pytest.mark.parametrize(
    ("plugin", "args", "problems"),
    [
        ("DefaultPreemption", "{minCandidateNodesPercentage: 101}",
         [f"{ARGS}.minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, 100]"]),
        ("DefaultPreemption", "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}", [
            f"{ARGS}.minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as "
            "minCandidateNodesAbsolute",
            f"{ARGS}.minCandidateNodesAbsolute: Invalid value: 0: cannot be zero at the same time as "
            "minCandidateNodesPercentage",
        ]),
        ("InterPodAffinity", "{hardPodAffinityWeight: 101}",
         [f"{ARGS}.hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]"]),
        ("NodeAffinity",
         "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
         "[{matchExpressions: [{key: a, operator: Like}]}]}}}",
         [f"{ARGS}.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
          'matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator']),
        ("NodeResourcesFit", "{scoringStrategy: {type: Best}}",
         [f'{ARGS}.scoringStrategy.type: Unsupported value: "Best": supported values: "LeastAllocated", '
          '"MostAllocated", "RequestedToCapacityRatio"']),
        ("NodeResourcesFit", "{scoringStrategy: {type: RequestedToCapacityRatio}}",
         [f"{ARGS}.scoringStrategy.requestedToCapacityRatio: Required value: must be specified when type is "
          "RequestedToCapacityRatio"]),
        ("NodeResourcesFit", "{ignoredResourceGroups: [a/b]}",
         [f'{ARGS}.ignoredResourceGroups[0]: Invalid value: "a/b": resource group name can\'t contain \'/\'']),
        ("NodeResourcesFit",
         "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: "
         "[{utilization: 50, score: 0}, {utilization: 50, score: 11}]}}}",
         [f"{ARGS}.scoringStrategy.requestedToCapacityRatio.shape[1].utilization: Invalid value: 50: values must be "
          "sorted in increasing order",
          f"{ARGS}.scoringStrategy.requestedToCapacityRatio.shape[1].score: Invalid value: 11: not in valid range "
          "[0, 10]"]),
        ("NodeResourcesBalancedAllocation", "{resources: [{name: cpu, weight: 2}, {name: cpu}]}",
         [f"{ARGS}.resources[0].weight: Invalid value: 2: must be 1",
          f'{ARGS}.resources[1].name: Duplicate value: "cpu"']),
        ("PodTopologySpread", "{defaultConstraints: [{maxSkew: 0, topologyKey: zone, whenUnsatisfiable: Never}]}",
         [f'{ARGS}.defaultingType: Invalid value: "System": when .defaultConstraints are not empty',
          f"{ARGS}.defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf)",
          f'{ARGS}.defaultConstraints[0].whenUnsatisfiable: Unsupported value: "Never": supported values: '
          '"DoNotSchedule", "ScheduleAnyway"']),
        ("VolumeBinding", "{bindTimeoutSeconds: -1}",
         [f"{ARGS}.bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value"]),
        ("VolumeBinding", "{shape: [{utilization: 50, score: 0}, {utilization: 50, score: 1}]}",
         [f"{ARGS}.shape[1].utilization: Invalid value: 50: values must be sorted in increasing order"]),
        ("VolumeBinding", "{shape: [{utilization: 0, score: -1}]}",
         [f"{ARGS}.shape[0].score: Invalid value: -1: not in valid range [0, 10]"]),
        ("DynamicResources", "{filterTimeout: -1s, bindingTimeout: 500ms}",
         [f"{ARGS}.filterTimeout: Invalid value: -1s: must be zero or positive",
          f"{ARGS}.bindingTimeout: Invalid value: 500ms: must be at least 1 second"]),
    ],
)  # fmt: skip
def test_the_rules_of_plugin_arguments(plugin: str, args: str, problems: list[str]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        configured(f"profiles: [{{pluginConfig: [{{name: {plugin}, args: {args}}}]}}]")
    assert str(caught.value).splitlines() == problems


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind: KubeSchedulerConfiguration", "Object 'apiVersion' is missing"),
        (
            "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration",
            'no kind "KubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/v1beta3"',
        ),
        ("[]", "the file is no KubeSchedulerConfiguration"),
        ("a: [", "couldn't get version/kind: "),
    ],
    ids=["no version", "old version", "no object", "no yaml"],
)
def test_a_file_that_is_something_else(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "scheduler.yaml"
    file.write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        load_file(file)
    assert str(caught.value).startswith(f"{file}: {message}")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"missing.yaml: no such file or directory$"):
        load_file(tmp_path / "missing.yaml")


def test_what_has_no_effect_is_noted() -> None:
    found = configured("parallelism: 4\nleaderElection: {leaderElect: false}")
    assert found.notes == (
        "parallelism has no effect: nodes are looked at all at once",
        "leaderElection has no effect: there is one scheduler",
    )


def test_resources_that_an_extender_looks_after_are_not_for_the_fit_plugin() -> None:
    found = configured("""
        extenders:
        - urlPrefix: http://localhost:1/scheduler
          filterVerb: filter
          httpTimeout: 1m30s
          managedResources: [{name: example.com/gpu, ignoredByScheduler: true}, {name: example.com/nic}]
        """)
    (extender,) = found.extenders
    assert extender.timeout == 90.0
    assert sorted(extender.managed_resources) == ["example.com/gpu", "example.com/nic"]
    assert found.profiles[0].plugin_args["NodeResourcesFit"]["ignoredResources"] == ["example.com/gpu"]
