"""Users' rules: deny takes precedence over ask, ask over allow; an allow rule covers no more than it says."""

from pathlib import Path

import pytest

from hermes_acp.core.event_types import Mode
from hermes_acp.core.policy_rules import AccessKind, Decision, Rule
from hermes_acp.core.proposals import Calls, Deletes, Effect, Presses, Reaches, Reads, Runs, Writes
from hermes_acp.policy.policy_engine import Policy

HOME = "/home/me/.hermes"


def policy_with(*rules: Rule) -> Policy:
    return Policy(HOME, "/home/me", ("/usr/bin", "/bin"), rules)


def command(decision: Decision, *words: str, tool: str = "") -> Rule:
    return Rule(decision, tool=tool, command=words, source="line 1")


def path(decision: Decision, glob: str, access: AccessKind = "any", *, is_users: bool = True) -> Rule:
    return Rule(decision, path=glob, access=access, source="line 1", is_users=is_users)


def judge(policy: Policy, effect: Effect, mode: Mode = "ask", tool: str = "") -> Decision:
    return policy.judge([effect], mode, (), tool=tool, place="/w").decision


def run(policy: Policy, text: str, cwd: str, mode: Mode = "ask") -> Decision:
    return policy.judge(
        [Runs(text, cwd, (cwd,), confined=True)], mode, (), tool="terminal", place=cwd
    ).decision


BEYOND = {
    "git": (
        "git -c core.fsmonitor='sh -c x' status",
        "git fetch --upload-pack='touch x' origin",
        "git fetch --upload-p='touch x' origin",
        "git grep -Ovi x",
        "git log --output=x",
        "git -c alias.x=!sh x",
        "git clone ext::sh",
        "git rebase -x make main",
        "git submodule foreach make",
        "git config core.pager x",
        "git push; rm x",
        "git push > ~/.bashrc",
        "GIT_SSH_COMMAND=x git push",
        "git push $REMOTE",
        "sudo git push",
        "./git push",
    ),
    "find": tuple(
        f"find . {flag} x"
        for flag in ("-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprintf", "-fls")
    ),
    "sed": (
        "sed '1e id' a", "sed 'w out' a", "sed -i s/a/b/ x", "sed -f script x", "sed s/a/b/e x", "sed -nf x y",
        "sed --in-pl s/a/b/ x",
    ),
    "tar": ("tar --checkpoint-action=exec=sh -cf a b", "tar -I sh -cf a b", "tar xf a", "tar cf a --to-comm=x"),
    "zip": ("zip a b -T -TT 'sh -c x'", "zip a b -T --unzip-command=x"),
    "sort": ("sort --compress-program=sh a", "sort -o x a", "sort --out=x a"),
    "xargs": ("xargs rm", "xargs -n1 ./x"),
    "awk": ("awk 'BEGIN{system(\"id\")}'", "awk -f x y"),
    "env": ("env ./x", "env make"),
    "man": ("man -P 'sh -c x' ls", "man --pager=x ls", "man -Hx ls"),
    "less": ("less '+!id' x", "less -o x y", "less --log-file=x y"),
    "split": ("split --filter='sh -c x' a",),
    "rsync": ("rsync -e 'sh -c x' a b", "rsync --rsh=x a b", "rsync -avPe x a b"),
    "ssh": ("ssh -oProxyCommand=x host", "ssh -F x host"),
    "ls": ("ls; x", "ls && x", "ls | x", "ls & x", "ls\nx", "ls\r\nx", "ls #\nx", "PATH=./evil:$PATH ls"),
    "echo": ("echo x > ~/.bashrc", "echo x >| ../y", "echo x &> ../y", "echo x >> .git/config", "> ../x echo y",
             "echo x | tee ../y", "echo $(x)", "BASH_ENV=x echo y"),
    "npm": ("npm --script-shell=x test", "npm exec x", "npm config set x y"),
    "make": ("make -f other", "make SHELL=x", "make --eval=x"),
    "docker": ("docker run --privileged x",),
    "python3": ("python3 x.py; rm y", "X=1 python3 x.py"),
}  # fmt: skip


@pytest.mark.parametrize("program", BEYOND)
def test_an_allowed_program_may_not_do_everything(program: str, tmp_path: Path) -> None:
    policy = policy_with(command("allow", program))
    for text in BEYOND[program]:
        assert run(policy, text, str(tmp_path)) != "allow", text


