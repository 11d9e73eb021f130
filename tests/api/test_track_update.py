"""The tracking of field owners by writes that are no apply."""

from __future__ import annotations

from datetime import timedelta

import pytest

from engine.api.apply import track_update
from engine.api.types import Object
from tests.api.ownership import LATER, T0, config_map, deployment, edited, kind, owners, stored, updated
from tests.api.typed_objects import TEXT, Thing, struct


def test_a_create_owns_all_that_it_sets() -> None:
    made = updated(
        None,
        deployment(
            3,
            {"name": "a", "image": "x", "ports": [{"containerPort": 80, "protocol": "TCP"}], "resources": {}},
            labels={"app": "web"},
        ),
        "kubectl-create",
    )
    assert made["metadata"]["managedFields"] == [
        {
            "manager": "kubectl-create",
            "operation": "Update",
            "apiVersion": "apps/v1",
            "time": "2026-01-01T00:00:00Z",
            "fieldsType": "FieldsV1",
            "fieldsV1": {
                "f:metadata": {"f:labels": {".": {}, "f:app": {}}},
                "f:spec": {
                    "f:replicas": {},
                    "f:template": {
                        "f:spec": {
                            "f:containers": {
                                'k:{"name":"a"}': {
                                    ".": {},
                                    "f:image": {},
                                    "f:name": {},
                                    "f:ports": {
                                        ".": {},
                                        'k:{"containerPort":80,"protocol":"TCP"}': {
                                            ".": {},
                                            "f:containerPort": {},
                                            "f:protocol": {},
                                        },
                                    },
                                    "f:resources": {},
                                }
                            }
                        }
                    },
                },
            },
        }
    ]


def test_an_update_owns_what_it_changes_and_takes_it_from_others() -> None:
    made = stored(updated(None, config_map(a="1", b="1"), "one"))
    after = updated(made, edited(made, {"data": {"a": "2", "b": "1", "c": "1"}}), "two", LATER)
    assert owners(after) == {
        "one": {"f:data": {".": {}, "f:b": {}}},
        "two": {"f:data": {"f:a": {}, "f:c": {}}},
    }
    assert [entry["time"] for entry in after["metadata"]["managedFields"]] == [
        "2026-01-01T00:00:00Z",
        "2026-01-01T00:01:00Z",
    ]


def test_a_field_that_goes_is_nobodys_and_who_has_none_goes_too() -> None:
    made = stored(updated(None, config_map(a="1"), "one"))
    both = stored(updated(made, edited(made, {"data": {"a": "1", "b": "1"}}), "two"))
    after = updated(both, edited(both, {"data": {"a": "1"}}), "three", LATER)
    assert owners(after) == {"one": {"f:data": {".": {}, "f:a": {}}}}


def test_a_write_that_changes_nothing_leaves_the_time() -> None:
    made = stored(updated(None, config_map(a="1"), "one"))
    assert updated(made, stored(made), "one", LATER) == made
    assert updated(made, stored(made), "two", LATER) == made


def test_a_client_that_drops_managed_fields_does_not_drop_the_owners() -> None:
    made = stored(updated(None, config_map(a="1"), "one"))
    bare = stored(made)
    del bare["metadata"]["managedFields"]
    assert updated(made, bare, "two") == made


def test_one_empty_entry_resets_and_then_nothing_is_tracked() -> None:
    made = stored(updated(None, config_map(a="1"), "one"))
    reset = stored(made)
    reset["metadata"]["managedFields"] = [{}]
    bare = updated(made, reset, "two")
    assert "managedFields" not in bare["metadata"]
    assert "managedFields" not in updated(bare, edited(bare, {"data": {"a": "2"}}), "two")["metadata"]


def test_managed_fields_that_are_no_such_thing_are_ignored() -> None:
    made = stored(updated(None, config_map(a="1"), "one"))
    broken = stored(made)
    broken["metadata"]["managedFields"] = [{"manager": "x", "operation": "Boom"}]
    assert updated(made, broken, "two") == made


