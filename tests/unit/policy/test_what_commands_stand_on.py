"""Readers that are asked about where the workspace has a say in what they do, or in which files they get."""

from pathlib import Path

import pytest

from hermes_acp.core.proposals import Runs
from hermes_acp.policy.rules import Policy
from hermes_acp.policy.verdicts import Verdict

POLICY = Policy("/home/me/.hermes", "/home/me", ("/usr/bin", "/bin"))


def judge(command: str, cwd: Path) -> Verdict:
    return POLICY.judge([Runs(command, str(cwd), (str(cwd),))], "ask", ())


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("mvn --version", ".mvn/jvm.config"),
        ("gradle --version", "gradle.properties"),
        ("dotnet --info", "global.json"),
        ("rustc --version --verbose", "rust-toolchain.toml"),
        ("cargo locate-project", ".cargo/config.toml"),
        ("python3 -m json.tool a.txt", "json.py"),
        ("python3 -m json.tool a.txt", "argparse/__init__.py"),
        ("python3 -m pip list", "pip/__main__.py"),
        ("go list -mod=vendor ./...", "go.work"),
        ("go doc net/http.Client", "go.mod"),
        ("npm ls", ".npmrc"),
        ("npm config get prefix", ".npmrc"),
        ("gradle --version", "gradle/gradle-daemon-jvm.properties"),
    ],
)
def test_a_file_of_the_workspace_decides_what_a_reader_does(command: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("{}")
    assert judge(command, tmp_path).decision == "allow"
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("")
    assert judge(command, tmp_path).decision == "ask"


@pytest.mark.parametrize("name", ["a b.py", "-o.py", "it's.py", 'a".py', "back\\slash.py", "new\nline.py"])
def test_a_name_that_may_become_several_words_is_not_handed_on(name: str, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_text("")
    command = "find src -type f -name '*.py' | xargs wc -l"
    assert judge(command, tmp_path).decision == "allow"
    (tmp_path / "src" / name).write_text("")
    assert judge(command, tmp_path).decision == "ask"
    assert judge(command.replace("| xargs", "-print0 | xargs -0"), tmp_path).decision == "allow"
    assert judge("git ls-files -z | xargs -0 wc -l", tmp_path).decision == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "find . -name '*.txt' -exec cat {} +",
        "find . -name '*.txt' | xargs cat",
        "git ls-files '*.txt' | xargs cat",
        "fd -e txt | xargs cat",
    ],
)
def test_a_link_to_elsewhere_is_seen_where_files_are_handed_on(command: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("")
    assert judge(command, tmp_path).decision == "allow"
    (tmp_path / "b.txt").symlink_to("/etc/shadow")
    assert "/etc/shadow" in judge(command, tmp_path).why


def test_what_surely_finds_no_links_is_not_held_up_by_one(tmp_path: Path) -> None:
    (tmp_path / "b.txt").symlink_to("/etc/shadow")
    for command in ("find . -type f -name '*.txt' | xargs cat", "rg -l one | xargs cat"):
        assert judge(command, tmp_path).decision == "allow"


def test_a_question_says_how_to_do_without_it(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("KEY=hunter2\n")
    place = tmp_path / ".env"
    assert judge("grep -rn one .", tmp_path).why == (
        f"{place} usually holds secrets; --exclude=.env passes it over"
    )
    assert judge("rg -u one", tmp_path).why == f"{place} usually holds secrets; '--glob=!.env' passes it over"
    assert judge("grep -rn one . --exclude=.env", tmp_path).decision == "allow"
    assert judge("rg --hidden one '--glob=!.env'", tmp_path).decision == "allow"
    assert judge("cat .env", tmp_path).why == f"{place} usually holds secrets"


def test_a_certificate_shows_no_key_and_a_folder_of_keys_stays_shut(tmp_path: Path) -> None:
    assert judge("openssl x509 -in cert.pem -noout -text", tmp_path).decision == "allow"
    assert judge("openssl x509 -in ~/.ssh/cert.pem -noout -text", tmp_path).decision == "ask"
    assert judge("cat cert.pem", tmp_path).decision == "ask"


def test_reasons_are_given_once_and_in_plain_words(tmp_path: Path) -> None:
    assert judge("find . -name '*.py' | xargs rm", tmp_path).why.count("rm deletes files") == 1
    assert judge("rm a.txt", tmp_path).why == f"rm deletes files; {tmp_path}/a.txt would be deleted"


def test_a_document_may_be_handed_on_to_one_reader(tmp_path: Path) -> None:
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
def test_what_was_allowed_for_good_goes_by_no_other_files_later(
    tmp_path: Path, allowed: str, later: str
) -> None:
    (tmp_path / "src").mkdir()
    policy = Policy("/nowhere/hermes", "/home/anna", ("/usr/bin", "/bin"))
    place = str(tmp_path.resolve())
    grants = policy.grants_for([Runs(allowed, place, (place,))], allowed=True)
    assert policy.judge([Runs(allowed, place, (place,))], "ask", grants, tool="terminal").decision == "allow"
    assert policy.judge([Runs(later, place, (place,))], "ask", grants, tool="terminal").decision == "ask"
