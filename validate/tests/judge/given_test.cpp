// SPDX-License-Identifier: Apache-2.0
// Cases whose tensors are given: known by their names, judged as those of a run, and refused in a sentence.
#include <functional>

#include "catch_shim.hpp"
#include "judge/given_fixture.hpp"
#include "validate/base/error.hpp"
#include "validate/judge/judge_given.hpp"
#include "validate/tasks/selection.hpp"

namespace assay {
namespace {

using test::filled, test::holds, test::why_not;

// A case of the op with small extents.
Case small_case(const Op& op, DType dtype) {
  Case c;
  c.op = op.name;
  c.dtype = dtype;
  c.seed = 5;
  for (const AxisUse& use : op.axes) c.dims[use.axis] = use.axis == Axis::head_dim ? 8 : use.axis == Axis::pages ? 4 : 2;
  return c;
}

Given given(const TensorFile& file, const GivenFlags& flags = {}) { return given_case(file, flags); }

Record judged(const TensorFile& inputs, const TensorFile& outputs, const std::string& numerics = {}) {
  const auto both = std::make_shared<Given>(with_outputs(given(inputs), outputs));
  return judge_given(both, kernel_elsewhere(*both->op, numerics));
}

// Changes one element of a tensor, which nobody else has.
void set(TensorFile& file, std::string_view name, std::int64_t i, double value) {
  for (FileTensor& t : file.tensors)
    if (t.name == name) encode(*t.known, const_cast<std::byte*>(t.data.data()), i, value);
}

TEST_CASE("given: of every op, inputs in a file are the case that made them, and their golden passes", "[given]") {
  for (const Op& op : ops())
    for (const DType dtype : {f16, bf16, f32}) {
      const Case c = small_case(op, dtype);
      INFO(repro(c, op.shape()));
      const TensorFile inputs = filled_tensors(op, c);
      const Given g = given(inputs);
      CHECK(repro(g.c, op.shape()) == repro(c, op.shape()));
      CHECK(g.unused.empty());
      const TensorFile golden = golden_tensors(g, false);
      const Record r = judged(inputs, golden);
      INFO(r.reason);
      CHECK(r.verdict == Verdict::passed);
      CHECK((r.compared > 0 && r.wrong == 0));
      CHECK(why_not([&] { judged(inputs, golden_tensors(g, true)); }).find("has the dtype f64") != std::string::npos);
    }
}

TEST_CASE("given: a wrong element is told with its place, and it is the only one", "[given]") {
  const TensorFile inputs = filled("softmax f32 rows=3 cols=65 seed=7");
  TensorFile y = golden_tensors(given(inputs), false);
  set(y, "y", 70, 0.5);
  const Record r = judged(inputs, y);
  CHECK((r.verdict == Verdict::failed && r.wrong == 1 && r.compared == 195));
  CHECK((r.worst && r.worst->got == 0.5 && r.worst->index == std::vector<std::int64_t>{1, 5}));
  CHECK(holds(r.pattern, "1 of 195 wrong"));
  CHECK_FALSE(r.deterministic);
}

TEST_CASE("given: outputs that are right with another word of a choice read like it", "[given]") {
  struct {
    std::string line, asked, reads_like;
  } const kinds[] = {
      {"residual_rmsnorm bf16 rows=5 cols=264", " sum=f32", "sum=f32, where sum=rounded is asked"},
      {"residual_rmsnorm f16 rows=5 cols=264 sum=f32 fill=opposite_residual", "", "sum=rounded, where sum=f32 is asked"},
      {"gelu f32 rows=3 cols=65", " form=erf", "form=erf, where form=tanh is asked"},
      {"attention_scores f16 batch=1 seq_q=9 seq_k=9 heads=2 kv_heads=1 head_dim=8", " mask=causal",
       "mask=causal, where mask=none is asked"},
  };
  for (const auto& [line, made_with, reads_like] : kinds) {
    INFO(line << made_with);
    const std::string other =
        made_with.empty() ? line.substr(0, line.find(" sum=")) + line.substr(line.find(" fill=")) : line + made_with;
    const TensorFile inputs = filled(line);
    TensorFile outputs = golden_tensors(given(filled(other)), false);
    CHECK(judged(filled(other), outputs).verdict == Verdict::passed);
    const Record r = judged(inputs, outputs);
    CHECK((r.verdict == Verdict::failed && r.reads_like == reads_like));
    outputs = golden_tensors(given(inputs), false);
    for (std::int64_t i = 0; i < 60; i += 7) set(outputs, outputs.tensors[0].name, i, 3);
    CHECK_FALSE(holds(judged(inputs, outputs).reads_like, "is asked"));  // faults that no word explains
  }
}

TEST_CASE("given: an output that nobody gave is told as not checked", "[given]") {
  const TensorFile inputs = filled("attention_forward f16 batch=1 seq_q=3 seq_k=3 heads=2 kv_heads=1 head_dim=8 mask=causal");
  TensorFile o = golden_tensors(given(inputs), false), lse = o, none;
  std::erase_if(o.tensors, [](const FileTensor& t) { return t.name != "o"; });
  std::erase_if(lse.tensors, [](const FileTensor& t) { return t.name != "lse"; });
  const Record of_o = judged(inputs, o), of_lse = judged(inputs, lse);
  CHECK((of_o.verdict == Verdict::passed && of_o.compared == 48 && of_o.not_checked.back() == "output lse"));
  CHECK((of_lse.verdict == Verdict::passed && of_lse.compared == 6 && of_lse.not_checked.back() == "output o"));
  CHECK(holds(why_not([&] { judged(inputs, none); }),
              "the tensor 'o' [batch, seq_q, heads, head_dim] of attention_forward is missing"));
}

TEST_CASE("given: what a fill says of values holds for its own values alone", "[given]") {
  TensorFile inputs = filled("softmax f16 rows=64 cols=65 seed=7");
  CHECK(given(inputs).c.fill == "normal");
  const TensorFile before = golden_tensors(given(inputs), false);
  const Record of_fill = judged(inputs, before);
  CHECK(of_fill.rms_ratio);
  set(inputs, "x", 3, 1.25);
  CHECK(given(inputs).c.fill == kGivenFill);
  const Record r = judged(inputs, golden_tensors(given(inputs), false));
  CHECK((r.verdict == Verdict::passed && !r.rms_ratio && !r.exact));
  CHECK(r.not_checked.back() == "together");
  TensorFile reshaped = filled("softmax f16 rows=64 cols=65 seed=7"), read_otherwise = reshaped;
  reshaped.tensors[0].shape = {1, 64 * 65};
  CHECK(given(reshaped).c.fill == kGivenFill);
  read_otherwise.tensors[0].known = bf16;
  CHECK(given(read_otherwise).c.fill == kGivenFill);
  TensorFile captured = filled("softmax f16 rows=64 cols=65 seed=7");
  captured.metadata.clear();
  CHECK(holds(why_not([&] { given(captured); }), "nothing says which op they are of"));
  CHECK(given(captured, {"softmax", {}}).c.fill == kGivenFill);
}

TEST_CASE("given: attributes come from metadata and flags, which must agree", "[given]") {
  TensorFile inputs = filled("layernorm f32 rows=2 cols=8 epsilon=0.5");
  CHECK(given(inputs).c.attributes.at("epsilon") == 0.5);
  inputs.metadata = {{"op", "layernorm"}, {"epsilon", "0.25"}};
  CHECK(given(inputs).c.attributes.at("epsilon") == 0.25);
  CHECK(given(inputs, {"layernorm", {"epsilon=0.25"}}).c.attributes.at("epsilon") == 0.25);
  const auto refused = [&](const GivenFlags& flags, std::string_view part) {
    const std::string why = why_not([&] { given(inputs, flags); });
    INFO(why);
    CHECK(holds(why, part));
  };
  refused({"", {"epsilon=0.5"}}, "epsilon is 0.25 in one place and 0.5 in another");
  refused({"", {"epsilon"}}, "'epsilon': KEY=VALUE was expected");
  refused({"", {"epsilno=1"}}, "unknown attribute of layernorm 'epsilno'. Did you mean 'epsilon'?");
  refused({"softmax", {}}, "they are of the op 'layernorm' by their metadata, and 'softmax' was asked for");
  TensorFile y = golden_tensors(given(inputs), false);
  const auto outputs_refused = [&](const std::string& key, const std::string& text, std::string_view part) {
    y.metadata = {{key, text}};
    const std::string why = why_not([&] { judged(inputs, y); });
    INFO(why);
    CHECK(holds(why, part));
  };
  outputs_refused("epsilon", "0.5", "epsilon is 0.5 by their metadata, and the inputs have 0.25");
  outputs_refused("op", "softmax", "they are of the op 'softmax' by their metadata, and 'layernorm' was asked for");
  y.metadata = {{"epsilon", "0.250"}, {"run", "7"}};
  CHECK(with_outputs(given(inputs), y).unused == std::vector<std::string>{"metadata 'run'"});
  inputs.metadata = {{"op", "layernrom"}};
  refused({}, "unknown op 'layernrom'. Did you mean 'layernorm'?");
  for (const char* no : {"nan", "inf", "-nan", "1e400", "", "one", "0x1"}) {
    inputs.metadata = {{"op", "layernorm"}};
    INFO(no);
    CHECK(holds(why_not([&] { given(inputs, {"", {std::string("epsilon=") + no}}); }), "epsilon="));
  }
  inputs.metadata = {{"op", "layernorm"}, {"epsilon", "nan"}};
  refused({}, "epsilon=nan: not finite");
  inputs.metadata = {{"op", "layernorm"}, {"step", "7"}, {"format", "pt"}};
  CHECK(given(inputs).unused == std::vector<std::string>{"metadata 'step'"});
  inputs.metadata["case"] = "layernorm f32 rows=2";
  refused({}, "axis 'cols' is missing");
}

TEST_CASE("given: shapes, dtypes and names that are not the contract's are refused", "[given]") {
  const TensorFile good = filled("layernorm f32 rows=2 cols=8");
  const auto refused = [&](const std::function<void(TensorFile&)>& change, std::string_view part) {
    TensorFile file = good;
    change(file);
    const std::string why = why_not([&] { given(file); });
    INFO(why);
    CHECK(holds(why, part));
  };
  refused([](TensorFile& f) { f.tensors[0].shape = {16}; }, "'x' has the shape [16], and [rows, cols] was expected");
  refused([](TensorFile& f) { f.tensors[0].shape = {4, 4}; }, "'gamma' has cols=8, and 'x' has cols=4");
  refused([](TensorFile& f) { f.tensors[0].shape = {16, 0}; }, "has cols=");
  refused(
      [](TensorFile& f) {
        f.tensors[1].known = f16;
        f.tensors[1].dtype = "F16";
      },
      "'gamma' has the dtype f16, and f32 as of x was expected");
  refused([](TensorFile& f) { f.tensors[0].known = i32; }, "'x' has the dtype i32, and f16, bf16 or f32 was expected");
  refused(
      [](TensorFile& f) {
        f.tensors[0].known.reset();
        f.tensors[0].dtype = "U8";
      },
      "'x' has the dtype U8");
  refused([](TensorFile& f) { f.tensors[1].name = "gama"; },
          "the tensor 'gamma' [cols] of layernorm is missing; is 'gama' meant to be it?");
  refused([](TensorFile& f) { f.tensors.clear(); }, "the tensor 'x' [rows, cols] of layernorm is missing");
  TensorFile more = good;
  more.tensors.push_back(more.tensors[0]);
  more.tensors.back().name = "activations";
  CHECK(given(more).unused == std::vector<std::string>{"tensor 'activations'"});
  const TensorFile golden = golden_tensors(given(good), false);
  const auto outputs_refused = [&](const std::function<void(TensorFile&)>& change, std::string_view part) {
    TensorFile file = golden;
    change(file);
    const std::string why = why_not([&] { judged(good, file); });
    INFO(why);
    CHECK(holds(why, part));
  };
  outputs_refused(
      [](TensorFile& f) {
        f.tensors[0].shape = {8, 2};
      },
      "'y' has the shape [8, 2], and [rows, cols] [2, 8] was expected");
  outputs_refused([](TensorFile& f) { f.tensors[0].known = f16; },
                  "'y' has the dtype f16, and f32 as of the inputs was expected");
  outputs_refused([](TensorFile& f) { f.tensors[0].name = "out"; }, "the tensor 'y' [rows, cols] of layernorm is missing");
  CHECK(holds(why_not([&] { judged(good, golden, "accumulate=f8"); }), "accumulate"));
  TensorFile bias = filled("linear f32 tokens=2 hidden=3 out=4");
  CHECK(holds(why_not([&] {
                TensorFile with = bias;
                with.tensors.push_back(with.tensors[0]);
                with.tensors.back().name = "bias";
                given(with);
              }),
              "'bias' is there, which linear has only with another 'bias'"));
}

TEST_CASE("given: integers out of their range are refused before a golden reads by them", "[given]") {
  const auto refused = [](const std::string& line, std::string_view tensor, std::int64_t i, std::int64_t value,
                          std::string_view part) {
    TensorFile file = filled(line);
    REQUIRE(file.find(tensor));
    set(file, tensor, i, static_cast<double>(value));
    const Given g = given(file);
    const std::string why = why_not([&] { golden_tensors(g, false); });
    INFO(line << " " << tensor << "[" << i << "]=" << value << ": " << why);
    CHECK(holds(why, part));
    auto both = std::make_shared<Given>(g);
    both->outputs.resize(g.tensors.size());
    CHECK(holds(why_not([&] { judge_given(both, kernel_elsewhere(*g.op, {})); }), part));
  };
  const std::string paged = "paged_attention f32 batch=2 seq_q=2 pages=4 page_size=2 max_pages=2 heads=2 kv_heads=1 head_dim=8";
  const std::string append = "kv_append f32 batch=2 seq_q=2 pages=4 page_size=2 max_pages=2 kv_heads=1 head_dim=8";
  const std::string packed = "attention_forward f32 batch=2 seq_q=3 seq_k=3 heads=2 kv_heads=1 head_dim=8 packed=yes";
  for (const std::int64_t no :
       {std::int64_t{-1}, std::int64_t{1} << 30, std::int64_t{-2'147'483'648}, std::int64_t{2'147'483'647}}) {
    refused("embedding f32 tokens=4 hidden=8 vocab=16", "ids", 3, no, "ids[3] is ");
    refused("cross_entropy f32 tokens=4 vocab=16", "target", 2, no, "target[2] is ");
    refused(paged, "lengths", 1, no, "lengths[1] is ");
    refused(append, "lengths", 0, no, "lengths[0] is ");
    refused("rope f32 batch=2 seq_q=3 heads=2 kv_heads=1 head_dim=8 positions=explicit", "positions", 5, no,
            "the position of token 5");
    for (const char* starts : {"cu_seqlens_q", "cu_seqlens_k"})
      for (const std::int64_t i : {0, 1, 2}) refused(packed, starts, i, no, starts);
  }
  for (const std::string& line : {paged, append}) {
    TensorFile file = filled(line);
    set(file, "lengths", 0, 4);
    set(file, "lengths", 1, 4);
    for (const std::int64_t no : {-1, 4, 1 << 30}) {
      TensorFile changed = file;
      set(changed, "page_table", 3, static_cast<double>(no));
      CHECK(holds(why_not([&] { golden_tensors(given(changed), false); }), "page_table[1, 1] is " + std::to_string(no)));
    }
  }
}

}  // namespace
}  // namespace assay