def test_a_client_may_give_fields_away() -> None:
    made = stored(updated(None, config_map(a="1"), "one"))
    given = stored(made)
    given["metadata"]["managedFields"][0]["manager"] = "other"
    assert list(owners(updated(made, given, "two"))) == ["other"]


def test_owners_that_are_sent_are_written_as_the_server_writes_them() -> None:
    made = stored(updated(None, config_map(a="1"), "one"))
    sent = stored(made)
    entry = sent["metadata"]["managedFields"][0]
    entry["fieldsV1"] = {
        "z:new": {}, ".": {}, "f:metadata": {"f:ownerReferences": {'k:{"uid": "u"}': {".": {}}}},
        "f:data": {"f:b": {}, "f:a": {}, ".": {}},
    }  # fmt: skip
    sent["metadata"]["managedFields"].append({**entry, "manager": "idle", "fieldsV1": {}})
    after = updated(made, sent, "two")
    assert owners(after) == {
        "one": {"f:data": {".": {}, "f:a": {}, "f:b": {}}, "f:metadata": {"f:ownerReferences": {'k:{"uid":"u"}': {}}}}
    }
    assert list(owners(after)["one"]["f:data"]) == [".", "f:a", "f:b"]


@pytest.mark.parametrize(
    ("fields", "written"),
    [
        pytest.param({"f:data": None}, {"f:data": {}}, id="null is a member"),
        pytest.param({"f:data": {".": 1, "f:b": {}}}, {"f:data": {".": {}, "f:b": {}}}, id="below the dot is nothing"),
        pytest.param({"f:data": {}, "z:new": 7}, {"f:data": {}}, id="nor below a kind of later days"),
        pytest.param({"f:data": {"k: null ": {}}}, {"f:data": {"k:{}": {}}}, id="null keys are none"),
        pytest.param(
            {"f:data": {"v:1e3": {}, 'k:{"a":[2.0]}': {}}}, {"f:data": {'k:{"a":[2]}': {}, "v:1000": {}}}, id="floats"
        ),
        pytest.param({"f:data": 1}, None, id="a number is no set"),
        pytest.param({"f:data": {"i:9223372036854775808": {}}}, None, id="no index is that large"),
        pytest.param({"f:data": {'v:"a" {"b":1}': {}}}, None, id="two values in one step"),
    ],
)  # fmt: skip
def test_fields_that_are_sent_are_read_as_upstream_reads_them(fields: Object, written: Object | None) -> None:
    """After fieldpath's serialize_test and serialize-pe_test; what cannot be read leaves the owners as they are."""
    made = stored(updated(None, config_map(a="1"), "one"))
    sent = stored(made)
    sent["metadata"]["managedFields"][0] |= {"manager": "x", "fieldsV1": fields}
    assert owners(updated(made, sent, "two")) == ({"x": written} if written is not None else owners(made))


def test_values_of_a_set_are_sorted_by_what_they_are() -> None:
    sent = stored(updated(None, config_map(a="1"), "one"))
    steps = ["f:z", "k:{}", "v:2", "v:10", 'v:"a"', "v:false", "v:[1]", "v:{}", "v:null", "i:9", "i:10"]
    sent["metadata"]["managedFields"][0]["fieldsV1"] = {"f:data": {step: {} for step in reversed(steps)}}
    assert list(owners(updated(None, sent, "two"))["one"]["f:data"]) == steps


def test_an_owner_that_is_sent_without_a_name_has_none() -> None:
    made = stored(updated(None, config_map(a="1"), ""))
    assert list(owners(made)) == ["unknown"]
    sent = stored(made)
    del sent["metadata"]["managedFields"][0]["manager"]
    [entry] = updated(made, sent, "two")["metadata"]["managedFields"]
    assert "manager" not in entry


def test_who_is_sent_with_nothing_is_no_owner_but_keeps_the_object_tracked() -> None:
    made = stored(updated(None, config_map(a="1"), "one"))
    sent = edited(made, {"data": {"a": "2"}})
    sent["metadata"]["managedFields"][0]["fieldsV1"] = {}
    assert owners(updated(made, sent, "two")) == {"two": {"f:data": {"f:a": {}}}}