def test_usual_allow_rules_allow_the_usual_commands(tmp_path: Path) -> None:
    cwd = str(tmp_path)
    for words, text in (
        (("git",), "git push -u origin main"),
        (("git", "commit"), "git commit -m 'a message'"),
        (("npm", "run"), "npm run build"),
        (("make",), "make all"),
        (("docker", "compose", "up"), "docker compose up -d"),
        (("uv", "run", "pytest"), "uv run pytest -q && ls"),
        (("python3",), "python3 manage.py migrate"),
    ):
        policy = policy_with(command("allow", *words))
        assert run(policy, text, cwd) == "allow", text
        assert run(Policy(HOME), text, cwd) == "ask", text
    assert run(policy_with(command("allow", "git", "commit")), "git push", cwd) == "ask"


@pytest.mark.parametrize("count", [0, 1, 49, 50, 51, 500, 3_000])
def test_a_denied_program_is_denied_in_commands_of_any_length(count: int, tmp_path: Path) -> None:
    policy = policy_with(command("deny", "curl"), command("allow", "curl"))
    assert run(policy, "true && " * count + "curl x", str(tmp_path), "auto") == "deny"
    assert run(policy, "true; " * count + "curl x", str(tmp_path), "bypass") == "deny"


HIDDEN = (
    "/usr/bin/curl x", "c''url x", "\\curl x", "env curl x", "env -i A=1 curl x", "xargs curl", "sh -c 'curl x'",
    "find . -exec curl {} ;", "echo $(curl x)", "timeout 5 curl x", "nohup curl x &", "sudo -u a curl x",
    "if true; then curl x; fi", "for a in b; do curl x; done", "echo x | curl -T - y", "cat <(curl x)",
    "f() { curl x; }; f", "busybox curl x", "eval curl x", "bash <<< 'curl x'", "X=1 curl x", "curl -T a b > c",
)  # fmt: skip


@pytest.mark.parametrize("text", HIDDEN)
def test_a_denied_program_is_found_wherever_it_is_hidden(text: str, tmp_path: Path) -> None:
    assert run(policy_with(command("deny", "curl")), text, str(tmp_path)) == "deny"


def test_deny_takes_precedence_over_ask_and_ask_over_allow(tmp_path: Path) -> None:
    cwd = str(tmp_path)
    rules = [command("allow", "make"), command("ask", "make", "deploy"), command("deny", "make", "wipe")]
    for order in (rules, rules[::-1]):
        policy = policy_with(*order)
        assert [run(policy, f"make {goal}", cwd) for goal in ("all", "deploy", "wipe")] == [
            "allow",
            "ask",
            "deny",
        ]
        assert run(policy, "make all && make wipe", cwd) == "deny"
        assert run(policy, "make -j4 wipe", cwd) == "deny"
        assert run(policy, "make deploy", cwd, "auto") == "ask"
        assert run(policy, "make deploy", cwd, "bypass") == "ask"


def test_no_rule_allows_what_is_never_allowed(tmp_path: Path) -> None:
    policy = policy_with(
        command("allow", "rm"), command("allow", "dd"), path("allow", "/**"), command("allow", "sudo")
    )
    for text in ("rm -rf /", "rm -rf ~", "dd if=x of=/dev/sda", f"echo x > {HOME}/config.yaml"):
        assert run(policy, text, str(tmp_path)) == "deny"
    assert run(policy, "sudo ls", str(tmp_path)) == "ask"
    assert judge(policy, Writes(f"{HOME}/config.yaml")) == "deny"
    assert judge(policy, Reads(f"{HOME}/.env")) == "deny"


def test_globs_of_paths() -> None:
    policy = policy_with(path("allow", "docs/**", "write"), path("deny", "vault/"), path("ask", "*.lock"))
    assert judge(policy, Writes("/w/docs/a/b.md")) == "allow"
    assert judge(policy, Writes("/w/docs.md")) == "ask"
    assert judge(policy, Writes("/other/docs/a.md")) == "ask"
    for denied in ("/w/vault", "/w/vault/a", "/w/VAULT/a/b"):
        assert judge(policy, Reads(denied)) == "deny"
        assert judge(policy, Writes(denied), "bypass") == "deny"
    assert judge(policy, Reads("/w/a/b/uv.lock")) == "ask"
    assert judge(policy, Writes("/w/uv.lock"), "accept_edits") == "ask"
    assert judge(policy, Writes("/w/docs/a.md"), "plan") == "deny"
    assert judge(policy, Deletes("/w/docs/a.md")) == "allow"
    assert judge(policy_with(path("allow", "docs/*")), Writes("/w/docs/a/b.md")) == "ask"
    assert judge(policy_with(path("allow", "~/notes/**")), Writes("/home/me/notes/x")) == "allow"
    assert judge(policy_with(path("allow", "**/x?[0-9].txt")), Writes("/w/a/xa7.txt")) == "allow"


