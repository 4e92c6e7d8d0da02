"""Container engines and an ssh server, started for tests only and removed afterwards."""

import os
import shutil
import subprocess
import tarfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from io import BytesIO
from pathlib import Path
from socket import AF_INET, SOCK_STREAM, socket

import anyio

from tests.ports import quiet_port

IMAGE = "localhost/hermes-acp-test:1"
BUSYBOX = ("/bin/busybox", "/usr/bin/busybox")
START_S = 60


class Missing(Exception):
    """Something that a test needs is not installed on this machine."""


def busybox() -> Path:
    """Return a statically linked busybox. Raises Missing."""
    found = next((Path(path) for path in BUSYBOX if os.access(path, os.X_OK)), None)
    if found is None or b"/lib64/ld-linux" in found.read_bytes()[:4096]:
        raise Missing("busybox-static")
    return found


def make_image(place: Path) -> Path:
    """Write a tar archive of a small system: busybox with its names, and the program that opens a terminal."""
    program = busybox()
    names = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.split()
    path = place / "image.tar"
    with tarfile.open(path, "w") as tar:
        for folder in ("bin", "tmp", "etc", "proc", "sys", "dev"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(entry)
        tar.add(program, "bin/busybox")
        for file in _with_libraries("/usr/bin/script"):
            tar.add(file.resolve(), str(file).lstrip("/"))
        for name in names:
            entry = tarfile.TarInfo(f"bin/{name}")
            entry.type, entry.linkname = tarfile.SYMTYPE, "busybox"
            if name != "busybox":
                tar.addfile(entry)
        passwd = b"root:x:0:0::/:/bin/sh\n"
        entry = tarfile.TarInfo("etc/passwd")
        entry.size = len(passwd)
        tar.addfile(entry, BytesIO(passwd))
    return path


def _with_libraries(program: str) -> list[Path]:
    """Return a program of this machine and the libraries it is linked with."""
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    words = [word for line in linked.splitlines() for word in line.split() if word.startswith("/")]
    return [Path(program), *(Path(word) for word in words)]


@asynccontextmanager
async def docker_engine(place: Path) -> AsyncGenerator[Mapping[str, str]]:
    """Yield variables that reach a docker engine with IMAGE: this machine's own if it has one. Raises Missing."""
    if not shutil.which("docker"):
        raise Missing("docker")
    own = {**os.environ}
    if await _answers("docker", own):
        await _import("docker", place, own)
        yield own
        return
    if not shutil.which("dockerd") or os.getuid():
        raise Missing("dockerd, or the right to run it")
    variables = {**own, "DOCKER_HOST": f"unix://{place}/docker.sock"}
    options = (
        "--iptables=false", "--ip6tables=false", "--bridge=none", f"--data-root={place}/data",
        f"--exec-root={place}/exec", f"--pidfile={place}/pid", f"--host={variables['DOCKER_HOST']}",
    )  # fmt: skip
    with (place / "dockerd.log").open("wb") as log:
        daemon = await anyio.open_process(
            ["dockerd", *options], stdout=log, stderr=log, start_new_session=True
        )
    try:
        with anyio.fail_after(START_S):
            while not await _answers("docker", variables):
                assert daemon.returncode is None, (place / "dockerd.log").read_text()[-2000:]
                await anyio.sleep(0.1)
        await _import("docker", place, variables)
        yield variables
    finally:
        with anyio.CancelScope(shield=True):
            daemon.terminate()
            with anyio.move_on_after(START_S):
                await daemon.wait()


@asynccontextmanager
async def podman_engine(place: Path) -> AsyncGenerator[Mapping[str, str]]:
    """Yield variables that reach a podman engine with IMAGE, in its own storage. Raises Missing."""
    if not shutil.which("podman") or not shutil.which("runc") or os.getuid():
        raise Missing("podman with runc, or the right to run it")
    (place / "containers.conf").write_text(
        "[containers]\ndefault_ulimits = ['nofile=1024:1024', 'nproc=4096:4096']\n"
        "[engine]\nruntime = 'runc'\ncgroup_manager = 'cgroupfs'\nevents_logger = 'none'\n"
    )
    (place / "storage.conf").write_text(
        f"[storage]\ndriver = 'vfs'\ngraphroot = '{place}/root'\nrunroot = '{place}/run'\n"
    )
    variables = {
        **os.environ,
        "CONTAINERS_CONF": f"{place}/containers.conf",
        "CONTAINERS_STORAGE_CONF": f"{place}/storage.conf",
    }
    await _import("podman", place, variables)
    yield variables


@asynccontextmanager
async def ssh_server(place: Path) -> AsyncGenerator[Path]:
    """Run an sshd on loopback for this user; return a client configuration with the host `far`. Raises Missing."""
    program = shutil.which("sshd", path=f"/usr/sbin:{os.environ['PATH']}")
    if not program or not shutil.which("ssh"):
        raise Missing("sshd and ssh")
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    place.chmod(0o700)
    for name in ("host", "id"):
        keygen = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place / name)]
        await anyio.run_process(keygen)
    port = quiet_port()
    (place / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {place}/host\nAuthorizedKeysFile {place}/id.pub\n"
        f"PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
        "PermitRootLogin prohibit-password\nMaxStartups 100\n"
    )
    key = " ".join((place / "host.pub").read_text().split()[:2])
    (place / "known").write_text(f"[127.0.0.1]:{port} {key}\n")
    (place / "ssh_config").write_text(
        f"Host far\n  HostName 127.0.0.1\n  Port {port}\n  IdentityFile {place}/id\n  IdentitiesOnly yes\n"
        f"  UserKnownHostsFile {place}/known\n  GlobalKnownHostsFile /dev/null\n"
    )
    with (place / "sshd.log").open("wb") as log:
        argv = [program, "-D", "-e", "-f", str(place / "sshd_config")]
        server = await anyio.open_process(argv, stdout=log, stderr=log, start_new_session=True)
    try:
        with anyio.fail_after(START_S):
            while not _listens(port):
                assert server.returncode is None, (place / "sshd.log").read_text()
                await anyio.sleep(0.05)
        yield place / "ssh_config"
    finally:
        with anyio.CancelScope(shield=True):
            server.terminate()
            await server.wait()


async def _answers(engine: str, variables: Mapping[str, str]) -> bool:
    done = await anyio.run_process([engine, "version"], env=variables, check=False)
    return done.returncode == 0


async def _import(engine: str, place: Path, variables: Mapping[str, str]) -> None:
    argv = [engine, "import", str(make_image(place)), IMAGE]
    done = await anyio.run_process(argv, env=variables, check=False)
    assert done.returncode == 0, done.stderr


def _listens(port: int) -> bool:
    with socket(AF_INET, SOCK_STREAM) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
