"""Training files: what they may contain, where they may be, and what their digest covers."""

from pathlib import Path

import pytest

from hermes_acp.core.errors import BadRequest, ConfigError
from hermes_acp.training.training_plan import confirmed_digest, read_plan

GOOD = "trainer: trl\ndata: d.jsonl\nlocked: {base_model: m, learning_rate: 0.001}\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "training").mkdir()
    write(tmp_path, GOOD)
    return tmp_path


def write(home: Path, text: str, name: str = "demo") -> Path:
    path = home / "training" / f"{name}.yaml"
    path.write_text(text)
    path.chmod(0o600)
    return path


def digest(home: Path, data: str = "0" * 64) -> str:
    return confirmed_digest(read_plan(home, "demo").plan, data)


def test_a_file_is_found_by_its_name_and_its_path(home: Path) -> None:
    path = home / "training" / "demo.yaml"
    for named in ("demo", "demo.yaml", str(path)):
        found = read_plan(home, named)
        assert (found.name, found.path, found.run) == ("demo", path, home / "training" / "runs" / "demo")


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        (f"{GOOD}lern: 1\n", "`lern` is not a setting"),
        (GOOD.replace("0.001", "0"), "`locked.learning_rate` must be more than 0"),
        (GOOD.replace(", learning_rate: 0.001", ""), "`locked.learning_rate` is missing"),
        (f"{GOOD}method: rl\n", "`method` must be 'sft' or 'dpo'"),
        (f"{GOOD}learning_rate: 1\n", "`learning_rate` is not a setting"),
        ("x: [", "demo.yaml"),
    ],
)
def test_mistakes_are_named(home: Path, text: str, reported: str) -> None:
    write(home, text)
    with pytest.raises(ConfigError) as caught:
        read_plan(home, "demo")
    assert reported in caught.value.message


def test_files_elsewhere_are_rejected(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(GOOD)
    with pytest.raises(BadRequest, match="is not in"):
        read_plan(home, str(other))
    (home / "training" / "link.yaml").symlink_to(other)
    with pytest.raises(Exception, match=r"link\.yaml"):
        read_plan(home, "link")
    with pytest.raises(BadRequest, match="There is no"):
        read_plan(home, "missing")
    write(home, GOOD, "Big Name")
    with pytest.raises(BadRequest, match="is not a name"):
        read_plan(home, "Big Name")


def test_a_file_that_others_may_write_is_rejected(home: Path) -> None:
    write(home, GOOD).chmod(0o666)
    with pytest.raises(BadRequest, match="Others may write"):
        read_plan(home, "demo")


def test_the_digest_covers_exactly_what_determines_the_model(home: Path) -> None:
    first = digest(home)
    same = [f"{GOOD}epochs: 3\n", f"{GOOD}batch_size: 2\ncheckpoint_every: 9\nseed: 4\n"]
    for text in same:
        write(home, text)
        assert digest(home) == first
    changed = [
        GOOD.replace("0.001", "0.002"),
        GOOD.replace("base_model: m", "base_model: n"),
        GOOD.replace("0.001", "0.001, lora_rank: 8"),
        GOOD.replace("0.001", "0.001, max_length: 99"),
        GOOD.replace("0.001", "0.001, tokenizer: t"),
        GOOD.replace("0.001", "0.001, rollout_address: http://x"),
        GOOD.replace("trl", "tinker"),
        f"{GOOD}method: dpo\n",
    ]
    write(home, GOOD)
    found = {first, digest(home, "1" * 64)}
    for text in changed:
        write(home, text)
        found.add(digest(home))
    assert len(found) == len(changed) + 2


def test_the_digest_covers_the_files_of_a_models_folder(home: Path) -> None:
    model = home / "model"
    model.mkdir()
    (model / "tokenizer.json").write_text("{}")
    write(home, GOOD.replace("base_model: m", f"base_model: {model}"))
    first = digest(home)
    (model / "tokenizer.json").write_text("[]")
    assert digest(home) != first
