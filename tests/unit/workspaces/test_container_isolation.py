"""Only the user's own settings, and nothing in a workspace, decide what a container may do."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from hermes_acp.config.environment import environment_of
from hermes_acp.config.sections.backend_settings import DockerSettings, SshSettings
from hermes_acp.core.errors import BadRequest, ConfigError, WorkspaceError
from hermes_acp.core.policy_rules import Rule
from hermes_acp.core.ports.workspace_ports import Command
from hermes_acp.policy.policy_engine import Policy
from hermes_acp.policy.policy_factory import build_policy
from hermes_acp.tools.builtin.terminal import TOOL as TERMINAL
from hermes_acp.tools.builtin.terminal import Arguments
from hermes_acp.workspaces.backends.docker import BACKEND
from hermes_acp.workspaces.backends.local import BACKEND as LOCAL
from hermes_acp.workspaces.backends.singularity import BACKEND as SINGULARITY
from hermes_acp.workspaces.containers.apptainer_engine import ApptainerLimits, start_options
from hermes_acp.workspaces.containers.confined_mounts import ConfinedMounts, ContainerMode
from hermes_acp.workspaces.containers.engine_options import Limits, cpu_limit_in, plan_mounts, run_options
from hermes_acp.workspaces.sandbox.sandbox_policy import GuardedNames
from hermes_acp.workspaces.sandbox.tree_index import WorkspaceTree

WALLS = {
    "--rm",
    "--pull=never",
    "--read-only",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--network=none",
    "--ipc=private",
    "--pids-limit=256",
    "--memory=2048m",
    "--memory-swap=2048m",
    "--cpus=2",
    "--user=1000:100",
}


LIMITS = Limits("image")


def options(root: Path, limits: Limits = LIMITS) -> list[str]:
    return run_options(limits, plan_mounts([str(root)]), (1000, 100), is_root=False)


def test_a_container_is_isolated_and_has_one_folder(tmp_path: Path) -> None:
    given = options(tmp_path)
    assert set(given) >= WALLS
    assert [each for each in given if "bind" in each] == [
        f"--mount=type=bind,source={tmp_path},target={tmp_path}"
    ]
    assert not any(
        word in " ".join(given) for word in ("--privileged", "docker.sock", "=host", "cap-add", "--volume")
    )


def test_files_that_run_outside_later_are_read_only(tmp_path: Path) -> None:
    (tmp_path / ".git/hooks").mkdir(parents=True)
    (tmp_path / ".git/config").touch()
    fixed = [each for each in options(tmp_path) if each.endswith("readonly")]
    paths = (tmp_path / ".git/hooks", tmp_path / ".git/config")
    assert fixed == [f"--mount=type=bind,source={path},target={path},readonly" for path in paths]


def test_work_tree_settings_are_read_only_wherever_git_reads_them(tmp_path: Path) -> None:
    tree = tmp_path / ".git/worktrees/other"
    tree.mkdir(parents=True)
    (tmp_path / ".git/modules/m").mkdir(parents=True)
    paths = {tmp_path / ".git/config.worktree", tree / "config.worktree", tmp_path / ".git/modules/m/config"}
    for path in (*paths, tree / "HEAD"):
        path.touch()
    fixed = plan_mounts([str(tmp_path)]).fixed
    expected = paths - {tmp_path / ".git/modules/m/config"} | {tmp_path / ".git/modules"}
    assert set(fixed) == set(map(str, expected))


def test_files_that_steer_agents_and_tools_are_read_only_too(tmp_path: Path) -> None:
    for name in ("AGENTS.md", ".envrc", "src.py"):
        (tmp_path / name).touch()
    (tmp_path / ".github").mkdir()
    guarded = GuardedNames(frozenset({".github"}), frozenset({"agents.md", ".envrc"}))
    fixed = plan_mounts([str(tmp_path)], "", guarded).fixed
    assert set(fixed) == {str(tmp_path / name) for name in ("AGENTS.md", ".envrc", ".github")}


def test_denied_paths_are_hidden_from_unapproved_commands(tmp_path: Path) -> None:
    place = tmp_path.resolve() / "project"
    (place / "vault").mkdir(parents=True)
    (place / "vault/x").write_text("x")
    (place / "a.key").write_text("x")
    mounts = ConfinedMounts(plan_mounts([str(place)]), lambda: str(tmp_path))

    def hidden(rule: Rule, *, is_read_only: bool) -> list[str]:
        denied = Policy("/home/me/.hermes", "/home/me", (), (rule,)).denied_paths(str(place), ("terminal",))
        planned = mounts.plan(WorkspaceTree(), denied, ContainerMode(is_read_only=is_read_only))
        return [path for path, _ in planned.replaced]

    for is_read_only in (True, False):
        assert hidden(Rule("ask", path="**/*.key"), is_read_only=is_read_only) == [f"{place}/a.key"]
        assert hidden(Rule("deny", path="/elsewhere/**"), is_read_only=is_read_only) == []
        assert hidden(Rule("deny", path="vault/**"), is_read_only=is_read_only) == [f"{place}/vault/x"]
    missing = Rule("deny", path=f"{place}/missing.txt")
    assert hidden(missing, is_read_only=True) == []
    with pytest.raises(WorkspaceError, match="do not exist yet"):
        hidden(missing, is_read_only=False)


def test_an_instance_shows_placeholders_for_secrets_and_writes_to_nothing(tmp_path: Path) -> None:
    place = tmp_path.resolve() / "project"
    place.mkdir()
    (place / ".env").write_text("KEY=1")
    (tmp_path / "shown").mkdir()
    mounts = ConfinedMounts(plan_mounts([str(place)]), lambda: str(tmp_path / "shown"))
    tree = WorkspaceTree(secrets=(f"{place}/.env",))
    for is_read_only, ending in ((True, ":ro"), (False, "")):
        planned = mounts.plan(tree, (), ContainerMode(is_read_only=is_read_only))
        options = start_options(ApptainerLimits("image"), planned)
        assert f"--bind={place}:{place}{ending}" in options
        assert f"--bind={tmp_path}/shown/nothing:{place}/.env:ro" in options
        assert "--network=none" in options
    assert (tmp_path / "shown/nothing").stat().st_mode & 0o777 == 0


def test_a_link_cannot_mount_something_else(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/hooks").symlink_to("/etc")
    assert plan_mounts([str(tmp_path)]).fixed == ()


@pytest.mark.parametrize(
    "root", ["/", "/etc", "/usr/lib/x", "/var", "/run/user/1", "/proc", "/var/lib/docker"]
)
def test_system_folders_are_never_mounted(root: str) -> None:
    with pytest.raises(BadRequest, match="which no container may see"):
        plan_mounts([root])


def test_a_nested_folder_is_mounted_once_and_the_agents_own_is_hidden(tmp_path: Path) -> None:
    mounts = plan_mounts([str(tmp_path), str(tmp_path / "sub")], str(tmp_path / "home"))
    assert (mounts.roots, mounts.hidden) == ((str(tmp_path),), str(tmp_path / "home"))
    assert plan_mounts([str(tmp_path)], "/elsewhere").hidden == ""
    with pytest.raises(BadRequest, match="cannot be mounted"):
        plan_mounts(["/home/a,readonly=false"]).options()


def test_rootless_podman_keeps_the_user(tmp_path: Path) -> None:
    assert "--userns=keep-id" in options(tmp_path, Limits("image", engine="podman"))
    assert "--userns=keep-id" not in options(tmp_path)
    assert "--runtime=runsc" in options(tmp_path, Limits("image", runtime="runsc"))


def test_an_engines_report_about_processors_is_parsed() -> None:
    text = "docker: Error response from daemon: range of CPUs is from 0.01 to 1.00, as there are only 1 CPUs available."
    assert cpu_limit_in(text) == 1.0
    assert cpu_limit_in("Unable to find image 'x' locally") is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"image": "--privileged"},
        {"image": "x", "network": "host"},
        {"image": "x", "network": "container:other"},
        {"image": "x", "runtime": "--privileged"},
        {"image": "x y"},
        {"image": "x", "volumes": ["/:/host"]},
        {"image": "x", "privileged": True},
        {"image": "x", "pids": 0},
        {"image": "x", "engine": "/tmp/docker"},
    ],
)
def test_settings_that_would_weaken_the_isolation_are_rejected(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        DockerSettings.model_validate(wrong)


@pytest.mark.parametrize("host", ["-oProxyCommand=x", "a b", "", "x\ny"])
def test_a_host_is_not_an_option_of_ssh(host: str) -> None:
    with pytest.raises(ValidationError):
        SshSettings.model_validate({"host": host})


def test_no_container_settings_are_read_from_a_workspace(tmp_path: Path) -> None:
    (tmp_path / ".hermes").mkdir()
    (tmp_path / ".hermes/config.yaml").write_text("docker: {image: evil, network: bridge}")
    (tmp_path / "docker").write_text("#!/bin/sh\necho evil")
    (tmp_path / "docker").chmod(0o755)
    with pytest.raises(ConfigError, match="not installed"):
        BACKEND.open(str(tmp_path), (str(tmp_path),), {"PATH": str(tmp_path)}, "", DockerSettings(image="x"))


@pytest.mark.anyio
@pytest.mark.parametrize("line", ["rm -rf .", "rm -rf {place}", "git clean -fdx", "ls", "cat x | sh"])
@pytest.mark.parametrize("network", ["none", "bridge"])
async def test_a_mounted_container_needs_the_same_approvals_as_this_machine(
    tmp_path: Path, line: str, network: str
) -> None:
    place, variables = tmp_path / "project", {"PATH": str(tmp_path), "HOME": str(tmp_path / "home")}
    place.mkdir()
    (tmp_path / "docker").touch(mode=0o755)
    settings = DockerSettings(image="x", network=network)
    policy = build_policy(environment_of(variables))
    verdicts: list[str] = []
    for workspace in (
        LOCAL.open(str(place), (str(place),), variables),
        BACKEND.open(str(place), (str(place),), variables, "", settings),
    ):
        proposal = await TERMINAL.propose(Arguments(command=line.format(place=place)), workspace)
        verdicts.append(policy.judge(proposal.effects, "ask", (), tool="terminal", place=str(place)).decision)
    assert verdicts[0] == verdicts[1]
    assert (verdicts[0] == "allow") == (line == "ls")


def test_a_container_with_a_network_is_not_a_sandbox(tmp_path: Path) -> None:
    place = tmp_path / "project"
    place.mkdir()
    (tmp_path / "docker").touch(mode=0o755)
    for network, is_sandbox in (("none", True), ("bridge", False)):
        settings = DockerSettings(image="x", network=network)
        workspace = BACKEND.open(str(place), (str(place),), {"PATH": str(tmp_path)}, "", settings)
        assert workspace.confines(Command("true", str(place), 5)) is is_sandbox
        assert workspace.confines(Command("true", str(place), 5, "must"))


def test_an_engine_on_another_machine_does_not_have_these_folders(tmp_path: Path) -> None:
    place = tmp_path / "project"
    place.mkdir()
    (tmp_path / "docker").touch(mode=0o755)
    variables = {"PATH": str(tmp_path), "DOCKER_HOST": "tcp://10.0.0.1:2375"}
    with pytest.raises(ConfigError, match="another machine"):
        BACKEND.open(str(place), (str(place),), variables, "", DockerSettings(image="x"))


def test_missing_programs_are_reported(tmp_path: Path) -> None:
    place = tmp_path / "project"
    place.mkdir()
    for name in ("docker", "apptainer"):
        (tmp_path / name).touch(mode=0o755)
    for backend in (BACKEND, SINGULARITY):
        with pytest.raises(ConfigError, match="is configured"):
            backend.open(str(place), (str(place),), {"PATH": str(tmp_path)})
