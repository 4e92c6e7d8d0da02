"""Train adapters on the machines of the Tinker service, through its own library.

The adapter remains at the service; a local file records its path. This module is only imported in the trainer's
process. Source: the documentation of the `tinker` package ("ServiceClient", "TrainingClient").
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import msgspec

from hermes_acp.core.errors import TrainingError
from hermes_acp.training.conversation_tokens import IGNORED, LabelledTokens, labelled_tokens
from hermes_acp.training.trainer_port import TrainingInput, TrainingMonitor

STATE_FILE: Final = "tinker.json"
"""The file, in a checkpoint's or an adapter's folder, with the path of the weights that the service stored."""
KEY_VARIABLE: Final = "TINKER_API_KEY"
LOSS: Final = "cross_entropy"


class TinkerTrainer:
    """Trains with the service that `rollout_address` names, by default the vendor's own."""

    extra = "tinker"
    modules = ("tinker", "transformers")
    methods = ("sft",)
    variables = (KEY_VARIABLE, "HF_HOME", "HF_TOKEN")

    def train(self, given: TrainingInput, monitor: TrainingMonitor) -> bool:
        """Train and record where the service stores the adapter; return whether training is finished."""
        tinker: Any = import_module("tinker")
        try:
            with tinker.ServiceClient(
                base_url=given.job.locked.rollout_address or None, api_key=given.variables.get(KEY_VARIABLE)
            ) as service:
                return _train(tinker, service, given, monitor)
        except tinker.TinkerError as error:
            raise TrainingError(
                f"The service failed: {error}",
                hint="Start the training again to continue from its last checkpoint.",
            ) from error


def _train(tinker: Any, service: Any, given: TrainingInput, monitor: TrainingMonitor) -> bool:
    schedule, locked = given.job.schedule, given.job.locked
    data = _data(tinker, given)
    total = schedule.max_steps or schedule.epochs * -(-len(data) // schedule.batch_size)
    if given.resume_from is not None:
        client = service.create_training_client_from_state_with_optimizer(_stored(given.resume_from)).result()
    else:
        client = service.create_lora_training_client(
            base_model=locked.base_model, rank=locked.lora_rank, seed=schedule.seed
        ).result()
    step = given.resume_step
    for batch in _batches(data, schedule.batch_size, schedule.seed, step, total):
        computed = client.forward_backward([each for each, _ in batch], LOSS)
        stepped = client.optim_step(tinker.AdamParams(learning_rate=locked.learning_rate))
        result = computed.result()
        stepped.result()
        step += 1
        monitor.report(step, total, _mean_loss(result.metrics, sum(learned for _, learned in batch)))
        is_last, is_asked = step == total, monitor.should_stop()
        if step % schedule.checkpoint_every == 0 or is_last or is_asked:
            saved = client.save_state(f"{given.job.name}-{step}", overwrite=True).result()
            _store(monitor.checkpoint_folder(step), saved.path)
            monitor.checkpoint_written(step)
        if is_asked and not is_last:
            return False
    sampler = client.save_weights_for_sampler(given.job.name).result()
    _store(given.output, sampler.path)
    return True


def _data(tinker: Any, given: TrainingInput) -> list[tuple[Any, int]]:
    """Return the records in the service's format, each with the number of tokens to learn from."""
    transformers: Any = import_module("transformers")
    locked = given.job.locked
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(locked.tokenizer or locked.base_model)
    except (OSError, ValueError) as error:
        raise TrainingError(
            f"The tokenizer cannot be loaded: {str(error).splitlines()[0]}", hint="Correct `tokenizer`."
        ) from error
    found = [labelled_tokens(tokenizer, record, locked.max_length) for record in given.records]
    shifted = [(_datum(tinker, each), each.learned) for each in found if each.learned]
    if not shifted:
        raise TrainingError("No record has an answer within max_length.", hint="Use a larger max_length.")
    return shifted


def _datum(tinker: Any, tokens: LabelledTokens) -> Any:
    """Return a datum whose target at each position is the next token; ignored tokens have zero weight."""
    weights = [0.0 if label == IGNORED else 1.0 for label in tokens.labels[1:]]
    return tinker.Datum(
        model_input=tinker.ModelInput.from_ints(tokens.input_ids[:-1]),
        loss_fn_inputs={
            "target_tokens": tinker.TensorData(
                data=tokens.input_ids[1:], dtype="int64", shape=[len(tokens.input_ids) - 1]
            ),
            "weights": tinker.TensorData(data=weights, dtype="float32", shape=[len(weights)]),
        },
    )


def _batches(
    data: Sequence[tuple[Any, int]], size: int, seed: int, first: int, total: int
) -> Iterator[list[tuple[Any, int]]]:
    """Yield the batches of the steps from `first` on.

    The order follows from the seed, so a resumed run has the same batches.
    """
    per_epoch = -(-len(data) // size)
    for step in range(first, total):
        epoch, place = divmod(step, per_epoch)
        order = list(range(len(data)))
        random.Random(f"{seed}:{epoch}").shuffle(order)
        yield [data[number] for number in order[place * size : (place + 1) * size]]


def _mean_loss(metrics: Mapping[str, float], learned: int) -> float | None:
    total = metrics.get("loss:sum")
    return None if total is None else total / max(1, learned)


def _store(folder: Path, path: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / STATE_FILE).write_bytes(msgspec.json.encode({"path": path}) + b"\n")


def _stored(folder: Path) -> str:
    try:
        return str(msgspec.json.decode((folder / STATE_FILE).read_bytes(), type=dict[str, str])["path"])
    except (OSError, msgspec.DecodeError, KeyError) as error:
        raise TrainingError(
            f"The checkpoint {folder} is damaged.", hint="Remove it, and start again."
        ) from error


TRAINER: Final = TinkerTrainer()
