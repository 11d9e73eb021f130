"""`config` changes kubeconfig files as kubectl does: the same words, the same file afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.kubectl.oracle import Printed, ours, real

START = """
apiVersion: v1
kind: Config
current-context: one
clusters: [{name: c1, cluster: {server: "https://one:6443"}}]
contexts: [{name: one, context: {cluster: c1, user: u1}}, {name: two, context: {cluster: c1, user: u1, namespace: ns2}}]
users: [{name: u1, user: {token: abc}}]
"""
SCRIPT = """
config set-cluster c2 --server=https://two:6443 --insecure-skip-tls-verify
config set-cluster c2 --server=https://three:6443 --tls-server-name=x
config set-cluster c2 --certificate-authority=CA --embed-certs
config set-credentials u2 --token=t
config set-credentials u2 --username=a --password=b
config set-credentials u3 --exec-command=/bin/x --exec-api-version=client.authentication.k8s.io/v1 --exec-arg=a
config set-credentials u3 --exec-arg=b --exec-env=k=v
config set-credentials u4 --client-certificate=CA --client-key=CA --embed-certs
config set-context three --cluster=c2 --user=u2 --namespace=n3
config set-context three --namespace=other
config set-context --current --namespace=kube-system
config rename-context three four
config rename-context nope x
config rename-context one two
config use-context four
config use-context nope
config set contexts.four.namespace zz
config set current-context two
config set clusters.c2.server https://four:6443
config set users.u9.token tt
config set nope.x y
config unset contexts.four.namespace
config unset current-context
config unset users.u9
config delete-context four
config delete-context nope
config delete-cluster c2
config delete-cluster nope
config delete-user u2
config delete-user nope
config current-context
config get-contexts -o name
config get-clusters
config get-users
config use-context one
config view
config view --raw
config view --minify
config view --minify -o jsonpath={.clusters[0].cluster.server}
config view --minify --context=two -o name
config set clusters.c1.certificate-authority-data YWJj --set-raw-bytes=true
config set clusters.c1.certificate-authority-data @@
config set clusters.c1.insecure-skip-tls-verify T
config set clusters.c1.insecure-skip-tls-verify maybe
config set users.u1.exec.command y
config set contexts.four.cluster ''
config unset contexts.nope.namespace
config unset clusters.c1.server
config set-credentials u5 --token=a --username=b
config set-credentials u5 --exec-command=a --exec-arg=b --exec-env=k=v --exec-interactive-mode=Never
config set-credentials u5 --exec-env=k- --auth-provider=oidc --auth-provider-arg=a=b
config set-credentials u5 --embed-certs
config set-cluster c5 --certificate-authority=/nope --embed-certs
config set-cluster c5 --certificate-authority=/nope
config set-context five --cluster=nope --user=nope
config view --minify --context=five
config set-context six --user=nope
config view --minify --context=six
config view --flatten
config set-cluster c6 --server=https://six:6443 --certificate-authority=CA
config set-cluster c6 --server=https://seven:6443
config set clusters.c6.certificate-authority ../ca.pem
config set clusters.c6.proxy-url http://proxy
config set-cluster c6 --tls-server-name=seven
config set-credentials u6 --exec-command=./x --exec-api-version=client.authentication.k8s.io/v1beta1
config set-credentials u6 --client-certificate=
config unset users.u6.exec
config set preferences.colors true
config unset preferences
config set kind x
config set clusters.c6.extensions x
config view --merge=false
config view --template={{.kind}}
config get-contexts -o yaml
"""


def _files(folder: Path) -> tuple[Path, Path]:
    folder.mkdir()
    (folder / "config").write_text(START)
    (folder / "ca.pem").write_text("-----BEGIN CERTIFICATE-----\n")
    return folder / "config", folder / "ca.pem"


async def _run(folder: Path, act: Any) -> list[tuple[str, Printed, str]]:
    file, authority = _files(folder)
    found = []
    for line in SCRIPT.strip().splitlines():
        printed = await act(line.replace("CA", str(authority)), kubeconfig=str(file))
        shown = Printed(printed.code, *(text.replace(str(folder), "FOLDER") for text in printed[1:]))
        found.append((line, shown, file.read_text().replace(str(folder), "FOLDER")))
    return found


async def test_the_file_is_what_kubectl_leaves(tmp_path: Path) -> None:
    theirs, mine = await _run(tmp_path / "theirs", real), await _run(tmp_path / "ours", ours)
    different = [
        f"$ kubectl {line}\n--- kubectl: {a}\n{x}\n--- ours:    {b}\n{y}"
        for (line, a, x), (_, b, y) in zip(theirs, mine, strict=True)
        if a != b or x != y
    ]
    assert not different, "\n".join(different)
