// SPDX-License-Identifier: Apache-2.0
// Judge hooks of transformer_layer: fills in which every step matters, relations.  (The bounds are those of its steps:
// validate/problem/composite.hpp.)
#include "ops/transformer_layer.hpp"

#include <bit>

#include "validate/cases/case.hpp"
#include "validate/problem/op.hpp"
#include "validate/values/draws.hpp"

namespace assay {

namespace {

using namespace draws;

// 2^-h with h = floor(log2(terms) / 2), for the number of terms in a weight's products.
double unit_scale(const FillSite& s) {
  std::int64_t terms = s.shape.back();
  if (s.tensor == "wo") terms *= s.shape[1];
  // Note: some libraries' bit_width is unsigned, and would be divided as such.
  return random::power_of_two(-(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(terms))) - 1) / 2);
}
bool is_matrix(const FillSite& s) { return s.tensor.starts_with("w"); }
bool is_scale(const FillSite& s) { return s.tensor.starts_with("gamma"); }

// Every step's result is of order one, as in a newly initialised layer.  Biases and betas are half as large.
double unit(const FillSite& s, std::int64_t i) {
  if (s.role == Role::input) return normal(s, i);
  if (is_matrix(s)) return normal(s, i) * unit_scale(s);
  return is_scale(s) ? 1 + normal(s, i) / 4 : normal(s, i) / 2;
}
// Scores of several units: a few keys, different for each query, have most of the weight.
double sharp_scores(const FillSite& s, std::int64_t i) { return unit(s, i) * (s.tensor == "wq" ? 6 : 1); }
// One channel is 100 times larger than the others, as in trained models.
double outlier_channel(const FillSite& s, std::int64_t i) {
  return unit(s, i) * (s.role == Role::input && i % s.shape.back() == s.shape.back() / 3 ? 100 : 1);
}
// The branches are small relative to the residual stream: their errors vanish in y but show in the steps.
double large_stream(const FillSite& s, std::int64_t i) { return unit(s, i) * (s.role == Role::input ? 1024 : 1); }

// The mean square is about epsilon.
double small_stream(const FillSite& s, std::int64_t i) { return unit(s, i) / (s.role == Role::input ? 256 : 1); }

// Gammas are 0, so a norm returns its beta for any token and the rest is small integers: matrices have one 1 per row, biases take
// GELU to where it is the identity or 0.  Attention is exact if a token is alone, else it sums zeros.
double probe_steps(const FillSite& s, std::int64_t i) {
  if (s.role == Role::input) return static_cast<double>(i * 7 % 13 - 6);
  if (is_scale(s)) return 0;
  const bool attends =
      s.tensor == "wq" || s.tensor == "wk" || s.tensor == "wv" || s.tensor == "bq" || s.tensor == "bk" || s.tensor == "bv";
  if (attends && s.dims[Axis::seq_q] != 1) return 0;
  if (s.tensor == "b_up") return static_cast<double>((i % 2 ? -64 : 64) + i % 7);
  if (!is_matrix(s)) return static_cast<double>((i + s.tensor_index) % 7 - 3);
  const std::int64_t terms = s.shape.back() * (s.tensor == "wo" ? s.shape[1] : 1);
  return i % terms == (i / terms * 5 + s.tensor_index) % terms ? 1 : 0;
}

}  // namespace

static Hooks hooks() {
  return {
      .fills = {{.name = "probe_steps", .shows = "a wrong index, bias or residual; exact", .value = probe_steps, .exact = always},
                {.name = "unit", .shows = "a step skipped, repeated or given the wrong tensor", .value = unit, .scattered = true},
                {.name = "sharp_scores",
                 .shows = "a wrong key, head or rotation: few keys have most of the weight",
                 .value = sharp_scores},
                {.name = "outlier_channel", .shows = "a norm or sum with too few bits", .value = outlier_channel},
                {.name = "large_stream", .shows = "a residual that is scaled, or taken after the norm", .value = large_stream},
                {.name = "small_stream", .shows = "a wrong epsilon", .value = small_stream}},
      .relations = {{.name = "batch_permuted",
                     .shows = "a sequence that reads another's tokens",
                     .move = Relation::Move::permuted,
                     .axis = Axis::batch},
                    {.name = "first_seq_q",
                     .shows = "a token that sees later ones: the block is causal as a whole",
                     .move = Relation::Move::first_part,
                     .axis = Axis::seq_q}}};
}

static const LinkedHooks<transformer_layer> linked(hooks);

}  // namespace assay
