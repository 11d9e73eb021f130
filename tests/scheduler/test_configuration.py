"""KubeSchedulerConfiguration files: what they change, and what is said of those that are wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from textwrap import dedent, indent

import pytest

from engine.clock import VirtualClock
from engine.rng import Rng
from engine.scheduler.cache.snapshot import Snapshot
from engine.scheduler.configuration import SchedulerConfiguration
from engine.scheduler.configuration.encoding import encode
from engine.scheduler.configuration.fields import ConfigurationError
from engine.scheduler.configuration.loading import load, load_file
from engine.scheduler.framework.handle import Handle
from engine.scheduler.framework.plugin import POINTS
from engine.scheduler.framework.profile import EnabledPlugin, Profile
from engine.scheduler.framework.runtime import Framework
from engine.scheduler.plugins.registry import REGISTRY
from engine.scheduler.queue.nominator import Nominator
from tests.scheduler.harness import Objects

MAKING = "initializing profiles: creating profile for scheduler name default-scheduler: "
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
            "strict decoding error: decoding .profiles[0].pluginConfig[0]: strict decoding error: decoding args for "
            'plugin NodeAffinity: strict decoding error: unknown field "added"',
        ),
        (
            "zoom: 1\nprofiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {resources: "
            "[{Name: cpu, Weight: 1}]}}}]}]\nzoom: 2",
            'strict decoding error: yaml: unmarshal errors:\n  line 5: key "zoom" already set in map, '
            'unknown field "zoom", decoding .profiles[0].pluginConfig[0]: strict decoding error: decoding args for '
            'plugin NodeResourcesFit: strict decoding error: unknown field "scoringStrategy.resources[0].Name", '
            'unknown field "scoringStrategy.resources[0].Weight"',
        ),
        (
            "profiles: [{pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: x}}]}]",
            "decoding .profiles[0].pluginConfig[0]: decoding args for plugin InterPodAffinity: json: cannot unmarshal "
            "string into Go struct field InterPodAffinityArgs.hardPodAffinityWeight of type int32",
        ),
        (
            "profiles: [{pluginConfig: [{name: InterPodAffinity, args: [1]}]}]",
            "decoding .profiles[0].pluginConfig[0]: decoding args for plugin InterPodAffinity: couldn't get "
            "version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion "
            'string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
        ),
        (
            "profiles: [{plugins: {score: {enabled: [{name: NodeAffinity, weight: 1.5}]}}}]",
            "json: cannot unmarshal number 1.5 into Go struct field Plugin.profiles.plugins.score.enabled.weight of "
            "type int32",
        ),
        (
            "profiles: {a: 1}",
            "json: cannot unmarshal object into Go struct field KubeSchedulerConfiguration.profiles of type "
            "[]v1.KubeSchedulerProfile",
        ),
        ("clientConnection: {burst: -1}", "clientConnection.burst: Invalid value: -1: must be non-negative"),
        (
            "leaderElection: {leaseDuration: 5s, resourceLock: configmaps}",
            "[leaderElection.leaseDuration: Invalid value: 10s: must be greater than `RenewDeadline`, "
            'leaderElection.resourceLock: Invalid value: "configmaps": resourceLock value must be "leases"]',
        ),
        (
            "leaderElection: {retryPeriod: -2s}",
            "leaderElection.retryPeriod: Invalid value: -2s: must be greater than zero",
        ),
        (
            "parallelism: many",
            "json: cannot unmarshal string into Go struct field KubeSchedulerConfiguration.parallelism of type int32",
        ),
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
            "profiles[1].schedulerName: Duplicate value: profiles[0].schedulerName",
        ),
        (
            "profiles: [{plugins: {filter: {enabled: [{name: EBSLimits}]}}}]",
            'profiles[0].plugins.filter.enabled[0]: Invalid value: "EBSLimits": was invalid in version '
            '"kubescheduler.config.k8s.io/v1" (KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")',
        ),
        ("profiles: [{plugins: {filter: {enabled: [{name: Mine}]}}}]", MAKING + 'FilterPlugin "Mine" does not exist'),
        # Among several errors it is upstream's order of the points that decides.
        (
            "profiles: [{plugins: {score: {enabled: [{name: S}]}, multiPoint: {enabled: [{name: M}]}}}]",
            MAKING + 'ScorePlugin "S" does not exist',
        ),
        (
            "profiles: [{plugins: {multiPoint: {enabled: [{name: EBSLimits}]}}}]",
            MAKING + 'PreFilterPlugin "EBSLimits" does not exist',
        ),
        (
            "profiles: [{plugins: {multiPoint: {enabled: [{name: NodeName}, {name: NodeName}]}}}]",
            MAKING + 'plugin "NodeName" already registered as "FilterPlugin"',
        ),
        (
            "profiles: [{schedulerName: a}, {schedulerName: b, plugins: {queueSort: {enabled: "
            "[{name: PrioritySort}]}}}]",
            'profiles[1].plugins.queueSort: Invalid value: {"Enabled":[{"Name":"PrioritySort","Weight":0}],'
            '"Disabled":null}: must be the same for all profiles',
        ),
        (
            "profiles: [{plugins: {filter: {enabled: [{name: ImageLocality}]}}}]",
            MAKING + 'plugin "ImageLocality" does not extend FilterPlugin plugin',
        ),
        (
            "profiles: [{plugins: {filter: {enabled: [{name: NodeName}, {name: NodeName}]}}}]",
            MAKING + 'plugin "NodeName" already registered as "FilterPlugin"',
        ),
        (
            "profiles: [{plugins: {bind: {disabled: [{name: '*'}]}}}]",
            MAKING + 'at least one bind plugin is needed for profile with scheduler name "default-scheduler"',
        ),
        (
            "profiles: [{plugins: {queueSort: {disabled: [{name: '*'}]}}}]",
            MAKING
            + 'only one queue sort plugin required for profile with scheduler name "default-scheduler", but got 0',
        ),
        (
            "profiles: [{pluginConfig: [{name: NodeAffinity, args: {kind: VolumeBindingArgs}}]}]",
            "decoding .profiles[0].pluginConfig[0]: args for plugin NodeAffinity were not of type "
            "NodeAffinityArgs.kubescheduler.config.k8s.io, got VolumeBindingArgs.kubescheduler.config.k8s.io",
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
        ("extenders: [{httpTimeout: soon}]", 'time: invalid duration "soon"'),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        configured(text)
    assert str(caught.value) == message


ARGS = "profiles[0].pluginConfig[0].args"
FIT = MAKING + 'initializing plugin "NodeResourcesFit": '


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
          'matchExpressions[0].operator: Unsupported value: "Like": supported values: "In", "NotIn", "Exists", '
          '"DoesNotExist", "Gt", "Lt"']),
        ("NodeResourcesFit", "{scoringStrategy: {type: Best}}",
         [f'{FIT}scoringStrategy.type: Unsupported value: "Best": supported values: "LeastAllocated", '
          '"MostAllocated", "RequestedToCapacityRatio"']),
        ("NodeResourcesFit", "{scoringStrategy: {type: RequestedToCapacityRatio}}",
         [f"{FIT}scoringStrategy.requestedToCapacityRatio: Required value: must be specified when type is "
          "RequestedToCapacityRatio"]),
        ("NodeResourcesFit", "{ignoredResourceGroups: [a/b]}",
         [f'{FIT}ignoredResourceGroups[0]: Invalid value: "a/b": resource group name can\'t contain \'/\'']),
        ("NodeResourcesFit",
         "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: "
         "[{utilization: 50, score: 0}, {utilization: 50, score: 11}]}}}",
         [f"{FIT}scoringStrategy.requestedToCapacityRatio.shape[1].utilization: Invalid value: 50: values must be "
          "sorted in increasing order",
          f"{FIT}scoringStrategy.requestedToCapacityRatio.shape[1].score: Invalid value: 11: not in valid range "
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
    by, told = (FIT if problems[0].startswith(FIT) else ""), [problem.removeprefix(FIT) for problem in problems]
    assert str(caught.value) == by + (told[0] if len(told) == 1 else f"[{', '.join(told)}]")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind: KubeSchedulerConfiguration", "Object 'apiVersion' is missing in 'kind: KubeSchedulerConfiguration'"),
        ("", "Object 'Kind' is missing in ''"),
        (
            "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration",
            'no kind "KubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/v1beta3" in '
            'scheme "pkg/scheduler/apis/config/scheme/scheme.go:30"',
        ),
        (
            "[]",
            "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct",
        ),
        ("a: [", "error converting YAML to JSON: yaml: line 1: did not find expected node content"),
    ],
    ids=["no version", "empty", "old version", "no object", "no yaml"],
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


TOLD = """
percentageOfNodesToScore: 50
podInitialBackoffSeconds: 3
podMaxBackoffSeconds: 30
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}]
- schedulerName: second
  percentageOfNodesToScore: 7
  plugins: {score: {disabled: [{name: "*"}], enabled: [{name: NodeResourcesFit, weight: 7}]}}
  pluginConfig:
  - {name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}
