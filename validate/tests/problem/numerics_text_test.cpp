// SPDX-License-Identifier: Apache-2.0
// Tests the text of a declaration of numerics.
#include "validate/problem/numerics/numerics_text.hpp"

#include <set>

#include "catch_shim.hpp"
#include "validate/base/error.hpp"
#include "validate/problem/op.hpp"

using namespace assay;

TEST_CASE("numerics text: accumulate and chain, and what is not at its default", "[numerics]") {
  CHECK(text_of(Numerics{}) == "accumulate=f32 chain=1");
  CHECK(text_of({.accumulate = f16, .chain = {.lanes = 32, .extra = 5}, .stores = "p,h:bf16", .ways = "folded"}) ==
        "accumulate=f16 chain=32+5 stores=p,h:bf16 ways=folded");
  CHECK(text_of({.factors = {.precision = 11}, .mma_terms = 8, .quotient_error = 2.2}) ==
        "accumulate=f32 chain=1 factors=tf32 mma_terms=8 quotient_error=2.2");
  CHECK(text_of({.factors = {.precision = 8, .pieces = 2, .products = 3}, .rescales = {.lanes = 64}}) ==
        "accumulate=f32 chain=1 factors=bf16*2:3 rescales=64");
}

TEST_CASE("numerics text: every field has a word of its own, with a meaning and code", "[numerics]") {
  const Numerics changed[] = {{.accumulate = bf16},
                              {.chain = {.lanes = 2}},
                              {.factors = {.precision = 8}},
                              {.mma_terms = 8},
                              {.stores = "z"},
                              {.ways = "folded"},
                              {.cancelling_gelu = true},
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
    CHECK(numerics_from(text_of(k.numerics), k.op) == k.numerics);
  }
  CHECK(numerics_from("") == Numerics{});
  CHECK(numerics_from("  stores=p,weights:f16   chain=32+5 ") ==
        Numerics{.chain = {.lanes = 32, .extra = 5}, .stores = "p,weights:f16"});
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
                           "stores",
                           "stores=",
                           "stores=z,",
                           "stores=,z",
                           "stores=z,z:f16",
                           "stores=all,z",
                           "stores=Z",
                           "stores=z:",
                           "stores=z:i32",
                           "stores=z:f16:f16",
                           "ways=folded:f16",
                           "fused_exponent=no",
                           "fused_exponent=",
                           "chain=1 chain=2",
                           "of_output",
                           "=",
                           "accumulate=f32,chain=1"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(numerics_from(text), BadInput);
  }
}

TEST_CASE("numerics text: a step or a way that the op's formula does not have is refused, with what it has", "[numerics]") {
  CHECK_THROWS_WITH(numerics_from("stores=scorse", "attention_scores"),
                    "numerics: unknown step 'scorse'. Did you mean 'scores'?  (validate describe attention_scores)");
  CHECK_THROWS_AS(numerics_from("stores=scores,zz", "attention_scores"), BadInput);
  CHECK_THROWS_AS(numerics_from("ways=folded", "attention_scores"), BadInput);
  CHECK_THROWS_AS(numerics_from("stores=z", "add"), BadInput);
  CHECK_THROWS_AS(numerics_from("ways=all", "layernorm_linear"), BadInput);
  CHECK(numerics_from("stores=all", "add").stores == "all");
  CHECK(numerics_from("stores=pivoted,scaled_weight ways=folded", "layernorm_linear").ways == "folded");
  CHECK(numerics_from("stores=z", "").stores == "z");
}

TEST_CASE("numerics text: words of older texts are read as the steps that they stored", "[numerics]") {
  const auto read = [](const char* op, const char* text) {
    const Numerics n = numerics_from(text, op);
    return std::string(n.stores) + (n.ways.empty() ? "" : " " + std::string(n.ways));
  };
  CHECK(read("attention_forward", "narrow_probabilities rounds_rotated") == "exps,rotated");
  CHECK(read("attention_forward", "stores_intermediate mma_terms=8 narrow_probabilities") == "scores,weights");
  CHECK(read("attention_backward", "narrow_probabilities") == "p_of_dv,ds");
  CHECK(read("attention_backward", "narrow_probabilities scaled_gradients") == "p_of_dv,scaled_ds");
  CHECK(read("attention_backward", "stores_intermediate narrow_probabilities") == "p,ds");
  CHECK(read("layernorm_linear", "rounds_weights") == "pivoted,scaled_weight folded");
  CHECK(read("gemm_swiglu", "stores_intermediate stores_every_step") == "gate,up,s");
  CHECK(read("add", "narrow_probabilities") == "");
  CHECK(read("of_a_stranger", "stores_intermediate") == "all");
  CHECK(numerics_from("stores_intermediate chain=4 quotient_error=2", "linear") ==
        Numerics{.chain = {.lanes = 4}, .stores = "before_bias", .quotient_error = 2});
}
