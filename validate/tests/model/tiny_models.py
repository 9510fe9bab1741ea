# SPDX-License-Identifier: Apache-2.0
"""Makes the tiny models of validate/tests/model and the logits that Hugging Face's implementations give for them.

    pip install torch transformers==4.36.2 safetensors
    python tiny_models.py validate/tests/model llama llama_biased gpt2 gpt_neox gpt_neox_serial
    pip install transformers==5.24.0
    python tiny_models.py validate/tests/model llama_scaled gpt_neox_scaled

The weights are random.  logits.json holds the logits of the last of IDS, computed in f32 from the weights as they are stored.
"""
import json
import pathlib
import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel, GPTNeoXConfig, GPTNeoXForCausalLM, LlamaConfig, LlamaForCausalLM

IDS = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]


def made(model, config, dtype, **more):
    """A type and a model of it, of these sizes but for what the arguments say."""
    sizes = {"vocab_size": 32, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
    return dtype, model(config(**{**sizes, "max_position_embeddings": 64, **more}))


def llama(dtype, **more):
    return made(LlamaForCausalLM, LlamaConfig, dtype, **{"num_key_value_heads": 1, **more})


def gpt_neox(dtype, **more):
    return made(GPTNeoXForCausalLM, GPTNeoXConfig, dtype, **more)


# Of the four pairs it keeps the frequency of one, divides that of another, and blends those of two.
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
MODELS = {
    "llama": lambda: llama(torch.float32),
    "gpt2": lambda: (torch.float16, GPT2LMHeadModel(GPT2Config(vocab_size=32, n_embd=16, n_layer=2, n_head=2, n_positions=64))),
    "gpt_neox": lambda: gpt_neox(torch.bfloat16, hidden_size=32, intermediate_size=48),
    "llama_biased": lambda: llama(
        torch.bfloat16,
        hidden_size=24,
        num_attention_heads=3,
        num_key_value_heads=3,
        intermediate_size=20,
        attention_bias=True,
        tie_word_embeddings=True,
        rope_theta=500.0,
        rms_norm_eps=1e-3,
    ),
    "gpt_neox_serial": lambda: gpt_neox(torch.float16, rotary_pct=0.5, use_parallel_residual=False, hidden_act="gelu_new"),
    "llama_scaled": lambda: llama(torch.bfloat16, max_position_embeddings=512, rope_theta=100.0, rope_scaling=LLAMA3),
    "gpt_neox_scaled": lambda: gpt_neox(torch.float16, rotary_pct=0.5, rope_scaling={"rope_type": "linear", "factor": 2.5}),
}


def main():
    for name in sys.argv[2:]:
        dtype, model = MODELS[name]()
        generator = torch.Generator().manual_seed(2026)
        with torch.no_grad():
            for p in model.parameters():
                p.copy_(torch.randn(p.shape, generator=generator) * (0.3 if p.dim() > 1 else 0.2) + (p.dim() == 1))
        folder = pathlib.Path(sys.argv[1], name)
        model.eval().to(dtype).save_pretrained(folder, safe_serialization=True, max_shard_size="6KB" if name == "gpt2" else "1MB")
        (folder / "generation_config.json").unlink()
        stored = {name: p.float() for name, p in model.state_dict().items()}
        again = type(model)(model.config).eval()  # Note: the frequencies of rope in `model` were rounded with its weights
        again.load_state_dict(stored)
        with torch.no_grad():
            logits = again(torch.tensor([IDS])).logits[0, -1]
        (folder / "logits.json").write_text(json.dumps({"ids": IDS, "logits": logits.tolist()}) + "\n")
        print(name, sum(p.numel() for p in model.parameters()), "weights; logits", logits[:3].tolist())


main()