- schedulerName: gangs
  plugins:
    multiPoint: {enabled: [{name: Coscheduling}]}
    filter: {disabled: [{name: NodePorts}], enabled: [{name: TaintToleration}]}
  pluginConfig:
  - {name: Coscheduling, args: {permitWaitingTimeSeconds: 15}}
extenders:
- urlPrefix: https://there
  filterVerb: filter
  prioritizeVerb: prioritize
  weight: 4
  httpTimeout: 1m0.5s
  enableHTTPS: true
  tlsConfig: {serverName: there, caData: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==, keyFile: key.pem}
  managedResources: [{name: example.com/foo, ignoredByScheduler: true}, {name: example.com/bar}]
"""


@pytest.mark.parametrize("text", ["", TOLD], ids=["the default", "all of it"])
def test_what_is_told_of_a_configuration_makes_the_same(text: str) -> None:
    found = configured(text)
    again = load(json.dumps(encode(found)))
    assert again.extenders == found.extenders
    assert (again.initial_backoff, again.max_backoff) == (found.initial_backoff, found.max_backoff)
    for before, after in zip(found.profiles, again.profiles, strict=True):
        assert replace(after, plugins=()) == replace(before, plugins=())
        for point in POINTS:
            assert at(after, point) == at(before, point)
        assert [p for p in after.plugins if p.serves("Score")] == [p for p in before.plugins if p.serves("Score")]


def test_what_is_told_of_a_configuration_made_by_hand() -> None:
    plugins = (EnabledPlugin("PrioritySort"), EnabledPlugin("NodeAffinity", 5), EnabledPlugin("DefaultBinder"))
    made = SchedulerConfiguration(profiles=(Profile("mine", plugins), Profile("theirs")))
    mine, theirs = load(json.dumps(encode(made))).profiles
    assert at(mine, "Filter") == at(mine, "Score") == ["NodeAffinity"]
    assert {p.weight for p in mine.plugins if p.serves("Score")} == {5}
    assert len(at(theirs, "Filter")) == len(at(configured("").profiles[0], "Filter"))
