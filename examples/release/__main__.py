"""Build, check and sign all parts of a release: `python examples/release`.

Steps that need a person's accounts are only printed, in order. Exit codes: 0 if everything was built and checked, 1 if
a check failed, 2 for wrong usage.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Final

from building import ROOT, Build, ReleaseError, prepare
from container_image import build_image, can_build, check_image, debian_base, save_image, write_sbom
from editor_packages import build_extension, check_registry_entry, write_registry_entry
from helm_chart import CHART, check_chart, pack_chart
from python_packages import build_packages, build_web_page, try_wheel, version_of
from signatures import CHECKSUMS, sign, write_checksums

DEBIAN: Final = "debian"


def main() -> int:
    """Build the release; return the exit code."""
    options = parser().parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="hermes-release-") as scratch:
            release(
                options, prepare(options.out.resolve(), Path(scratch), version_of(ROOT / "pyproject.toml"))
            )
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the argument parser."""
    options = argparse.ArgumentParser(prog="python examples/release", description=__doc__)
    options.add_argument("--out", type=Path, default=ROOT / "dist", help="the output folder (default: dist)")
    options.add_argument("--sign", metavar="KEY", default="", help="ssh:FILE, gpg:ID or minisign:FILE")
    options.add_argument(
        "--image",
        metavar="BASE",
        default="",
        help="also build the image on the base image BASE; `debian` creates one",
    )
    options.add_argument("--repository", metavar="URL", default="", help="the public URL of the source")
    options.add_argument(
        "--registry", metavar="CLONE", type=Path, help="a clone of the ACP registry, for its checks"
    )
    return options


def release(options: argparse.Namespace, build: Build) -> None:
    """Build and check everything. Raises ReleaseError."""
    say(f"hermes-acp {build.version}, commit {build.commit[:12]}")
    build_web_page(build)
    wheel, sdist = build_packages(build)
    say(f"{wheel.name}, {sdist.name}: checked by twine; the source distribution builds the same wheel")
    for tried in try_wheel(build, wheel):
        say(f"  {tried}")
    vsix = build_extension(build, wheel, sys.executable)
    say(f"{vsix.name}: contains the same wheel")
    entry = write_registry_entry(build, options.repository)
    if options.registry:
        check_registry_entry(build, entry, options.registry.resolve(), sys.executable)
    checked = "checked" if options.registry else "not checked"
    say(f"{entry.relative_to(build.out)}: {checked} by the registry's scripts")
    manifests = check_chart(build.source / CHART)
    chart = pack_chart(build)
    say(f"{chart.name}: {manifests} manifests validated")
    image = make_image(options.image, build, wheel)
    checksums = write_checksums(build)
    check = ""
    if options.sign:
        signature, check = sign(build, checksums, options.sign)
        say(f"{signature.name}: check it with {check}")
    else:
        say("Not signed: name a key with --sign.")
    say(next_steps(build, wheel, sdist, vsix, image))


def make_image(base: str, build: Build, wheel: Path) -> str:
    """Build, check and save the image if a base is named; return its name, or an empty string."""
    if not base:
        say("No image: name its base with --image.")
        return ""
    if not can_build():
        raise ReleaseError("buildah and podman are needed for the image. Install them, or leave out --image.")
    image = build_image(build, wheel, debian_base(build) if base == DEBIAN else base)
    seen = check_image(build, image)
    sbom, saved = write_sbom(build, image), save_image(build, image)
    say(f"{saved.name}, {sbom.name}: {seen}")
    return image


def next_steps(build: Build, wheel: Path, sdist: Path, vsix: Path, image: str) -> str:
    """Return the steps for publishing, in order; each step requires the previous ones."""
    steps = [
        f"Check that hermes-acp-server on PyPI is yours or free. Then: twine upload {wheel.name} {sdist.name}",
        f"Compare PyPI's SHA-256 of {wheel.name} with {CHECKSUMS}.",
        f"Tag the commit {build.commit[:12]} as v{build.version}, push the tag, attach all files to the release.",
        f"vsce publish --packagePath {vsix.name}, then: ovsx publish {vsix.name}",
        "Open a pull request with registry/hermes-acp at the ACP registry, which requires that the package is on PyPI.",
    ]
    if image:
        steps.append(f"podman push {image} REGISTRY/hermes-acp:{build.version}")
        steps.append(f"helm push hermes-acp-chart-{build.version}.tgz oci://REGISTRY")
    else:
        steps.append(f"helm push hermes-acp-chart-{build.version}.tgz oci://REGISTRY, once there is an image")
    steps.append(
        "Only then let documents and hints name the package, and remove what docs/not-yet.md says about it."
    )
    return "\n".join(("", f"All files are in {build.out}. To publish them:", *numbered(steps)))


def numbered(steps: list[str]) -> list[str]:
    """Number the steps."""
    return [f"{number:>3}. {step}" for number, step in enumerate(steps, 1)]


def say(text: str) -> None:
    """Show progress."""
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
