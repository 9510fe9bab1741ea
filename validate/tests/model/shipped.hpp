// SPDX-License-Identifier: Apache-2.0
// Files config.json with the fields that Hugging Face's have, as several versions of transformers wrote them.
#pragma once

#include "fixture.hpp"

namespace assay {

struct Shipped {
  const char* name;
  const char* family;
  std::int64_t hidden, heads, kv_heads, head_dim, ffn, positions;
  double rotary_dim, rope_base;
  bool tied, scaled;
  const char* config;
};

inline const Shipped kShipped[] = {
    {"Llama 2 7B", "llama", 4096, 32, 32, 128, 11008, 4096, 128, 10000, false, false, R"({
      "_name_or_path": "meta-llama/Llama-2-7b-hf", "architectures": ["LlamaForCausalLM"], "bos_token_id": 1, "eos_token_id": 2,
      "hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02, "intermediate_size": 11008,
      "max_position_embeddings": 4096, "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 32,
      "num_key_value_heads": 32, "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_scaling": null,
      "tie_word_embeddings": false, "torch_dtype": "float16", "transformers_version": "4.31.0.dev0", "use_cache": true,
      "vocab_size": 32000})"},
    {"Llama 3.1 8B", "llama", 4096, 32, 8, 128, 14336, 131072, 128, 500000, false, true, R"({
      "architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 128000,
      "eos_token_id": [128001, 128008, 128009], "hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02,
      "intermediate_size": 14336, "max_position_embeddings": 131072, "mlp_bias": false, "model_type": "llama",
      "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "pretraining_tp": 1,
      "rms_norm_eps": 1e-05, "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
      "original_max_position_embeddings": 8192, "rope_type": "llama3"}, "rope_theta": 500000.0,
      "tie_word_embeddings": false, "torch_dtype": "bfloat16", "transformers_version": "4.43.0.dev0", "use_cache": true,
      "vocab_size": 128256})"},
    {"Llama 3.2 1B, saved by transformers 5", "llama", 2048, 32, 8, 64, 8192, 131072, 64, 500000, true, true, R"({
      "architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 128000,
      "dtype": "bfloat16", "eos_token_id": 128001, "head_dim": 64, "hidden_act": "silu", "hidden_size": 2048,
      "initializer_range": 0.02, "intermediate_size": 8192, "max_position_embeddings": 131072, "mlp_bias": false,
      "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 16, "num_key_value_heads": 8,
      "pad_token_id": null, "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_parameters": {"factor": 32.0,
      "high_freq_factor": 4.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 8192, "rope_theta": 500000.0,
      "rope_type": "llama3"}, "tie_word_embeddings": true, "transformers_version": "5.0.0", "use_cache": true,
      "vocab_size": 128256})"},
    {"SmolLM2 135M", "llama", 576, 9, 3, 64, 1536, 8192, 64, 100000, true, false, R"({
      "architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 0,
      "eos_token_id": 0, "hidden_act": "silu", "hidden_size": 576, "initializer_range": 0.041666666666666664,
      "intermediate_size": 1536, "is_llama_config": true, "max_position_embeddings": 8192, "model_type": "llama",
      "num_attention_heads": 9, "num_hidden_layers": 30, "num_key_value_heads": 3, "pretraining_tp": 1,
      "rms_norm_eps": 1e-05, "rope_interleaved": false, "rope_scaling": null, "rope_theta": 100000,
      "tie_word_embeddings": true, "torch_dtype": "bfloat16", "transformers_version": "4.40.1", "use_cache": true,
      "vocab_size": 49152})"},
    {"GPT-2", "gpt2", 768, 12, 12, 64, 3072, 1024, 0, 10000, true, false, R"({
      "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1, "bos_token_id": 50256,
      "embd_pdrop": 0.1, "eos_token_id": 50256, "initializer_range": 0.02, "layer_norm_epsilon": 1e-05,
      "model_type": "gpt2", "n_ctx": 1024, "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024,
      "resid_pdrop": 0.1, "summary_activation": null, "summary_first_dropout": 0.1, "summary_proj_to_labels": true,
      "summary_type": "cls_index", "summary_use_proj": true,
      "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}}, "vocab_size": 50257})"},
    {"DistilGPT-2", "gpt2", 768, 12, 12, 64, 3072, 1024, 0, 10000, true, false, R"({
      "_num_labels": 1, "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1,
      "bos_token_id": 50256, "embd_pdrop": 0.1, "eos_token_id": 50256, "id2label": {"0": "LABEL_0"},
      "initializer_range": 0.02, "label2id": {"LABEL_0": 0}, "layer_norm_epsilon": 1e-05, "model_type": "gpt2",
      "n_ctx": 1024, "n_embd": 768, "n_head": 12, "n_inner": null, "n_layer": 6, "n_positions": 1024,
      "n_special": 0, "predict_special_tokens": true, "reorder_and_upcast_attn": false, "resid_pdrop": 0.1,
      "scale_attn_by_inverse_layer_idx": false, "scale_attn_weights": true, "summary_activation": null,
      "summary_first_dropout": 0.1, "summary_proj_to_labels": true, "summary_type": "cls_index",
      "summary_use_proj": true, "transformers_version": "4.20.0.dev0", "use_cache": true, "vocab_size": 50257})"},
    {"Pythia 2.8B", "gpt_neox", 2560, 32, 32, 80, 10240, 2048, 20, 10000, false, false, R"({
      "architectures": ["GPTNeoXForCausalLM"], "bos_token_id": 0, "eos_token_id": 0, "hidden_act": "gelu",
      "hidden_size": 2560, "initializer_range": 0.02, "intermediate_size": 10240, "layer_norm_eps": 1e-05,
      "max_position_embeddings": 2048, "model_type": "gpt_neox", "num_attention_heads": 32, "num_hidden_layers": 32,
      "rotary_emb_base": 10000, "rotary_pct": 0.25, "tie_word_embeddings": false, "torch_dtype": "float16",
      "transformers_version": "4.24.0", "use_cache": true, "use_parallel_residual": true, "vocab_size": 50304})"},
    {"GPT-NeoX 20B", "gpt_neox", 6144, 64, 64, 96, 24576, 2048, 24, 10000, false, false, R"({
      "architectures": ["GPTNeoXForCausalLM"], "attention_probs_dropout_prob": 0, "bos_token_id": 0, "eos_token_id": 0,
      "hidden_act": "gelu_fast", "hidden_dropout_prob": 0, "hidden_size": 6144, "initializer_range": 0.02,
      "intermediate_size": 24576, "layer_norm_eps": 1e-05, "max_position_embeddings": 2048, "model_type": "gpt_neox",
      "num_attention_heads": 64, "num_hidden_layers": 44, "rotary_emb_base": 10000, "rotary_pct": 0.25,
      "tie_word_embeddings": false, "torch_dtype": "float16", "transformers_version": "4.19.0.dev0", "use_cache": true,
      "vocab_size": 50432})"},
    {"Pythia 70M, saved by transformers 4.50", "gpt_neox", 512, 8, 8, 64, 2048, 2048, 16, 10000, false, false, R"({
      "architectures": ["GPTNeoXForCausalLM"], "attention_bias": true, "attention_dropout": 0.0, "bos_token_id": 0,
      "classifier_dropout": 0.1, "eos_token_id": 0, "hidden_act": "gelu", "hidden_dropout": 0.0, "hidden_size": 512,
      "initializer_range": 0.02, "intermediate_size": 2048, "layer_norm_eps": 1e-05, "max_position_embeddings": 2048,
      "model_type": "gpt_neox", "num_attention_heads": 8, "num_hidden_layers": 6, "partial_rotary_factor": 0.25,
      "rope_scaling": null, "rope_theta": 10000, "rotary_emb_base": 10000, "rotary_pct": 0.25,
      "tie_word_embeddings": false, "torch_dtype": "float16", "transformers_version": "4.50.0", "use_cache": true,
      "use_parallel_residual": true, "vocab_size": 50304})"},
};

}  // namespace assay