def test_status_belongs_to_its_subresource() -> None:
    pod: Object = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"nodeName": "n"}}
    made = stored(updated(None, {**pod, "status": {"phase": "Pending"}}, "kubectl"))
    assert owners(made) == {"kubectl": {"f:spec": {"f:nodeName": {}}}}
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    after = updated(made, edited(made, {"status": status}), "kubelet", LATER, "status")
    entry = after["metadata"]["managedFields"][1]
    assert entry["subresource"] == "status"
    assert entry["fieldsV1"] == {
        "f:status": {
            "f:conditions": {
                ".": {},
                'k:{"type":"Ready"}': {
                    ".": {},
                    "f:lastProbeTime": {},  # nobody said these, but every condition has them
                    "f:lastTransitionTime": {},
                    "f:status": {},
                    "f:type": {},
                },
            },
            "f:phase": {},
        }
    }


BORN: dict[str, tuple[tuple[str, str, str], Object, Object]] = {
    "an empty spec": (("networking.k8s.io", "v1", "Ingress"), {"spec": {}}, {}),
    "an empty selector that is no pointer": (
        ("networking.k8s.io", "v1", "NetworkPolicy"),
        {"spec": {"podSelector": {}, "policyTypes": ["Ingress"]}},
        {"f:spec": {"f:policyTypes": {}}},
    ),
    "a selector": (
        ("networking.k8s.io", "v1", "NetworkPolicy"),
        {"spec": {"podSelector": {"matchLabels": {"a": "b"}}}},
        {"f:spec": {"f:podSelector": {}}},
    ),
    "structs and words that an Event always has": (
        ("", "v1", "Event"),
        {"source": {}, "reportingComponent": "", "reportingInstance": "x", "reason": "y"},
        {"f:reason": {}, "f:reportingInstance": {}},
    ),
    "in a struct that an Event always has": (
        ("", "v1", "Event"),
        {"source": {"component": "x"}},
        {"f:source": {"f:component": {}}},
    ),
    "empty metadata of a template": (
        ("", "v1", "PodTemplate"),
        {"template": {"metadata": {}, "spec": {"nodeName": "n"}}},
        {"f:template": {"f:spec": {"f:nodeName": {}}}},
    ),
    "a template behind a pointer": (
        ("", "v1", "ReplicationController"),
        {"spec": {"template": {"metadata": {}, "spec": {"nodeName": "n"}}}},
        {
            "f:spec": {
                "f:template": {".": {}, "f:metadata": {}, "f:spec": {".": {}, "f:containers": {}, "f:nodeName": {}}}
            }
        },
    ),
    "a struct that the schema does not require": (
        ("resource.k8s.io", "v1", "ResourceClaim"),
        {"spec": {"devices": {"requests": [{"name": "a"}]}}},
        {"f:spec": {"f:devices": {"f:requests": {}}}},
    ),
    "a list that is required, but left out where it is empty": (
        ("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding"),
        {"spec": {"policyName": "p", "validationActions": ["Deny"]}},
        {"f:spec": {"f:policyName": {}, "f:validationActions": {".": {}, 'v:"Deny"': {}}}},
    ),
    "a pointer that is required": (
        ("networking.k8s.io", "v1", "IPAddress"),
        {"spec": {"parentRef": {"resource": "services", "name": "a"}}},
        {"f:spec": {"f:parentRef": {".": {}, "f:name": {}, "f:resource": {}}}},
    ),
    "a pointer to an empty struct": (
        ("apps", "v1", "ReplicaSet"),
        {"spec": {"selector": {}}},
        {"f:spec": {"f:selector": {}}},
    ),
    "a number that is nought": (("scheduling.k8s.io", "v1", "PriorityClass"), {"value": 0}, {}),
}


@pytest.mark.parametrize("name", BORN)
def test_what_an_object_is_born_with_is_nobodys(name: str) -> None:
    which, fields, expected = BORN[name]
    version = "/".join(filter(None, which[:2]))
    obj = {"apiVersion": version, "kind": which[2], "metadata": {"name": "x", "uid": "u"}, **fields}
    made = track_update(None, obj, manager="me", now=T0, schema=kind(*which), api_version=version)
    assert owners(made).get("me", {}) == expected