def test_commands_respect_the_rules_for_paths(tmp_path: Path) -> None:
    cwd = str(tmp_path)
    policy = policy_with(path("deny", "vault/**"), path("allow", "out/**"))
    assert run(policy, "cat vault/key", cwd) == "deny"
    assert run(policy, "cat < vault/key", cwd) == "deny"
    assert run(policy, "echo x > out/a.txt", cwd) == "allow"
    assert run(policy, "echo x > a.txt", cwd) == "ask"


def test_a_glob_does_not_allow_sensitive_files_unless_it_names_them() -> None:
    wide = policy_with(path("allow", "**"))
    for effect in (Writes("/w/.git/hooks/x"), Writes("/w/AGENTS.md"), Reads("/w/.env"), Writes("/w/.env")):
        assert judge(wide, effect) == "ask"
    assert (
        judge(policy_with(path("allow", ".github/workflows/**")), Writes("/w/.github/workflows/a.yml"))
        == "allow"
    )
    assert judge(policy_with(path("allow", ".env", "read")), Reads("/w/.env")) == "allow"
    theirs = policy_with(
        path("allow", ".github/workflows/**", is_users=False), path("allow", "src/**", is_users=False)
    )
    assert judge(theirs, Writes("/w/.github/workflows/a.yml")) == "ask"
    assert judge(theirs, Writes("/w/src/a.py")) == "allow"


def test_an_upload_needs_a_rule_for_the_tool_and_keys_need_approval_even_then() -> None:
    upload = Presses(sends_text=True, uploads="/w/a", host="a.example")
    assert judge(policy_with(Rule("allow", host="a.example")), upload, "auto", tool="browser") == "ask"
    allowing = policy_with(Rule("allow", tool="browser"))
    assert judge(allowing, upload, tool="browser") == "allow"
    assert judge(allowing, Reads("/w/.env"), tool="browser") == "ask"
    assert judge(policy_with(Rule("deny", tool="browser")), upload, "bypass", tool="browser") == "deny"


def test_rules_for_hosts_and_tools(tmp_path: Path) -> None:
    policy = policy_with(
        Rule("allow", host="*.docs.example"),
        Rule("deny", host="evil.example"),
        Rule("allow", tool="tracker__read_*"),
        Rule("deny", tool="browser"),
        Rule("ask", tool="glob"),
        Rule("allow", tool="write_file", path="out/**"),
        Rule("allow", tool="terminal"),
    )
    assert judge(policy, Reaches("a.docs.example", "https://a.docs.example/")) == "allow"
    assert judge(policy, Reaches("other.example", "https://other.example/")) == "ask"
    assert judge(policy, Reaches("EVIL.example", "https://evil.example/"), "bypass") == "deny"
    assert run(policy, "curl https://evil.example/x", str(tmp_path), "bypass") == "deny"
    assert judge(policy, Calls("tracker", "read_all"), tool="tracker__read_all") == "allow"
    assert judge(policy, Calls("tracker", "drop"), tool="tracker__drop") == "ask"
    assert policy.judge([], "auto", (), tool="browser", place="/w").decision == "deny"
    assert policy.judge([], "auto", (), tool="glob", place="/w").decision == "ask"
    assert judge(policy, Writes("/w/out/a"), tool="write_file") == "allow"
    assert judge(policy, Writes("/w/out/a"), tool="edit_file") == "ask"
    assert run(policy, "make", str(tmp_path)) == "ask"


def test_a_rule_says_where_it_is_defined(tmp_path: Path) -> None:
    policy = policy_with(Rule("deny", command=("curl",), source="line 7 of config.yaml"))
    verdict, steps = policy.judge_steps(
        Runs("ls; curl x", str(tmp_path), (str(tmp_path),), confined=True), "ask", ()
    )
    assert "line 7 of config.yaml" in verdict.why
    assert [judged.rule.source if judged.rule else "" for judged in steps] == ["", "line 7 of config.yaml"]
