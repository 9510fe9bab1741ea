// SPDX-License-Identifier: Apache-2.0
// The facts of a published model that decide what the ops compute in it, and their names and words in datasets/.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct Model {
  std::string stem;  // file name without extension: "gpt2-124m"
  std::string name{}, source{}, note{};
  std::string dialect = "none";  // the dialect of transformer_layer that its block is; none: its note says why
  std::int64_t hidden = 0, ffn = 0, heads = 0, kv_heads = 0, head_dim = 0;
  std::string norm{};
  double norm_epsilon = 0;
  std::string activation{};
  std::set<std::string> biases{};      // the products that add one, of bias_words()
  std::string rope = "none";           // how channels are paired; none: positions are learned
  std::string scaling{};               // of rope's frequencies; empty: they are those by rope_theta
  double rope_theta = 10000;           // not of none, like rotary_dim
  std::int64_t rotary_dim = 0;         // number of channels that turn
  std::int64_t window = 0;             // 0: none
  double softcap = 0;                  // of attention scores; 0: none
  double query_pre_attn_scalar = 0;    // scores are divided by its root; 0: head_dim
  std::vector<std::int64_t> tokens{};  // token counts in the models suite
  bool smoke = false;                  // whether the smoke suite includes it
};

const std::vector<std::string_view>& bias_words();  // qkv, out, mlp

// What a model of a dialect of transformer_layer has and this one has not; empty: nothing.
std::string missing_of_dialect(const Model&, std::string_view dialect);

// A figure of a model by name, as text: "hidden", "norm_epsilon", "norm", ...; not "tokens", of which a model has several.
std::string figure(const Model&, std::string_view name);
const std::vector<std::string_view>& figure_names();  // "tokens" first
// What a figure may be.  Only counts can be extents.
bool is_count(std::string_view figure_name);
const std::vector<std::string_view>& figure_words(std::string_view figure_name);  // empty: any number

}  // namespace assay
