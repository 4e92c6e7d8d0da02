"""Files that commands depend on: how a question describes them, and when a permanent answer expires."""

from pathlib import Path

import pytest

from hermes_acp.core.proposals import Runs, Writes
from hermes_acp.policy.grants import confinement_note, describe_grants
from hermes_acp.policy.policy_engine import Policy
from hermes_acp.policy.verdicts import Verdict

POLICY = Policy("/home/me/.hermes", "/home/me", ("/usr/bin", "/bin"))


def judge(command: str, cwd: Path) -> Verdict:
    return POLICY.judge([Runs(command, str(cwd), (str(cwd),), confined=True)], "ask", ())


def test_a_certificate_exposes_no_key_and_a_folder_of_keys_stays_closed(tmp_path: Path) -> None:
    assert judge("openssl x509 -in cert.pem -noout -text", tmp_path).decision == "allow"
    assert judge("openssl x509 -in ~/.ssh/cert.pem -noout -text", tmp_path).decision == "ask"
    assert judge("cat cert.pem", tmp_path).decision == "ask"


def test_reasons_are_given_once_and_in_plain_words(tmp_path: Path) -> None:
    assert judge("find . -name '*.py' | xargs rm", tmp_path).why.count("rm deletes files") == 1
    assert judge("rm a.txt", tmp_path).why == f"rm deletes files; {tmp_path}/a.txt would be deleted"


def test_a_document_may_be_passed_to_a_program_that_only_reads(tmp_path: Path) -> None:
    assert judge("cat <<EOF | wc -w\none two\nEOF", tmp_path).decision == "allow"
    assert judge("cat <<EOF | sh\nid\nEOF", tmp_path).decision == "ask"
    assert judge("cat <<EOF | wc -w\n$(id)\nEOF", tmp_path).decision == "ask"
    assert judge("cat <<EOF | tee x\none\nEOF", tmp_path).decision == "ask"
    assert judge("cat <<EOF | wc -w; id > x\none\nEOF", tmp_path).decision == "ask"


@pytest.mark.parametrize(
    ("allowed", "later"),
    [
        ("make test", "make test -f other.mk"), ("make test", "make test -C src"), ("make test", "make test SHELL=./x"),
        ("npm test", "npm test --prefix src"), ("npm test", "npm test --script-shell=./x"),
        ("npm test", "npm test -C src"),
        ("pnpm test", "pnpm test --dir src"), ("yarn test", "yarn test --cwd src"), ("pytest", "pytest -c other.ini"),
        ("pytest", "pytest -p other"), ("pytest", "pytest --rootdir=src"), ("tox", "tox -c other.ini"),
        ("cargo test", "cargo test --manifest-path src/Cargo.toml"), ("cargo test", "cargo test --config other.toml"),
        ("nox", "nox -f other.py"), ("eslint src", "eslint -c other.js src"),
        ("eslint src", "eslint --rulesdir src src"),
        ("jest", "jest --config other.json"), ("jest", "jest --globalSetup=./x.js"), ("vitest", "vitest --config x.ts"),
        ("tsc", "tsc -p src"), ("mypy src", "mypy --config-file other.ini src"), ("just test", "just test -f other"),
        ("pylint src", "pylint --load-plugins=other src"), ("ruff check", "ruff check --config other.toml"),
        ("go test", "go test -exec ./x"), ("go test", "go test -toolexec=./x"), ("go vet", "go vet -vettool=./x"),
        ("go build", "go build -o .git/hooks/pre-commit"), ("go test", "go test -coverprofile=.envrc"),
        ("git add", "git add -e"), ("git add", "git add .github/workflows/x.yml"), ("flake8", "flake8 --config=other"),
    ],
)  # fmt: skip
def test_a_permanently_allowed_command_does_not_use_other_files_later(
    tmp_path: Path, allowed: str, later: str
) -> None:
    (tmp_path / "src").mkdir()
    policy = Policy("/nowhere/hermes", "/home/anna", ("/usr/bin", "/bin"))
    place = str(tmp_path.resolve())
    grants = policy.grants_for([Runs(allowed, place, (place,), confined=True)], allowed=True)
    assert (
        policy.judge([Runs(allowed, place, (place,), confined=True)], "ask", grants, tool="terminal").decision
        == "allow"
    )
    assert (
        policy.judge([Runs(later, place, (place,), confined=True)], "ask", grants, tool="terminal").decision
        == "ask"
    )


NAMED_BY_A_SCRIPT = '{"scripts": {"test": "node tools/run.js --all"}, "main": "index.js"}'


@pytest.mark.parametrize(
    ("command", "files", "changed"),
    [
        ("make test", {"Makefile": "include mk/a.mk\ntest: ; true\n", "mk/a.mk": "X = 1\n"}, "mk/a.mk"),
        ("make test", {"Makefile": "-include *.mk\ntest: ; true\n"}, "new.mk"),
        (
            "make test",
            {"Makefile": "include mk/a.mk\n", "mk/a.mk": "include mk/b.mk\n", "mk/b.mk": ""},
            "mk/b.mk",
        ),
        (
            "make test",
            {"Makefile": "test:\n\t./tools/check.sh\n", "tools/check.sh": "true\n"},
            "tools/check.sh",
        ),
        ("npm test", {"package.json": NAMED_BY_A_SCRIPT, "tools/run.js": "1\n"}, "tools/run.js"),
        ("python3 tool.py", {"tool.py": "import helper\n", "helper.py": "x = 1\n"}, "helper.py"),
        ("node tool.js", {"tool.js": 'require("./lib/a")\n', "lib/a.js": "1\n"}, "lib/a.js"),
        ("bash run.sh", {"run.sh": ". ./lib\ntrue\n", "lib": "true\n"}, "lib"),
    ],
)
def test_a_permanent_answer_expires_when_a_file_that_the_command_depends_on_changes(
    tmp_path: Path, command: str, files: dict[str, str], changed: str
) -> None:
    for name, text in {**files, "src/a.py": "one\n", "index.js": "one\n"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    place = str(tmp_path.resolve())
    effect = Runs(command, place, (place,), confined=True)
    grants = POLICY.grants_for([effect], allowed=True)
    (tmp_path / "src/a.py").write_text("what is tested may change\n")
    (tmp_path / "index.js").write_text("what is tested may change\n")
    verdict = POLICY.judge([effect], "ask", grants)
    assert (verdict.decision, verdict.confinement) == ("allow", "must")
    (tmp_path / changed).write_text("rm -rf important\n")
    assert POLICY.judge([effect], "ask", grants).decision == "ask"


def test_the_button_says_that_the_command_runs_in_the_sandbox(tmp_path: Path) -> None:
    grants = POLICY.grants_for([Runs("make test", "/project", ("/project",), confined=True)], allowed=True)
    assert (describe_grants(grants, "/project"), confinement_note(grants)) == (
        "`make test …`",
        ", in the sandbox",
    )
    assert confinement_note(POLICY.grants_for([Writes("/project/a.py")], allowed=True)) == ""
