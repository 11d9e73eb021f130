"""kustomize as kubectl carries it: a folder with a kustomization file becomes objects (`kubectl kustomize`, `-k`).

`build` reads and accumulates (`target`), the other modules are what a kustomization can ask for. Source of the
behaviour: sigs.k8s.io/kustomize api 0.21 (kustomize 5.8), which kubectl 1.37 is built with.
"""

VERSION = "v5.8.1"  # the kustomize that this is like
