// SPDX-License-Identifier: Apache-2.0
// Relations: the oracles keep them, and of each kind a fault is planted that the bound lets pass.
#include <algorithm>
#include <cmath>
#include <set>

#include "catch_shim.hpp"
#include "ops/rope.hpp"
#include "ops/transformer_layer.hpp"
#include "validate/problem/composite.hpp"
#include "validate/tests/problem/relation_testing.hpp"

namespace assay::test {
namespace {

// Each word of each choice in every dtype, and with the op's first probe; each fill of the op and zeros of either sign; where an
// op has windows, a short one under each mask: a query's keys then depend on its place; packed sequences of equal lengths.
std::vector<Case> small_cases(const Op& op) {
  std::vector<Case> cases;
  const auto with = [&](DType dtype, std::map<std::string, double> attributes, std::string_view fill) {
    cases.push_back(small_case(op, dtype));
    cases.back().attributes = std::move(attributes);
    cases.back().fill = fill;
  };
  for (const DType dtype : kActivationDTypes) {
    with(dtype, {}, "normal");
    for (const Attribute& a : op.attributes)
      for (std::size_t word = 1; word < a.choices.size(); ++word)
        with(dtype, {{std::string(a.name), static_cast<double>(word)}}, "normal");
    if (find_attribute(op.shape(), "window"))
      for (const double mask : {0.0, 1.0, 2.0}) with(dtype, {{"mask", mask}, {"window", 2.0}}, "normal");
    if (find_attribute(op.shape(), "packed")) with(dtype, {{"packed", 1.0}}, "lengths_equal");
  }
  const auto means_something = [&](const Fill& f) { return !f.applies || f.applies(small_case(op, f32).dims, f32); };
  for (const Fill& f : op.hooks.fills)
    if (means_something(f)) with(f32, {}, f.name);
  for (const Attribute& a : op.attributes)
    for (std::size_t word = 1; word < a.choices.size() && means_something(op.hooks.fills.front()); ++word)
      with(f32, {{std::string(a.name), static_cast<double>(word)}}, op.hooks.fills.front().name);
  with(f32, {}, "signed_zeros");
  return cases;
}

}  // namespace

TEST_CASE("relation: every op has several, each of a name and a bug of its own", "[relation]") {
  for (const Op& op : ops()) {
    CAPTURE(op.name);
    const Case c = small_case(op, f32);
    CHECK(all_relations(op, c).size() >= 2);
    std::set<std::string_view> names, shown;
    for (const Relation& r : all_relations(op, c)) {
      CHECK(names.insert(r.name).second);
      CHECK(shown.insert(r.shows).second);
      CHECK(find_relation(op, c, r.name) == &r);
      CHECK(r.inverse.empty() == (r.partner == nullptr));
    }
  }
}

TEST_CASE("relation: the oracles keep every op's, to the bit; one element that strays is found", "[relation]") {
  Kernel promises, position_matters;
  position_matters.position_matters = true;
  std::set<std::pair<std::string_view, std::string>> untried;
  for (const Op& op : ops())
    for (const Case& c : small_cases(op))
      for (const Relation& r : all_relations(op, c)) untried.emplace(op.name, r.name);
  untried.erase({"attention_forward", "v_shifted"});  // its exact fills need 32 channels, and only with rope it is true
  for (const Op& op : ops()) {
    for (const Case& c : small_cases(op)) {
      const Played original(op, c);
      for (const std::string& name : relations_of(op, c, Relations::all)) {
        CAPTURE(op.name, assay::name(c.dtype), c.attributes, c.fill, name);
        const Relation& r = *find_relation(op, c, name);
        std::optional<Related> related = related_to(original, r);
        if (!related) continue;  // x + 64 is no value of the dtype
        untried.erase({op.name, name});
        Played other(op, std::move(*related));
        // Note: the oracle adds up slot by slot, in all pages of one after the other.
        if (name != "pages_halved") CHECK(judged(original, other, r, promises) == "");
        CHECK(judged(original, other, r, position_matters) == "");
        if (c.fill != "normal") continue;
        // An ulp is for who promises bits, an error of a quarter for all but what is to be zero.
        const std::string_view of_first = std::ranges::find(op.tensors, Role::output, &TensorSpec::role)->name;
        const bool loose = std::ranges::count(r.within_bounds, of_first) > 0;
        const std::int64_t at = largest(other.first);
        const double right = other.first.at(at);
        other.first.set(at, right * (1 + 2 * unit_roundoff(other.first.dtype)));
        if (r.bits && !loose) CHECK(judged(original, other, r, promises).rfind("relation " + name, 0) == 0);
        other.first.set(at, right * 1.25);
        const bool zero = std::ranges::any_of(r.scaled, [&](const auto& s) { return s.tensor == of_first && s.factor == 0; });
        const bool is_compared = !(loose && r.move == Relation::Move::first_part);
        if (!zero && is_compared) CHECK(judged(original, other, r, position_matters).rfind("relation " + name, 0) == 0);
      }
    }
  }
  for (const auto& [op, name] : untried) FAIL_CHECK(op << ": no small case is one for " << name);
}

TEST_CASE("relation: a run tries one on a case in four, a replay all", "[relation]") {
  const Op& op = *find_op("linear");
  std::int64_t some = 0;
  Case c = small_case(op, f32);
  for (c.seed = 0; c.seed < 4000; ++c.seed) {
    const auto share = relations_of(op, c, Relations::share);
    REQUIRE(share.size() <= 1);
    some += static_cast<std::int64_t>(share.size());
  }
  CHECK(some > 800);
  CHECK(some < 1200);
  CHECK(relations_of(op, c, Relations::all).size() == all_relations(op, c).size());
  CHECK(relations_of(op, c, Relations::none).empty());
  c.dims[Axis::tokens] = 0;
  CHECK(relations_of(op, c, Relations::all).empty());
}

namespace {

void stray(const Tensor& y, std::int64_t i) { y.set(i, y.at(i) * (1 + 2 * unit_roundoff(y.dtype))); }
const Tensor& tensor(const Problem& p, std::size_t i) { return *const_cast<Problem&>(p).tensors()[i]; }

struct Planted {
  const char *op, *relation, *what;
  test::Fault fault;
  std::map<std::string, double> attributes{};
  const char* fill = "normal";
};
// An ulp in f32, which the bound allows; or an error on such inputs only as the relation makes.
const Planted kPlanted[] = {
    {"paged_attention", "pages_permuted", "sequences whose first page is an even one",
     [](const Problem& p, const Tensor& o) {
       const Tensor& table = tensor(p, 3);
       const std::int64_t of_sequence = o.size() / o.shape[0];
       for (std::int64_t i = 0; i < o.size(); ++i)
         if (std::fmod(table.at(i / of_sequence * table.shape[1]), 2) == 0) stray(o, i);
     }},
    {"paged_attention", "pages_halved", "pages of fewer than eight positions",
     [](const Problem& p, const Tensor& o) {
       for (std::int64_t i = 0; i < o.size() && tensor(p, 1).shape[1] < 8; ++i) stray(o, i);
     }},
    {"paged_attention", "first_batch", "fewer than four sequences",
     [](const Problem&, const Tensor& o) {
       for (std::int64_t i = 0; i < o.size() && o.shape[0] < 4; ++i) stray(o, i);
     }},
    {"cross_entropy", "tokens_permuted", "tokens at odd places",
     [](const Problem&, const Tensor& loss) {
       for (std::int64_t i = 1; i < loss.size(); i += 2) stray(loss, i);
     }},
    {"cross_entropy", "first_tokens", "fewer than four tokens",
     [](const Problem&, const Tensor& loss) {
       for (std::int64_t i = 0; i < loss.size() && loss.size() < 4; ++i) stray(loss, i);
     }},
    {"attention_backward", "seq_q_permuted", "the last query",
     [](const Problem&, const Tensor& dq) {
       for (std::int64_t i = dq.size() - dq.size() / dq.shape[0] / dq.shape[1]; i < dq.size(); ++i) stray(dq, i);
     }},
    {"attention_backward", "values_one", "no D where O is one",
     [](const Problem& p, const Tensor& dq) {
       for (std::int64_t i = 0; i < dq.size(); ++i)
         if (tensor(p, 3).at(i) == 1) dq.set(i, 0.01);
     }},
    {"residual_rmsnorm", "x_residual_swapped", "rows in which x begins with more than the residual",
     [](const Problem& p, const Tensor& y) {
       const std::int64_t cols = y.shape[1];
       for (std::int64_t i = 0; i < y.size(); ++i)
         if (tensor(p, 0).at(i / cols * cols) > tensor(p, 1).at(i / cols * cols)) stray(y, i);
     }},
    {"row_reduce",
     "x_shifted",
     "what is more than 200 clamped",
     [](const Problem&, const Tensor& y) {
       for (std::int64_t i = 0; i < y.size(); ++i) y.set(i, std::min(y.at(i), 200.0));
     },
     {{"what", 2}},
     "probe_hot"},
    {"rope",
     "offset_moved",
     "whatever has an offset",
     [](const Problem& p, const Tensor& q) {
       for (std::int64_t i = 0; i < q.size() && static_cast<const rope::Args*>(p.args())->offset != 0; ++i)
         if (q.at(i) != tensor(p, 0).at(i)) stray(q, i);
     },
     {{"positions", 1}}},
    {"rope",
     "turned_back",
     "values of more than one stay what they are",
     [](const Problem& p, const Tensor& q) {
       for (std::int64_t i = 0; i < q.size(); ++i)
         if (tensor(p, 0).at(i) > 1) q.set(i, tensor(p, 0).at(i));
     },
     {},
     "uniform01"},
};

}  // namespace

// A layer whose q lies as far off as its bound allows, and whose later steps are right, of what it has stored.
TEST_CASE("relation: steps are judged by what the candidate has stored", "[relation]") {
  const Op& op = *find_op("transformer_layer");
  Case c = small_case(op, f16);
  c.fill = "unit";
  c.dims[Axis::hidden] = 24;
  c.dims[Axis::head_dim] = 16;
  Kernel by_bounds;
  by_bounds.position_matters = true;
  by_bounds.numerics.of_output = [](const void*, int output) {
    return Numerics{.accumulate = output == transformer_layer::kQ ? bf16 : f32};
  };
  int tried = 0;
  for (const std::string& name : relations_of(op, c, Relations::all)) {
    CAPTURE(name);
    const Relation& r = *find_relation(op, c, name);
    const Played original(op, c);
    std::optional<Related> related = related_to(original, r);
    if (!related) continue;  // x + 64 is no value of the dtype
    ++tried;
    Played other(op, std::move(*related));
    std::vector<std::byte*> images;
    std::vector<Tensor> outputs;
    for (std::size_t t = 0; t < op.tensors.size(); ++t) {
      const bool given = is_given(op.tensors[t]);
      images.push_back(given ? other.inputs.data() + other.packing.given[t] : other.outputs.data() + other.packing.at[t]);
      if (op.tensors[t].role != Role::output) continue;
      outputs.push_back(other.packing.placements[t].tensor);
      outputs.back().data = images.back();
    }
    constexpr std::size_t q = transformer_layer::kQ;
    for (std::int64_t i = 0; i < outputs[q].size(); ++i)
      outputs[q].set(i, outputs[q].at(i) + 0.8 * other.problem->bound(by_bounds.numerics, q, i));
    for (std::size_t again = 0; again < outputs.size(); ++again) {  // from step to step
      std::unique_ptr<Problem> own;
      const Problem& by_stored = judged_by(op, other.c, other.packing.placements, images, *other.problem, own);
      for (std::size_t o = 0; o < outputs.size(); ++o)
        for (std::int64_t i = 0; o != q && i < outputs[o].size(); ++i)
          outputs[o].set(i, by_stored.golden(static_cast<int>(o))[static_cast<std::size_t>(i)]);
    }
    std::int64_t beyond = 0;
    for (std::size_t o = 0; o < outputs.size(); ++o)
      beyond += compare(*other.problem, by_bounds.numerics, static_cast<int>(o), outputs[o], false).wrong;
    CHECK(beyond > 0);  // of the goldens that nothing stored has a part in
    CHECK(judged(original, other, r, by_bounds) == "");
    outputs[0].set(0, outputs[0].at(0) + 3);
    CHECK_THAT(judged(original, other, r, by_bounds),
               Catch::Matchers::StartsWith("relation " + name + " (") && Catch::Matchers::Contains("): 'y' at"));
  }
  CHECK(tried > 1);
}

namespace {

bool has(const char* op_name, std::map<std::string, double> attributes, std::string_view relation) {
  const Op& op = *find_op(op_name);
  Case c = small_case(op, f32);
  c.attributes = std::move(attributes);
  return find_relation(op, c, relation) != nullptr;
}

}  // namespace

TEST_CASE("relation: what one choice or number allows, another does not", "[relation]") {
  CHECK(has("row_reduce", {}, "x_doubled"));
  CHECK_FALSE(has("row_reduce", {{"what", 2}}, "x_doubled"));  // logsumexp
  CHECK(has("row_reduce", {{"what", 2}}, "x_shifted"));
  CHECK_FALSE(has("row_reduce", {}, "x_shifted"));
  CHECK(has("linear", {}, "x_doubled"));
  CHECK_FALSE(has("linear", {{"bias", 1}}, "x_doubled"));
  CHECK(has("linear", {{"bias", 1}}, "x_bias_doubled"));
  // Top left, a query sees the same keys however many queries there are.
  CHECK(has("attention_forward", {}, "seq_k_permuted"));
  CHECK_FALSE(has("attention_forward", {{"mask", 1}}, "first_seq_q"));
  CHECK(has("attention_forward", {{"mask", 2}}, "first_seq_q"));
  // A window longer than the small cases still counts as one.
  for (const double window : {2.0, 64.0, 1024.0}) CHECK_FALSE(has("attention_forward", {{"window", window}}, "seq_k_permuted"));
  CHECK_FALSE(has("attention_forward", {{"packed", 1}}, "batch_permuted"));
  // Queries that see no key, or only such as have a score of -inf, give zeros.
  CHECK_FALSE(has("attention_forward", {}, "v_shifted"));
  CHECK_FALSE(has("attention_forward", {{"packed", 1}}, "v_shifted"));
  // Where a row is cut, sums may be split in other places; where nothing is added up, that changes nothing.
  CHECK(has("gelu", {}, "first_cols"));
  CHECK_FALSE(has("linear", {}, "first_out"));
  // Indices and scales of blocks do not move with an axis.
  CHECK_FALSE(has("embedding", {}, "first_vocab"));
}

TEST_CASE("relation: an output that adds up what is moved need not have the same bits", "[relation]") {
  const Op& op = *find_op("residual_rmsnorm");
  const Case c = small_case(op, f32);
  const Relation& permuted = *find_relation(op, c, "cols_permuted");
  CHECK(permuted.bits);
  CHECK(permuted.within_bounds == std::vector<std::string_view>{"y"});
  const Op& backward = *find_op("attention_backward");
  const Relation& first = *find_relation(backward, small_case(backward, f32), "first_seq_q");
  CHECK(first.within_bounds == std::vector<std::string_view>{"dk", "dv"});
  CHECK_FALSE(find_relation(*find_op("rmsnorm"), small_case(*find_op("rmsnorm"), f32), "cols_permuted")->bits);
  CHECK(find_relation(op, c, "x_residual_swapped")->bits);
  CHECK_FALSE(find_relation(*find_op("silu_mul"), small_case(*find_op("silu_mul"), f32), "gate_up_swapped"));
}

TEST_CASE("relation: one that is stated and not true of the formula is an error", "[relation]") {
  Op op = *find_op("softmax");
  op.name = "softmax_that_scales";
  op.hooks.relations.push_back({.name = "doubled", .shows = "nothing", .scaled = {{"x", 2}, {"y", 2}}});
  CHECK_THROWS_WITH(
      all_relations(op, small_case(op, f32)),
      Catch::Matchers::StartsWith("softmax_that_scales: the relation doubled is not true of its formula: y differs in "));
}

// Small cases may not show what a formula has of its own, such as a window.  Here the places of tokens turn them.
TEST_CASE("relation: one that the goldens of a case deny says nothing of a kernel", "[relation]") {
  const Op& op = *find_op("rope");
  const Relation permuted{.name = "seq_q_permuted", .move = Relation::Move::permuted, .axis = Axis::seq_q};
  Case c = small_case(op, f32);
  const auto said = [&](double stray) {
    const Played original(op, c);
    Played other(op, *related_to(original, permuted));
    other.first.set(0, other.first.at(0) + stray);
    return judged(original, other, permuted, {});
  };
  CHECK(said(0) == "");
  CHECK(said(1) == "");
  c.attributes = {{"positions", 1}};
  CHECK(said(0) == "");
  CHECK(said(1) != "");
}

TEST_CASE("relation: half a table that is too short makes no problem", "[relation]") {
  const Op& op = *find_op("paged_attention");
  Case c = small_case(op, f32);
  c.fill = "lengths_full";
  const Relation r{.name = "first_max_pages", .move = Relation::Move::first_part, .axis = Axis::max_pages};
  c.dims[Axis::batch] = 1;
  c.dims[Axis::pages] = c.dims[Axis::max_pages];
  const Played original(op, c);
  CHECK_FALSE(related_to(original, r));
}

TEST_CASE("relation: each kind finds what no bound shows", "[relation]") {
  for (const Planted& planted : kPlanted) {
    CAPTURE(planted.op, planted.relation, planted.what);
    const Op& op = *find_op(planted.op);
    Case c = small_case(op, f32);
    c.attributes = planted.attributes;
    c.fill = planted.fill;
    const Relation& r = *find_relation(op, c, planted.relation);
    REQUIRE(std::ranges::count(relations_of(op, c, Relations::all), planted.relation) == 1);
    const Played original(op, c, {}, planted.fault);
    CHECK(original.within_bounds());
    std::optional<Related> related = related_to(original, r);
    REQUIRE(related);
    const Played other(op, std::move(*related), {}, planted.fault);
    CHECK(judged(original, other, r, {}).rfind(std::string("relation ") + planted.relation, 0) == 0);
    // Of one that only the related inputs show, the bound on them is a part of the relation.
    const bool strays = judged(original, other, r, {}).find("bits of") != std::string::npos;
    CHECK(other.within_bounds() == strays);
  }
}

}  // namespace assay::test
