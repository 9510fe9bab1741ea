// SPDX-License-Identifier: Apache-2.0
// Tests the text of a declaration of numerics.
#include "validate/problem/numerics_text.hpp"

#include <set>

#include "catch_shim.hpp"
#include "validate/base/error.hpp"
#include "validate/problem/op.hpp"

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

TEST_CASE("numerics text: every kernel's declaration is read as it was written", "[numerics]") {
  for (const Kernel& k : kernels()) {
    if (k.numerics.of_output) continue;
    CAPTURE(k.op, k.name);
    CHECK(numerics_from(text_of(k.numerics)) == k.numerics);
  }
  CHECK(numerics_from("") == Numerics{});
  CHECK(numerics_from("  rounds_weights   chain=32+5 ") == Numerics{.chain = {.lanes = 32, .extra = 5}, .rounds_weights = true});
  CHECK(numerics_from("factors=bf16*2:3 mma_terms=8 quotient_error=2.2 accumulate=bf16") ==
        Numerics{
            .accumulate = bf16, .factors = {.precision = 8, .pieces = 2, .products = 3}, .mma_terms = 8, .quotient_error = 2.2});
}

TEST_CASE("numerics text: what is no declaration is refused", "[numerics]") {
  for (const char* text : {"chian=32",
                           "chain",
                           "chain=",
                           "chain=0",
                           "chain=-1",
                           "chain=32+",
                           "chain=32+-1",
                           "chain=3x",
                           "chain=99999999999999999999",
                           "accumulate=i32",
                           "accumulate=f8",
                           "factors=tf33",
                           "factors=bits",
                           "factors=99bits",
                           "factors=tf32*2",
                           "factors=tf32*:3",
                           "factors=tf32*2:9",
                           "function_error=nan",
                           "function_error=inf",
                           "function_error=-1",
                           "function_error=1e999",
                           "mma_terms=1.5",
                           "rounds_weights=no",
                           "rounds_weights=",
                           "chain=1 chain=2",
                           "of_output",
                           "=",
                           "accumulate=f32,chain=1"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(numerics_from(text), BadInput);
  }
}
