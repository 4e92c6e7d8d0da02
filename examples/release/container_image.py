"""Build the container image without a daemon, list its packages, and run it."""

import json
import os
import shutil
import subprocess
import tempfile
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from building import Build, ReleaseError
from python_packages import greet

NAME: Final = "localhost/hermes-acp"
BASE: Final = "localhost/hermes-acp-base:bookworm"
MAX_BYTES: Final = 250_000_000
PACKAGES: Final = (
    "bubblewrap,ca-certificates,git,openssh-client,python3-minimal,python3-venv,tini,tzdata,usr-is-merged"
)
LIST_PACKAGES: Final = """
import importlib.metadata, json
found = [(each.metadata["Name"], each.version) for each in importlib.metadata.distributions()]
print(json.dumps(sorted(set(found))))
"""
CONFINED: Final = ("--rm", "--read-only", "--tmpfs=/tmp", "--network=none", "--cap-drop=all")


def can_build() -> bool:
    """Return whether this machine has the tools to build images."""
    return all(map(shutil.which, ("buildah", "podman")))


def debian_base(build: Build) -> str:
    """Create a base image from Debian's packages, for machines without a registry; return its name."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "root.tar")
        build.run(
            "mmdebstrap",
            "--variant=minbase",
            "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr",
            f"--include={PACKAGES}",
            "--dpkgopt=path-exclude=/usr/share/doc/*",
            "--dpkgopt=path-include=/usr/share/doc/*/copyright",
            "--dpkgopt=path-exclude=/usr/share/locale/*",
            "bookworm",
            root,
        )
        build.run("podman", "import", "--quiet", root, BASE)
    return BASE


def build_image(build: Build, wheel: Path, base: str) -> str:
    """Build the image with wheels from this machine's pip; return the image's name."""
    with tempfile.TemporaryDirectory() as folder:
        version = build.run("podman", "run", "--rm", "--network=none", base, "python3", "--version").split()[
            1
        ]
        shutil.copy(wheel, folder)
        wanted = ("--only-binary=:all:", "--python-version", version.rpartition(".")[0], "--dest", folder)
        build.run("python3", "-m", "pip", "download", "--quiet", *wanted, f"{wheel}[serve]")
        name = f"{NAME}:{build.version}"
        build.run(
            "buildah",
            "build",
            "--isolation=chroot",
            "--squash",
            f"--timestamp={build.time}",
            f"--build-arg=BASE={base}",
            f"--build-arg=VERSION={build.version}",
            "--build-arg=PIP_OPTIONS=--no-index --find-links /wheels",
            f"--file={build.source / 'examples' / 'container' / 'Containerfile'}",
            f"--tag={name}",
            folder,
        )
    return name


def check_image(build: Build, image: str) -> str:
    """Run the image as a deployment does; return the observations. Raises ReleaseError."""
    size = int(build.run("podman", "image", "inspect", "--format={{.Size}}", image))
    if size > MAX_BYTES:
        raise ReleaseError(f"The image has {size / 1e6:.0f} MB, more than {MAX_BYTES / 1e6:.0f}.")
    user = build.run("podman", "run", *CONFINED, "--entrypoint=id", image, "-u").strip()
    if user == "0":
        raise ReleaseError("The image runs as root.")
    with tempfile.TemporaryDirectory() as folder:
        said = greet(["podman", "run", "--interactive", *CONFINED, image], Path(folder), build.variables)
    build.run("podman", "run", *CONFINED, image, "update", "--trial")  # fails unless a scripted turn succeeds
    health = _serve(build, image)
    return f"{size / 1e6:.0f} MB, user {user}, read-only root; {said} and runs a scripted turn; /healthz says {health}"


def _serve(build: Build, image: str) -> str:
    """Start the server in the image, query its health, and stop it; return the answer."""
    token = "--env=HERMES_SERVE_TOKEN=only-for-this-check"
    words = ("podman", "run", "--detach", *CONFINED, token, image, "serve")
    container = build.run(*words).strip()
    ask = "import urllib.request as r; print(r.urlopen('http://127.0.0.1:8722/healthz', timeout=5).read().decode())"
    retry = f'for i in $(seq 60); do python3 -c "{ask}" 2> /dev/null && exit; sleep 1; done; exit 1'
    try:
        return build.run("podman", "exec", container, "sh", "-c", retry).strip()
    finally:
        subprocess.run(
            ("podman", "stop", "--time=30", container),
            env=dict(build.variables),
            capture_output=True,
            check=False,
        )


def write_sbom(build: Build, image: str) -> Path:
    """List the Python and Debian packages of the image as CycloneDX, checked against its schema."""
    run = ("podman", "run", "--rm", "--network=none")
    python = build.run(*run, "--entrypoint=/opt/hermes-acp/bin/python", image, "-c", LIST_PACKAGES)
    form = "${Package}\\t${Version}\\t${Architecture}\\n"
    debian = build.run(*run, "--entrypoint=dpkg-query", image, "--show", f"--showformat={form}")
    purl: Any = import_module("packageurl").PackageURL
    found = [
        (name, version, purl("pypi", None, name.lower(), version)) for name, version in json.loads(python)
    ]
    for line in debian.splitlines():
        name, version, architecture = line.split("\t")
        found.append((name, version, purl("deb", "debian", name, version, {"arch": architecture})))
    path = build.out / f"hermes-acp-{build.version}.cdx.json"
    path.write_text(_bom(build.version, found), "utf-8")
    return path


def _bom(version: str, found: list[tuple[str, str, Any]]) -> str:
    component: Any = import_module("cyclonedx.model.component")
    output: Any = import_module("cyclonedx.output")
    schema: Any = import_module("cyclonedx.schema")
    validation: Any = import_module("cyclonedx.validation.json")
    bom: Any = import_module("cyclonedx.model.bom").Bom()
    kinds = component.ComponentType
    root = component.Component(name="hermes-acp", version=version, type=kinds.CONTAINER)
    bom.metadata.component = root
    parts = [
        component.Component(name=name, version=each, type=kinds.LIBRARY, purl=purl, bom_ref=str(purl))
        for name, each, purl in found
    ]
    bom.components.update(parts)
    bom.register_dependency(root, parts)
    newest = schema.SchemaVersion.V1_6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text: str = output.make_outputter(bom, schema.OutputFormat.JSON, newest).output_as_string(indent=2)
    if error := validation.JsonStrictValidator(newest).validate_str(text):
        raise ReleaseError(f"The list of packages violates the CycloneDX schema: {error}")
    return text


def save_image(build: Build, image: str) -> Path:
    """Write the image to a file that `skopeo`, `podman` and `docker` read."""
    path = build.out / f"hermes-acp-{build.version}-{os.uname().machine}.oci.tar"
    build.run("podman", "save", "--quiet", "--format=oci-archive", f"--output={path}", image)
    return path
