// SPDX-License-Identifier: Apache-2.0
// Outputs that are right for a problem with a usual fault are told to read like that fault, and no others are.
#include <fmt/format.h>

#include <functional>
#include <string>

#include "catch_shim.hpp"
#include "judge/given_fixture.hpp"
#include "validate/judge/judge_given.hpp"
#include "validate/tasks/selection.hpp"

namespace assay {
namespace {

using test::filled, test::holds;

using Change = std::function<double(std::int64_t i, double v)>;

// The file with each element of a tensor, which nobody else has, changed.
TensorFile changed(TensorFile file, std::string_view name, const Change& to) {
  for (FileTensor& t : file.tensors) {
    if (t.name != name) continue;
    std::int64_t n = 1;
    for (const std::int64_t extent : t.shape) n *= extent;
    for (std::int64_t i = 0; i < n; ++i)
      encode(*t.known, const_cast<std::byte*>(t.data.data()), i, to(i, decode(*t.known, t.data.data(), i)));
  }
  return file;
}

TensorFile golden_of(const TensorFile& inputs) { return golden_tensors(given_case(inputs, {}), false); }

Record judged(const TensorFile& inputs, const TensorFile& outputs) {
  const auto both = std::make_shared<Given>(with_outputs(given_case(inputs, {}), outputs));
  return judge_given(both, kernel_elsewhere(*both->op, ""));
}

}  // namespace

TEST_CASE("altered: an input that was left out, taken twice or misread is named", "[judge]") {
  struct {
    std::string line, tensor;
    Change to;
    std::string reads_like;
  } const kinds[] = {
      {"linear f32 tokens=5 hidden=24 out=9 bias=yes", "bias", [](auto, double v) { return 2 * v; }, "`bias` added twice"},
      {"linear f32 tokens=5 hidden=24 out=9 bias=yes", "bias", [](auto, double) { return 0.0; }, "`bias` left out (taken as 0)"},
      {"layernorm_residual f32 rows=5 cols=24", "residual", [](auto, double) { return 0.0; }, "`residual` left out"},
      {"layernorm f32 rows=5 cols=24", "gamma", [](auto, double) { return 1.0; }, "`gamma` left out (taken as 1)"},
      {"rmsnorm f32 rows=5 cols=24", "gamma", [](auto, double v) { return 1 + v; }, "1 + `gamma` in its place"},
      {"linear f32 tokens=5 hidden=100 out=9", "x", [](std::int64_t i, double v) { return i % 100 < 96 ? v : 0; },
       "`x` read only up to hidden 96 of 100"},
      {"embedding f32 tokens=9 hidden=8 vocab=20", "ids", [](auto, double v) { return v > 0 ? v - 1 : v; }, "one less on vocab"},
  };
  for (const auto& [line, tensor, to, reads_like] : kinds) {
    INFO(line << " " << tensor);
    const Record r = judged(filled(line), golden_of(changed(filled(line), tensor, to)));
    CHECK(r.verdict == Verdict::failed);
    INFO(r.reads_like);
    CHECK(holds(r.reads_like, reads_like));
  }
}

TEST_CASE("altered: a number that the kernel took for an attribute is named", "[judge]") {
  const std::string line = "rmsnorm f32 rows=5 cols=24";
  const Record r = judged(filled(line + " epsilon=0.5"), golden_of(filled(line + " epsilon=1e-05")));
  CHECK(holds(r.reads_like, "epsilon=1e-05, where 0.5 is asked"));
  const std::string scores = "attention_forward f32 batch=1 seq_q=5 seq_k=7 heads=2 kv_heads=1 head_dim=16";
  CHECK(holds(judged(filled(scores), golden_of(filled(scores + " scale=1"))).reads_like, "scale=1, where the default is asked"));
  CHECK(holds(judged(filled(scores), golden_of(filled(scores + " scale=0.0625"))).reads_like, "scale=0.0625 (1/head_dim)"));
}

TEST_CASE("altered: heads that take another kv_head are named", "[judge]") {
  const std::string line = "attention_forward f32 batch=1 seq_q=5 seq_k=7 heads=4 kv_heads=4 head_dim=8";
  // Head h of four has the keys and values of kv_head h % 2: so has the golden of four kv_heads, of which the last two are
  // copies.
  const std::string asked = "attention_forward f32 batch=1 seq_q=5 seq_k=7 heads=4 kv_heads=2 head_dim=8";
  const TensorFile inputs = filled(asked);
  TensorFile wide = filled(line);
  for (FileTensor& t : wide.tensors)
    for (const FileTensor& from : inputs.tensors) {
      if (t.name != from.name) continue;
      const bool same = t.shape == from.shape;
      for (std::int64_t i = 0; i < 1 * 7 * 4 * 8 && t.name != "q"; ++i)
        encode(*t.known, const_cast<std::byte*>(t.data.data()), i, decode(*from.known, from.data.data(), i / 32 * 16 + i % 16));
      for (std::int64_t i = 0; i < 1 * 5 * 4 * 8 && t.name == "q" && same; ++i)
        encode(*t.known, const_cast<std::byte*>(t.data.data()), i, decode(*from.known, from.data.data(), i));
    }
  CHECK(holds(judged(inputs, golden_of(wide)).reads_like, "kv_head h mod kv_heads"));
}

TEST_CASE("altered: nothing is named where no usual fault explains the outputs", "[judge]") {
  for (const char* line : {"linear f32 tokens=5 hidden=24 out=9 bias=yes", "layernorm_residual f32 rows=5 cols=24",
                           "attention_forward f32 batch=1 seq_q=5 seq_k=7 heads=2 kv_heads=1 head_dim=16"}) {
    INFO(line);
    const TensorFile inputs = filled(line);
    const std::string output = golden_of(inputs).tensors[0].name;
    const auto noisy = [](std::int64_t i, double v) { return v + 0.01 * static_cast<double>(1 + i * 7919 % 13); };
    const std::string text = judged(inputs, changed(golden_of(inputs), output, noisy)).reads_like;
    INFO(text);
    CHECK_FALSE((holds(text, "`") || holds(text, "asked") || holds(text, "head")));
    // Three elements prove nothing, whatever they equal.
    const TensorFile other = golden_of(changed(inputs, "residual", [](auto, double) { return 0.0; }));
    TensorFile few = golden_of(inputs);
    for (std::int64_t i = 0; i < 3; ++i)
      encode(*few.tensors[0].known, const_cast<std::byte*>(few.tensors[0].data.data()), i,
             decode(*other.tensors[0].known, other.tensors[0].data.data(), i) + 1e-30);
    CHECK_FALSE(holds(judged(inputs, few).reads_like, "`"));
  }
}

}  // namespace assay
