// SPDX-License-Identifier: Apache-2.0
// What a file says of attributes and axes is taken or refused, in every form in which people write it, and never left out.
#include <algorithm>

#include "catch_shim.hpp"
#include "judge/given_fixture.hpp"
#include "validate/base/error.hpp"
#include "validate/judge/judge_given.hpp"
#include "validate/tasks/given_axes.hpp"
#include "validate/tasks/given_names.hpp"
#include "validate/tasks/selection.hpp"
#include "validate/tests/files/tensor_files.hpp"

namespace assay {
namespace {

using test::holds, test::raw, test::why_not;

const std::string kAttention = "attention_forward f32 batch=2 seq_q=3 seq_k=5 heads=4 kv_heads=2 head_dim=8";

// As captured tensors are: the metadata have the op alone.
TensorFile captured(const std::string& line) {
  TensorFile file = test::filled(line);
  file.metadata = {{"op", file.metadata.at("op")}};
  return file;
}

// The file with one more tensor.
TensorFile with(TensorFile file, const std::string& name, const std::string& dtype, std::optional<DType> known,
                const std::string& data, const std::vector<std::int64_t>& shape = {}) {
  const auto kept = std::make_shared<const std::string>(data);
  file.memory.push_back(kept);
  file.tensors.push_back({.name = name, .dtype = dtype, .known = known, .shape = shape, .data = std::as_bytes(std::span(*kept))});
  return file;
}

TEST_CASE("given: an attribute in any numeric form is used", "[given]") {
  const TensorFile file = captured(kAttention);
  const auto scale = [](const TensorFile& with_scale) { return given_case(with_scale, {}).c.attributes.at("scale"); };
  CHECK(scale(with(file, "scale", "<f2", f16, raw(std::uint16_t{0x3400}))) == 0.25);
  CHECK(scale(with(file, "scale", "BF16", bf16, raw(std::uint16_t{0x3e80}))) == 0.25);
  CHECK(scale(with(file, "scale", "F32", f32, raw(0.25f), {1})) == 0.25);
  CHECK(scale(with(file, "scale", "F64", f64, raw(0.25), {1, 1})) == 0.25);
  CHECK(scale(with(file, "scale", "|i1", {}, raw(std::int8_t{3}))) == 3);
  CHECK(scale(with(file, "scale", "U8", {}, raw(std::uint8_t{3}))) == 3);
  CHECK(scale(with(file, "scale", "I64", i64, raw(std::int64_t{3}))) == 3);
  CHECK(given_case(with(file, "mask", "|S6", {}, "causal", {1}), {}).c.attributes.at("mask") == 1);
  CHECK(given_case(with(file, "packed", "BOOL", {}, std::string(1, '\0')), {}).c.attributes.count("packed") == 0);
  const TensorFile half = with(file, "scale", "F32", f32, raw(0.5f));
  CHECK(given_case(half, {"", {"scale=0.5"}}).c.attributes.at("scale") == 0.5);
  CHECK(holds(why_not([&] { given_case(half, {"", {"scale=0.25"}}); }), "scale is 0.5 in one place and 0.25 in another"));
  TensorFile both = half;
  both.metadata["scale"] = "0.25";
  CHECK(holds(why_not([&] { given_case(both, {}); }), "scale is 0.5 as a tensor and 0.25 in the metadata"));
  TensorFile outputs = golden_tensors(given_case(half, {}), false);
  CHECK(holds(why_not([&] { with_outputs(given_case(half, {}), with(outputs, "scale", "F32", f32, raw(0.25f))); }),
              "scale is 0.25 by their metadata, and the inputs have 0.5"));
}

TEST_CASE("given: what cannot be an attribute is refused", "[given]") {
  const TensorFile file = captured(kAttention);
  const auto refused = [&](const TensorFile& changed, std::string_view part) {
    const std::string why = why_not([&] { given_case(changed, {}); });
    INFO(why);
    CHECK(holds(why, part));
  };
  refused(with(file, "scale", "<c8", {}, raw(1.f) + raw(0.f)), "'scale' has the dtype <c8");
  refused(with(file, "scale", "<f16", {}, std::string(16, '\0')), "'scale' has the dtype <f16");
  refused(with(file, "scale", "F32", f32, raw(1.f) + raw(2.f), {2}), "'scale' has the shape [2], and one value was expected");
  refused(with(file, "scale", "F32", f32, "", {0}), "'scale' has the shape [0]");
  refused(with(file, "scale", "F32", f32, raw(HUGE_VALF)), "scale=inf: not finite");
  CHECK_FALSE(holds(why_not([&] { given_case(with(file, "scale", "F32", f32, raw(HUGE_VALF)), {}); }), "is read as"));
  refused(with(file, "scale", "BOOL", {}, "\1"), "scale=yes: not a number");
  refused(with(file, "mask", "BOOL", {}, "\1"), "unknown mask 'yes'. Known: none, causal, causal_top_left.");
  refused(with(file, "mask", "I32", i32, raw(1)), "unknown mask '1'. Known: none, causal, causal_top_left.");
  refused(with(file, "op", "F32", f32, raw(1.f) + raw(2.f), {2}), "'op' has the shape [2]");
  for (const char* key : {"op", "case", "scale", "mask"}) {
    TensorFile changed = file;
    changed.metadata[key] = "";
    refused(changed, std::string("'") + key + "' is an empty text");
  }
  TensorFile text = file;
  text.metadata["o"] = "later";
  refused(text, "'o' is the text 'later', and a tensor was expected");
}

TEST_CASE("given: a name that is near one of the op's is refused, unless it is to be ignored", "[given]") {
  const TensorFile file = captured(kAttention), norm = captured("rmsnorm f32 rows=2 cols=8");
  const auto near = [](const TensorFile& changed, const std::string& name, std::string_view meant) {
    const std::string why = why_not([&] { given_case(changed, {}); });
    INFO(why);
    CHECK(holds(why, "has no '" + name + "'; is '" + std::string(meant) + "' meant?"));
    const Given g = given_case(changed, {"", {}, {}, {name}});
    CHECK(g.unused.empty());
    CHECK_NOTHROW(require_flags_used({"", {}, {}, {name}}, g.names));
  };
  for (const auto& [name, meant] : {std::pair{"softmax_scale", "scale"},
                                    {"is_causal", "mask"},
                                    {"attn_mask", "mask"},
                                    {"Scale", "scale"},
                                    {"sclae", "scale"},
                                    {"Q", "q"},
                                    {"window_size", "window"},
                                    {"LSE", "lse"},
                                    {"soft_cap", "softcap"}}) {
    near(with(file, name, "F32", f32, raw(0.25f)), name, meant);
    TensorFile said = file;
    said.metadata[name] = "0.25";
    near(said, name, meant);
  }
  for (const char* name : {"eps", "norm_eps", "Epsilon"}) near(with(norm, name, "F64", f64, raw(1e-5)), name, "epsilon");
  for (const char* name : {"step", "run", "layer", "x_before", "dropout_p"}) {
    const Given g = given_case(with(norm, name, "F64", f64, raw(1.0)), {});
    CHECK(g.unused == std::vector<std::string>{std::string("tensor '") + name + "'"});
  }
  const TensorFile golden = golden_tensors(given_case(file, {}), false);
  TensorFile renamed = golden;
  for (FileTensor& t : renamed.tensors)
    if (t.name == "lse") t.name = "LSE";
  CHECK(holds(why_not([&] { with_outputs(given_case(file, {}), renamed); }), "attention_forward has no 'LSE'; is 'lse' meant?"));
  CHECK(holds(why_not([&] {
                require_flags_used({"", {}, {}, {"step"}}, {"x"});
              }),
              "--ignore: nothing in the files has the name 'step'"));
}

TEST_CASE("given: axes in another order are named, and taken by --layout", "[given]") {
  const TensorFile file = captured(kAttention);
  TensorFile swapped = file;  // [batch, heads, seq, head_dim], as many frameworks keep it
  const Op& op = op_named("attention_forward");
  for (FileTensor& t : swapped.tensors) std::swap(t.shape[1], t.shape[2]);
  for (FileTensor& t : swapped.tensors) {  // the same elements in the other order
    const FileTensor& from = *file.find(t.name);
    const auto moved = std::make_shared<std::vector<std::byte>>(from.data.size());
    for (std::int64_t b = 0, to = 0; b < t.shape[0]; ++b)
      for (std::int64_t h = 0; h < t.shape[1]; ++h)
        for (std::int64_t s = 0; s < t.shape[2]; ++s)
          for (std::int64_t d = 0; d < t.shape[3]; ++d, ++to)
            encode(f32, moved->data(), to,
                   decode(f32, from.data.data(), ((b * t.shape[2] + s) * t.shape[1] + h) * t.shape[3] + d));
    t.data = *moved;
    swapped.memory.push_back(moved);
  }
  const std::string why = why_not([&] { given_case(swapped, {}); });
  INFO(why);
  CHECK(holds(why, "heads=3: not a multiple of kv_heads=5"));
  CHECK(holds(why, "'q' [2, 4, 3, 8] is read as [batch, seq_q, heads, head_dim]"));
  CHECK(holds(why,
              "and would fit with --layout q=batch,heads,seq_q,head_dim --layout k=batch,kv_heads,seq_k,head_dim --layout v="));
  const GivenFlags named{
      "", {}, {"q=batch,heads,seq_q,head_dim", "k=batch,kv_heads,seq_k,head_dim", "v=batch,kv_heads,seq_k,head_dim"}};
  const GivenFlags letters{"", {}, {"q=bhsd", "k=bhsd", "v=bhsd"}};
  const Given right = given_case(file, {});
  for (const GivenFlags& flags : {named, letters}) {
    const Given g = given_case(swapped, flags);
    CHECK(repro(g.c, op.shape()) == repro(right.c, op.shape()));
    for (std::size_t i = 0; i < g.tensors.size(); ++i) {
      if (right.tensors[i].rank == 0) continue;
      for (std::int64_t e = 0; e < right.tensors[i].size(); ++e)
        if (decode(f32, g.tensors[i].as<std::byte>(), e) != decode(f32, right.tensors[i].as<std::byte>(), e))
          FAIL("element " << e << " of tensor " << i);
    }
  }
  // An output too, whose error names the order.
  TensorFile outputs = golden_tensors(right, false);
  std::erase_if(outputs.tensors, [](const FileTensor& t) { return t.name != "o"; });
  std::swap(outputs.tensors[0].shape[1], outputs.tensors[0].shape[2]);
  CHECK(holds(why_not([&] { with_outputs(right, outputs); }), "it would fit with --layout o=batch,heads,seq_q,head_dim"));
  CHECK_NOTHROW(with_outputs(right, outputs, {"", {}, {"o=bhsd"}}));
  const auto refused = [&](const std::string& layout, std::string_view part) {
    const std::string text = why_not([&] { given_case(file, {"", {}, {layout}}); });
    INFO(text);
    CHECK(holds(text, part));
  };
  refused("q", "--layout q: NAME=AXES was expected");
  refused("qq=bhsd", "unknown tensor of attention_forward 'qq'");
  for (const char* axes :
       {"bhs", "bhsdd", "bhss", "xxxx", "", "batch,heads", "batch,heads,seq_q,seq_q", "batch,heads,seq_q,head_dim,"})
    refused(std::string("q=") + axes, "an order of [batch, seq_q, heads, head_dim] was expected");
  CHECK(holds(why_not([&] { given_case(file, {"", {}, {"q=bshd", "q=bshd"}}); }), "--layout names 'q' twice"));
  CHECK(holds(why_not([&] {
                require_flags_used({"", {}, {"o=bshd"}}, {"q"});
              }),
              "--layout: nothing in the files has the name 'o'"));
}

}  // namespace
}  // namespace assay
