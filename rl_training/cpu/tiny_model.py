# pyright: basic, reportMissingImports=false
"""A tiny Qwen3: random weights, a tokenizer trained on given texts, a short chat template.

It shows that everything around a model works. It is no useful model.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

TEMPLATE = Path(__file__).parent / "chat_template.jinja"
PAD, START, END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
MARKS = (
    '<tool_call>\n{"name": "', '", "arguments": {"', '"}}\n</tool_call>', '}}\n</tool_call>',
    "<tool_call>", "</tool_call>", '{"', '": "', '": ', '", "', ', "', '"}', "<think>", "</think>",
)  # fmt: skip
"""Parts of tool calls and results that are one token each, so that a call takes few tokens."""
WORDS = "[A-Za-z_]+|[0-9]|\n| |[^A-Za-z0-9_ \n]+"


@dataclass(frozen=True)
class Size:
    """The size of a model."""

    vocabulary: int = 384
    hidden: int = 64
    layers: int = 2
    heads: int = 4
    positions: int = 1024


def make_model(folder: Path, texts: Iterable[str], *, size: Size, seed: int) -> int:
    """Write a model with random weights and its tokenizer into a folder, in Hugging Face's format.

    Returns the number of parameters.
    """
    tokenizer = make_tokenizer(texts, size.vocabulary)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    model = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(tokenizer),
            hidden_size=size.hidden,
            intermediate_size=4 * size.hidden,
            num_hidden_layers=size.layers,
            num_attention_heads=size.heads,
            num_key_value_heads=size.heads,
            head_dim=size.hidden // size.heads,
            max_position_embeddings=size.positions,
            tie_word_embeddings=True,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.save_pretrained(folder)
    return sum(parameter.numel() for parameter in model.parameters())


def make_tokenizer(texts: Iterable[str], vocabulary: int) -> PreTrainedTokenizerFast:
    """Byte-pair encoding over the words of some texts. A word is the same token everywhere, and so is a digit."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(WORDS), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=vocabulary,
            special_tokens=[PAD, START, END],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    tokenizer.add_tokens(list(MARKS))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=END,
        pad_token=PAD,
        chat_template=TEMPLATE.read_text(encoding="utf-8"),
        clean_up_tokenization_spaces=False,
    )
