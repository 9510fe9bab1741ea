// SPDX-License-Identifier: Apache-2.0
// Tests the text of a declaration of numerics.
#include "validate/problem/numerics_text.hpp"

#include <set>

#include "catch_shim.hpp"

using namespace assay;

TEST_CASE("numerics text: accumulate and chain, and what is not at its default", "[numerics]") {
  CHECK(text_of(Numerics{}) == "accumulate=f32 chain=1");
  CHECK(text_of({.accumulate = f16, .chain = {.lanes = 32, .extra = 5}, .rounds_weights = true}) ==
        "accumulate=f16 chain=32+5 rounds_weights");
  CHECK(text_of({.factors = {.precision = 11}, .mma_terms = 8, .quotient_error = 2.2}) ==
        "accumulate=f32 chain=1 factors=tf32 mma_terms=8 quotient_error=2.2");
  CHECK(text_of({.factors = {.precision = 8, .pieces = 2, .products = 3}, .rescales = {.lanes = 64}}) ==
        "accumulate=f32 chain=1 factors=bf16*2:3 rescales=64");
}

TEST_CASE("numerics text: every field has a word of its own, with a meaning and code", "[numerics]") {
  const Numerics changed[] = {{.accumulate = bf16},
                              {.chain = {.lanes = 2}},
                              {.factors = {.precision = 8}},
                              {.stores_intermediate = true},
                              {.stores_every_step = true},
                              {.mma_terms = 8},
                              {.narrow_probabilities = true},
                              {.scaled_gradients = true},
                              {.cancelling_gelu = true},
                              {.rounds_weights = true},
                              {.function_error = 5},
                              {.exponent_error = 1},
                              {.quotient_error = 2},
                              {.root_error = 2},
                              {.tanh_sigmoid = true},
                              {.fused_exponent = true},
                              {.folded_affine = true},
                              {.running_moments = true},
                              {.flushes_subnormals = true},
                              {.flushes_storage = true},
                              {.angle_error = 1},
                              {.reduced_angle_error = 1},
                              {.rounds_rotated = true},
                              {.rescales = {.lanes = 1}},
                              {.of_output = [](const void*, int) { return Numerics{}; }}};
  std::set<std::string> texts{text_of(Numerics{})};
  for (const Numerics& n : changed) CHECK(texts.insert(text_of(n)).second);
  CHECK(std::size(changed) == numerics_words().size());
  for (const NumericsWord& w : numerics_words()) CHECK((!w.meaning.empty() && !w.code.empty()));
}
