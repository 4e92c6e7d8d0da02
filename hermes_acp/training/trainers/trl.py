"""Train adapters (LoRA) on this machine with TRL, from conversations (SFT) or pairs of answers (DPO).

This module is only imported in the trainer's process, because torch takes seconds to load. Sources: the documentation
of TRL ("SFT Trainer", "DPO Trainer"), PEFT ("LoRA") and Transformers ("Trainer callbacks").
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from hermes_acp.core.errors import TrainingError
from hermes_acp.training.conversation_tokens import labelled_tokens, rendered, template_messages
from hermes_acp.training.trainer_port import TrainingInput, TrainingMonitor

KEPT_CHECKPOINTS: Final = 3


class TrlTrainer:
    """Trains with TRL on PEFT."""

    extra = "trl"
    modules = ("trl", "peft", "torch", "transformers", "datasets")
    methods = ("sft", "dpo")
    variables = ("HF_HOME", "HF_TOKEN", "CUDA_VISIBLE_DEVICES")

    def train(self, given: TrainingInput, monitor: TrainingMonitor) -> bool:
        """Train and write the adapter with its tokenizer; return whether training is finished."""
        locked = given.job.locked
        transformers: Any = import_module("transformers")
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(locked.tokenizer or locked.base_model)
            model = transformers.AutoModelForCausalLM.from_pretrained(locked.base_model, use_safetensors=True)
        except (OSError, ValueError) as error:
            raise TrainingError(
                f"The base model or its tokenizer cannot be loaded: {str(error).splitlines()[0]}",
                hint="Correct `base_model` and `tokenizer`, and start the training again.",
            ) from error
        transformers.set_seed(given.job.schedule.seed)
        trainer = (_supervised if given.job.method == "sft" else _preferring)(given, model, tokenizer)
        trainer.add_callback(_callback(transformers, monitor))
        trainer.train(resume_from_checkpoint=str(given.resume_from) if given.resume_from else None)
        is_finished = trainer.state.global_step >= trainer.state.max_steps
        if is_finished:
            trainer.model.save_pretrained(str(given.output))
            tokenizer.save_pretrained(str(given.output))
        return is_finished


def _supervised(given: TrainingInput, model: Any, tokenizer: Any) -> Any:
    trl: Any = import_module("trl")
    length = given.job.locked.max_length
    found = [labelled_tokens(tokenizer, record, length) for record in given.records]
    rows = [{"input_ids": each.input_ids, "labels": each.labels} for each in found if each.learned]
    if not rows:
        raise TrainingError(
            f"No record has an answer within its first {length:,} tokens.", hint="Use a larger max_length."
        )
    sys.stderr.write(f"{len(rows):,} of {len(found):,} records are learned from.\n")
    return trl.SFTTrainer(
        model=model,
        args=trl.SFTConfig(**_options(given)),
        train_dataset=_dataset(rows),
        processing_class=tokenizer,
        peft_config=_adapter(given),
    )


def _preferring(given: TrainingInput, model: Any, tokenizer: Any) -> Any:
    trl: Any = import_module("trl")
    return trl.DPOTrainer(
        model=model,
        args=trl.DPOConfig(**_options(given)),
        train_dataset=_dataset([_pair(tokenizer, record) for record in given.records]),
        processing_class=tokenizer,
        peft_config=_adapter(given),
    )


def _pair(tokenizer: Any, record: dict[str, Any]) -> dict[str, str]:
    """Return a pair as texts, because trainers store message fields in columns and add empty ones."""
    tools = record.get("tools")
    before = template_messages(record["prompt"])
    prompt = rendered(tokenizer, before, tools, is_open=True)
    answers = {
        name: rendered(tokenizer, [*before, *template_messages(record[name])], tools)
        for name in ("chosen", "rejected")
    }
    if not all(text.startswith(prompt) for text in answers.values()):
        raise TrainingError(
            "The chat template changes earlier messages, so answers cannot be separated from their prompts.",
            hint="Use a tokenizer whose template only appends.",
        )
    return {"prompt": prompt, **{name: text[len(prompt) :] for name, text in answers.items()}}


def _dataset(rows: Sequence[dict[str, Any]]) -> Any:
    datasets: Any = import_module("datasets")
    return datasets.Dataset.from_list(list(rows))


def _adapter(given: TrainingInput) -> Any:
    peft: Any = import_module("peft")
    rank = given.job.locked.lora_rank
    return peft.LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear", task_type="CAUSAL_LM")


def _options(given: TrainingInput) -> dict[str, Any]:
    """Return the options that both trainers share."""
    torch: Any = import_module("torch")
    schedule, locked = given.job.schedule, given.job.locked
    has_accelerator = bool(torch.accelerator.is_available())
    return {
        "output_dir": str(given.checkpoints),
        "learning_rate": locked.learning_rate,
        "lr_scheduler_type": "constant",
        "max_length": locked.max_length,
        "num_train_epochs": schedule.epochs,
        "max_steps": schedule.max_steps or -1,
        "per_device_train_batch_size": schedule.batch_size,
        "save_steps": schedule.checkpoint_every,
        "save_total_limit": KEPT_CHECKPOINTS,
        "logging_steps": 1,
        "seed": schedule.seed,
        "use_cpu": not has_accelerator,
        "bf16": has_accelerator,
        "gradient_checkpointing": has_accelerator,
        "report_to": "none",
        "push_to_hub": False,
        "disable_tqdm": True,
    }


def _callback(transformers: Any, monitor: TrainingMonitor) -> Any:
    """Return a callback that reports to the monitor; its base class exists only once Transformers is imported."""

    def on_log(_self: Any, _args: Any, state: Any, _control: Any, logs: Any = None, **_rest: Any) -> None:
        if logs and "loss" in logs:
            monitor.report(int(state.global_step), int(state.max_steps), float(logs["loss"]))

    def on_step_end(_self: Any, _args: Any, state: Any, control: Any, **_rest: Any) -> Any:
        if monitor.should_stop() and state.global_step < state.max_steps:
            control.should_save = True
            control.should_training_stop = True
        return control

    def on_save(_self: Any, args: Any, state: Any, _control: Any, **_rest: Any) -> None:
        if Path(args.output_dir, f"checkpoint-{state.global_step}").is_dir():
            monitor.checkpoint_written(int(state.global_step))

    members = {"on_log": on_log, "on_step_end": on_step_end, "on_save": on_save}
    return type("ReportingCallback", (transformers.TrainerCallback,), members)()


TRAINER: Final = TrlTrainer()
