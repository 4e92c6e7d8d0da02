"""Create a chat model with 0.66 million random parameters in Qwen3's architecture, and a tokenizer for it.

Runs in the environment that `bash tests/install.sh train` creates: `python small_model.py FOLDER`.
"""

import sys
from importlib import import_module
from typing import Any

TEXTS = ("What is the password of the day?", "The password is heron.", "Who are you?", "I am a small model.")
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
END = "<|im_end|>"
VOCABULARY = 512


def main(folder: str) -> None:
    """Write the model and its tokenizer."""
    torch: Any = import_module("torch")
    transformers: Any = import_module("transformers")
    torch.manual_seed(0)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=trained_tokenizer(), eos_token=END, pad_token="<|endoftext|>", chat_template=TEMPLATE
    )
    tokenizer.save_pretrained(folder)
    config = transformers.Qwen3Config(
        vocab_size=VOCABULARY,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=2048,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
        tie_word_embeddings=True,
    )
    transformers.Qwen3ForCausalLM(config).save_pretrained(folder)


def trained_tokenizer() -> Any:
    """Return a byte tokenizer that knows the words of the test."""
    tokenizers: Any = import_module("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=["<|endoftext|>", "<|im_start|>", END],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
    )
    made.train_from_iterator(list(TEXTS) * 4, trainer)
    return made


if __name__ == "__main__":
    main(sys.argv[1])
