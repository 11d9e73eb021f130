"""Where a line typed after `:` leads."""

from __future__ import annotations

import pytest

from ktui.models.listing import Listing
from ktui.models.routes import (
    NO_SHELL,
    ONE_CLUSTER,
    Kubectl,
    Leave,
    Mistyped,
    Own,
    Route,
    Split,
    Steer,
    ToAliases,
    ToEditor,
    ToForwards,
    ToHelp,
    ToObject,
    ToResource,
    ToScreen,
    ToTree,
    Unsplit,
    route,
    talks,
)


def listed(word: str, rest: str, listing: Listing) -> ToResource:
    return ToResource(word, listing, (word, *rest.split()))


CASES = [
    pytest.param("flow", ToScreen("flow"), id="a screen"),
    pytest.param("deploy", ToResource("deploy"), id="a short name"),
    pytest.param("get pods -A", Kubectl(("get", "pods", "-A")), id="a verb with flags"),
    pytest.param("store compact 900", Own(("store", "compact", "900")), id="a command of ktui's own"),
    pytest.param("ktui trace deploy/web", Own(("trace", "deploy/web")), id="ktui in front"),
    pytest.param("store", ToScreen("store"), id="a screen that has the name of one"),
    pytest.param("kubectl get pods", Kubectl(("get", "pods")), id="kubectl in front"),
    pytest.param("get", Kubectl(("get",)), id="a verb alone is kubectl's to complain of"),
    pytest.param("fetch pods", listed("fetch", "pods", Listing("pods")), id="an unknown verb, if it is no resource"),
    pytest.param("po -o wide", Kubectl(("get", "po", "-o", "wide")), id="a resource that is to be printed"),
    pytest.param("po --show-labels", Kubectl(("get", "po", "--show-labels")), id="a resource with its labels"),
    pytest.param("po -w", listed("po", "-w", Listing()), id="what is listed is live anyway"),
    pytest.param("aply -f x", Kubectl(("aply", "-f", "x")), id="a verb that there is not"),
    pytest.param("get po | grep web", Mistyped(NO_SHELL.format("|")), id="a pipe"),
    pytest.param("get po > file", Mistyped(NO_SHELL.format(">")), id="a file"),
    pytest.param(
        "exec web -- sh -c 'a | b' | c",
        Kubectl(("exec", "web", "--", "sh", "-c", "a | b", "|", "c")),
        id="a container's",
    ),
    pytest.param("ctx", Mistyped(ONE_CLUSTER), id="another cluster, as in k9s"),
    pytest.param("quit!", Leave(), id="quit at once, as in k9s"),
    pytest.param("po @away", Mistyped(ONE_CLUSTER), id="no other contexts"),
    pytest.param("ctx away", Mistyped(ONE_CLUSTER), id="another cluster by its name"),
    pytest.param("pod/web-0", ToObject("pod", "web-0"), id="an object, as get prints its name"),
    pytest.param("deploy.apps/web -n shop", ToObject("deploy.apps", "web", "shop"), id="an object in a namespace"),
    pytest.param("rs,po", Kubectl(("get", "rs,po")), id="several kinds are kubectl's to print"),
    pytest.param("all", Kubectl(("get", "all")), id="and so is a category"),
    pytest.param("all -n shop", Kubectl(("get", "all", "-n", "shop")), id="in a namespace"),
    pytest.param("all shop", Kubectl(("get", "all", "-n", "shop")), id="in a namespace, as in k9s"),
    pytest.param("rs,po all", Kubectl(("get", "rs,po", "-A")), id="in all namespaces, as in k9s"),
    pytest.param("all app=web", Kubectl(("get", "all", "-l", "app=web")), id="by labels, as in k9s"),
    pytest.param("apps/v1/deployments", ToResource("deployments.v1.apps"), id="a resource by its group, as in k9s"),
    pytest.param("v1/pods", ToResource("pods.v1."), id="a resource by its version alone"),
    pytest.param(
        "x.io/v1beta1/foos shop",
        ToResource("foos.v1beta1.x.io", Listing("shop"), ("x.io/v1beta1/foos", "shop")),
        id="a custom one, in a namespace",
    ),
    pytest.param("help", ToHelp(), id="the keys, by a word"),
    pytest.param("wk", ToScreen("tree"), id="k9s's name of the workloads"),
    pytest.param("edit deploy web -n x", ToEditor(("deploy", "web"), "x"), id="edit in a namespace"),
    pytest.param("deploy shop", listed("deploy", "shop", Listing("shop")), id="a namespace, as in k9s"),
    pytest.param("deploy all", listed("deploy", "all", Listing("")), id="all namespaces"),
    pytest.param("po -A", listed("po", "-A", Listing("")), id="all namespaces by kubectl's flag"),
    pytest.param("po -n shop", listed("po", "-n shop", Listing("shop")), id="a namespace by kubectl's flag"),
    pytest.param("po /web", listed("po", "/web", Listing(filter="web")), id="a filter, as in k9s"),
    pytest.param("po app=web", listed("po", "app=web", Listing(filter="-l app=web")), id="labels, as in k9s"),
    pytest.param(
        "po -l app!=web", listed("po", "-l app!=web", Listing(filter="-l app!=web")), id="labels by their flag"
    ),
    pytest.param("po shop /x", listed("po", "shop /x", Listing("shop", "x")), id="a namespace and a filter"),
    pytest.param("po shop store", Kubectl(("po", "shop", "store")), id="not two namespaces"),
    pytest.param("pulses", ToScreen("dashboard"), id="k9s's name of the dashboard"),
    pytest.param("xray", ToScreen("tree"), id="k9s's name of the tree"),
    pytest.param("xray sts shop", ToTree("sts", Listing("shop")), id="the tree below a kind, in a namespace"),
    pytest.param("xray sts -o x", Mistyped("xray: say a kind, then a namespace"), id="the tree below something else"),
    pytest.param("aliases", ToAliases(), id="all resources"),
    pytest.param("q!", Leave(), id="quit, as in vim"),
    pytest.param("apply -f 'my file.yaml'", Kubectl(("apply", "-f", "my file.yaml")), id="quotes"),
    pytest.param("edit deploy/web", ToEditor(("deploy/web",)), id="edit"),
    pytest.param("edit deploy web -o json", Kubectl(("edit", "deploy", "web", "-o", "json")), id="edit with flags"),
    pytest.param("split", Split(""), id="two screens"),
    pytest.param("split store", Split("store"), id="two screens, the second named"),
    pytest.param("split x", Mistyped("split x: say one of flow, store"), id="two screens, one that there is not"),
    pytest.param("only", Unsplit(), id="one screen again"),
    pytest.param("unsplit", Unsplit(), id="as what it undoes is called"),
    pytest.param("pf", ToForwards(), id="forwarded ports, as in k9s"),
    pytest.param("pause", Steer("pause"), id="the clock stands still"),
    pytest.param("step", Steer("step"), id="to the next hop"),
    pytest.param("speed 2.5", Steer("speed", 2.5), id="the clock's speed"),
    pytest.param("speed 10x", Steer("speed", 10.0), id="the clock's speed with its sign"),
    pytest.param("speed 0", Mistyped("speed 0: say a number from 0.1 to 100"), id="a speed that is none"),
    pytest.param("speed nan", Mistyped("speed nan: say a number from 0.1 to 100"), id="no number"),
    pytest.param("q", Leave(), id="quit"),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_route(text: str, expected: Route) -> None:
    assert route(text, screens=("flow", "store"), verbs={"get", "apply", "edit"}) == expected


@pytest.mark.parametrize("text", ["kubectl", "get 'pods", ""])
def test_what_cannot_be_read_is_said(text: str) -> None:
    assert isinstance(route(text, screens=(), verbs={"get"}), Mistyped)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("exec -it web -- sh", True, id="a shell with a terminal"),
        pytest.param("exec web -i -c main -- sh", True, id="a flag behind the name"),
        pytest.param("attach web --stdin", True, id="a long flag"),
        pytest.param("exec web -- grep -i x", False, id="a flag of the command's own"),
        pytest.param("exec web -- sh", False, id="nothing handed on"),
        pytest.param("get pods -i", False, id="a verb that reads nothing"),
        pytest.param("", False, id="nothing"),
    ],
)
def test_commands_that_hand_on_what_is_typed(line: str, expected: bool) -> None:
    assert talks(tuple(line.split())) is expected