def test_a_custom_object_is_born_with_nothing() -> None:
    thing = Thing({**struct(spec=struct(template=struct(name=TEXT))), "required": ["spec"]})
    thing.updated("me", {"spec": {"template": {"name": "x"}}})
    assert thing.live is not None
    assert owners(thing.live) == {"me": {"f:spec": {".": {}, "f:template": {".": {}, "f:name": {}}}}}


def test_what_the_server_sets_is_never_owned() -> None:
    made = updated(None, stored({**config_map(), "data": {}}), "one")
    assert owners(made) == {"one": {"f:data": {}}}


def test_sets_own_values_and_atomic_lists_go_as_a_whole() -> None:
    made = updated(
        None,
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p", "finalizers": ["b", "a"]},
            "spec": {"tolerations": [{"key": "x"}], "nodeSelector": {"a": "b"}},
        },
        "one",
    )
    assert owners(made)["one"] == {
        "f:metadata": {"f:finalizers": {".": {}, 'v:"a"': {}, 'v:"b"': {}}},
        "f:spec": {"f:nodeSelector": {}, "f:tolerations": {}},
    }


def test_the_eleventh_updater_makes_the_oldest_ancient() -> None:
    live = stored(updated(None, config_map(k0="1"), "m0", T0))
    for number in range(1, 12):
        data = {**live["data"], f"k{number}": "1"}
        live = updated(live, edited(live, {"data": data}), f"m{number}", T0 + timedelta(seconds=number))
    entries = live["metadata"]["managedFields"]
    assert [entry["manager"] for entry in entries] == ["ancient-changes", *(f"m{n}" for n in range(3, 12))]
    assert entries[0]["fieldsV1"] == {"f:data": {".": {}, "f:k0": {}, "f:k1": {}, "f:k2": {}}}
    assert entries[0]["time"] == "2026-01-01T00:00:02Z"


_A, _B = "apps/v1", "apps/v2"


@pytest.mark.parametrize(
    ("versions", "kept"),
    [
        pytest.param(
            [_A] * 11, [("ancient-changes", _A, 1), *((f"m{n}", _A, n) for n in range(2, 11))], id="one version"
        ),
        pytest.param(
            [_A, _B] + [_A] * 9, [("m1", _B, 1), ("ancient-changes", _A, 2), *((f"m{n}", _A, n) for n in range(3, 11))],
            id="two versions",
        ),
        pytest.param(
            [_A, _B, _B, _A] + [_A] * 8,
            [("ancient-changes", _B, 2), ("ancient-changes", _A, 3), *((f"m{n}", _A, n) for n in range(4, 12))],
            id="two of each",
        ),
    ],
)  # fmt: skip
def test_too_many_updaters_that_are_sent_are_put_together_though_nothing_else_changes(
    versions: list[str], kept: list[tuple[str, str, int]]
) -> None:
    made = stored(updated(None, deployment(1, labels={"a": "1"}), "one"))
    sent = stored(made)
    sent["metadata"]["managedFields"] = [
        {
            "manager": f"m{number}", "operation": "Update", "apiVersion": version, "fieldsType": "FieldsV1",
            "time": f"2020-01-01T00:00:{number:02}Z", "fieldsV1": {"f:metadata": {"f:labels": {f"f:l{number}": {}}}},
        }
        for number, version in enumerate(versions)
    ]  # fmt: skip
    entries = updated(made, sent, "two")["metadata"]["managedFields"]
    assert [(entry["manager"], entry["apiVersion"], int(entry["time"][-3:-1])) for entry in entries] == kept


def test_custom_resources_without_a_schema_are_owned_by_what_they_hold() -> None:
    made = updated(
        None,
        {"apiVersion": "x/v1", "kind": "Any", "metadata": {"name": "a"}, "spec": {"m": {"k": 1}, "l": [{"a": 1}]}},
        "one",
    )
    assert owners(made)["one"]["f:spec"] == {".": {}, "f:l": {}, "f:m": {".": {}, "f:k": {}}}
