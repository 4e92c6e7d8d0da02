"""The files of a batch: prompts are checked as a whole, results are whole lines."""

import json
from pathlib import Path

import pytest

from hermes_acp.core.errors import BadRequest, Busy
from hermes_acp.core.ports.run_ports import RunBudget
from hermes_acp.runs.batches.batch_lines import LineDefaults, read_lines
from hermes_acp.runs.batches.batch_results import LineResult, ResultsFile, latest, read_results
from hermes_acp.runs.batches.batch_store import Batch, BatchStore, default_batch_id


def written(folder: Path, *lines: str) -> Path:
    file = folder / "prompts.jsonl"
    file.write_text("\n".join(lines))
    return file


def test_a_line_is_completed_with_the_defaults_and_keeps_its_own_values(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    own = {"id": "a", "prompt": "x", "workspace": "sub", "mode": "plan", "budget": {"max_cost_usd": 1}}
    file = written(tmp_path, json.dumps(own), "", '{"id": "b", "prompt": "y"}')
    first, second = read_lines(file, LineDefaults(tmp_path, "auto", "m"))
    assert (first.workspace, first.mode, first.model) == (str(tmp_path / "sub"), "plan", "m")
    assert first.budget == RunBudget(max_cost_usd=1.0)
    assert (second.workspace, second.mode) == (str(tmp_path), "auto")
    (again, _) = read_lines(file, LineDefaults(tmp_path, "auto", "m"))
    (other, _) = read_lines(file, LineDefaults(tmp_path, "auto", "other"))
    assert first.digest() == again.digest() != other.digest()


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ('{"id": "a b", "prompt": "x"}', "id 'a b' is not valid"),
        ('{"prompt": "x"}', "id is missing"),
        ('{"id": "a", "prompt": " "}', "prompt is empty"),
        ('{"id": "a", "prompt": "x", "budget": {"tokens": 1}}', "budget.tokens is not a known field"),
        ('{"id": "a", "prompt": "x", "budget": {"max_steps": 0}}', "budget.max_steps must be a positive number, not 0"),
        ('{"id": "a", "prompt": 3}', "prompt must be a text, not a whole number"),
        ('{"id": "a", "prompt": "x", "mode": "yolo"}', "mode 'yolo' is not one of ask,"),
        ('{"id": "a", "prompt": "x", "priority": 9}', "priority 9 is not valid"),
        ("{", "not valid JSON"),
        ("[]", "the line must be an object, not a list"),
    ],
)  # fmt: skip
def test_an_error_names_the_line_and_the_field(tmp_path: Path, line: str, error: str) -> None:
    file = written(tmp_path, '{"id": "ok", "prompt": "x"}', line)
    with pytest.raises(BadRequest) as caught:
        read_lines(file, LineDefaults(tmp_path))
    assert f"line 2: {error}" in caught.value.message


def test_a_torn_line_is_cut_and_the_file_belongs_to_one_process(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    with ResultsFile(file) as results:
        results.append(LineResult(id="a", status="failed"))
        results.append(LineResult(id="a", attempt=2, status="done"))
        with pytest.raises(Busy):
            ResultsFile(file)
    whole = file.read_bytes()
    file.write_bytes(whole + b'{"id": "b", "sta')
    assert [each.id for each in read_results(file)] == ["a", "a"]
    with ResultsFile(file) as results:
        assert latest(results.results)["a"].status == "done"
        assert file.read_bytes() == whole


def test_an_unrelated_file_is_not_touched(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("my notes\nmore")
    with pytest.raises(BadRequest, match="line 1"):
        ResultsFile(file)
    assert file.read_text() == "my notes\nmore"


def test_a_batch_is_found_by_its_prompts_and_names_its_process(tmp_path: Path) -> None:
    prompts = tmp_path / "my prompts.jsonl"
    store = BatchStore(tmp_path)
    batch = Batch(default_batch_id(prompts), str(prompts), "out", 1.0, {"a": "d"})
    store.save(batch)
    assert store.find(str(prompts)) == store.find(batch.id) == batch
    assert store.list() == [batch]
    assert not store.is_locked(batch.id)
    lock = store.lock(batch.id)
    assert lock
    assert store.is_locked(batch.id)
    with pytest.raises(BadRequest, match="no batch 'other'"):
        store.find("other")
