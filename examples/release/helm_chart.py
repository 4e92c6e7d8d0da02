"""Check the Helm chart as a cluster would, and package it."""

import gzip
import io
import tarfile
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import yaml
from building import Build, ReleaseError

CHART: Final = "examples/helm/hermes-acp"
CLUSTERS: Final = ("1.27", "1.31", "1.34")
SMALLEST: Final[Mapping[str, Any]] = {
    "image": {"repository": "registry.example/hermes-acp"},
    "secrets": {"token": {"name": "hermes-token"}},
}
FULLEST: Final[Mapping[str, Any]] = {
    "image": {
        "repository": "registry.example/hermes-acp",
        "digest": f"sha256:{'a' * 64}",
        "pullSecrets": ["pull"],
    },
    "config": {"mode": "auto", "fleet": {"address": "temporal.example:7233", "tls": True}},
    "environment": {"HERMES_MODEL": "some-model"},
    "secrets": {
        "token": {"name": "hermes-token"},
        "environment": ["model-keys"],
        "fleetDatabase": {"name": "postgres"},
    },
    "server": {
        "allowOrigins": ["https://app.example"],
        "ingress": {"enabled": True, "host": "hermes.example", "tlsSecret": "tls", "className": "nginx"},
        "tolerations": [{"operator": "Exists"}],
    },
    "worker": {"enabled": True, "places": ["gpu"], "nodeSelector": {"disk": "ssd"}},
    "networkPolicy": {"extraEgress": [{"to": [{"podSelector": {"matchLabels": {"app": "postgres"}}}]}]},
}
REFUSED: Final[Mapping[str, Mapping[str, Any]]] = {
    "no image": {"secrets": {"token": {"name": "t"}}},
    "no token": {"image": {"repository": "r"}},
    "an unknown value": {**SMALLEST, "typo": 1},
    "a secret in the open": {**SMALLEST, "environment": {"ANTHROPIC_API_KEY": "sk"}},
    "workers without a database": {**SMALLEST, "worker": {"enabled": True}},
    "an ingress without TLS": {**SMALLEST, "server": {"ingress": {"enabled": True, "host": "h.example"}}},
}


def check_chart(chart: Path) -> int:
    """Render the chart and validate each manifest strictly; return how many there were. Raises ReleaseError."""
    validate: Any = import_module("kubernetes_validate")
    helm: Any = import_module("helm_python")
    count = 0
    for values in (SMALLEST, FULLEST):
        for manifest in rendered(chart, values):
            count += 1
            for cluster in CLUSTERS:
                validate.validate(manifest, cluster, strict=True)
            if faults := [*_faults(manifest)]:
                raise ReleaseError(f"{manifest['kind']} {manifest['metadata']['name']}: {', '.join(faults)}")
    for what, values in REFUSED.items():
        try:
            manifests = [*rendered(chart, values)]
        except helm.HelmError:
            continue
        raise ReleaseError(f"The chart accepts {what}, with {len(manifests)} manifests.")
    return count


def rendered(chart: Path, values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the manifests that a cluster would get."""
    helm: Any = import_module("helm_python")
    with helm.Chart.load(str(chart)) as loaded:
        files: dict[str, str] = loaded.render(dict(values), name="demo", namespace="prod")
    for name, text in sorted(files.items()):
        if name.endswith(".yaml"):
            yield from filter(None, yaml.safe_load_all(text))


def _faults(manifest: dict[str, Any]) -> Iterator[str]:
    """Yield everything that a restricted namespace would reject or that could lose work."""
    if manifest["kind"] != "StatefulSet":
        return
    pod = manifest["spec"]["template"]["spec"]
    if not pod["securityContext"]["runAsNonRoot"] or pod["automountServiceAccountToken"]:
        yield "runs as root or gets a cluster token"
    for container in pod["containers"]:
        context = container["securityContext"]
        if not context["readOnlyRootFilesystem"] or context["allowPrivilegeEscalation"]:
            yield "may change its image or gain privileges"
        if context["capabilities"] != {"drop": ["ALL"]}:
            yield "has capabilities"
        if "preStop" not in container["lifecycle"]:
            yield "does not drain"
        if container["name"] == "server":
            paths = [container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("liveness", "readiness")]
            if paths != ["/healthz", "/readyz"]:
                yield "has the wrong probe paths"


def pack_chart(build: Build) -> Path:
    """Package the chart reproducibly, byte for byte."""
    folder = build.source / CHART
    packed = build.out / f"hermes-acp-chart-{build.version}.tgz"
    bare = io.BytesIO()
    with tarfile.open(fileobj=bare, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(each for each in folder.rglob("*") if each.is_file()):
            entry = tarfile.TarInfo(str(Path("hermes-acp", path.relative_to(folder))))
            content = path.read_bytes()
            entry.size, entry.mtime, entry.mode = len(content), build.time, 0o644
            archive.addfile(entry, io.BytesIO(content))
    packed.write_bytes(gzip.compress(bare.getvalue(), mtime=build.time))
    return packed
