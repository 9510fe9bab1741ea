// SPDX-License-Identifier: Apache-2.0
// What inputs hold: what is drawn is legal, and what is not is refused with a sentence.
#include "validate/problem/contents/contents.hpp"

#include <cmath>
#include <limits>
#include <set>

#include "catch_shim.hpp"
#include "validate/problem/image.hpp"
#include "validate/problem/packing.hpp"
#include "validate/tests/played.hpp"

namespace assay {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Op with(Contents holds, std::optional<DType> dtype = {}) {
  return {.name = "holding", .tensors = {{"t", Role::input, {Axis::rows}, {.dtype = dtype, .holds = holds}}}};
}

// Why a problem is refused whose tensor `name` has `v` as its first element; empty: it is legal.
std::string refused(const char* op_name, std::map<std::string, double> attributes, std::string_view name, double v) {
  const Op& op = *find_op(op_name);
  Case c{.op = op_name, .dtype = f32, .seed = 1};
  for (const AxisUse& use : op.axes) c.dims[use.axis] = 4;
  c.attributes = std::move(attributes);
  const Packing packing = pack(op, c);
  const auto inputs = filled_inputs(op, c, packing);
  const auto problem = problem_with(op, c, packing, inputs.data());
  CHECK(problem->legal());
  Tensor t = problem->tensor(name);
  t.set(0, v);
  return problem->legal().why;
}

}  // namespace

TEST_CASE("contents: what is not within a range is folded into it") {
  const Contents gate = between(0, 1), decay = between(-kInf, 0), size = between(1, kInf);
  const double same[] = {0, 0.25, 1};
  for (const double v : same) CHECK(folded(gate, v) == v);
  CHECK(folded(gate, -0.25) == 0.25);
  CHECK(folded(gate, 1.25) == 0.75);
  CHECK(folded(gate, 2.5) == 0.5);
  CHECK(folded(gate, kInf) == 1);
  CHECK(folded(gate, -kInf) == 0);
  CHECK(folded(gate, NAN) == 0);
  CHECK(folded(decay, -3) == -3);
  CHECK(folded(decay, 3) == -3);
  CHECK(folded(decay, kInf) == 0);
  CHECK(folded(decay, NAN) == 0);
  CHECK(folded(size, -2) == 4);
  CHECK(folded(size, -kInf) == kInf);
}

TEST_CASE("contents: every op's inputs are legal under each of its fills") {
  for (const Op& op : ops()) {
    for (const Fill& fill : op.hooks.fills) {
      Case c{.op = std::string(op.name), .dtype = f32, .fill = std::string(fill.name), .seed = 7};
      for (const AxisUse& use : op.axes) c.dims[use.axis] = 6;
      for (const Attribute& a : op.attributes)
        if (a.choices.size() == 2) c.attributes[std::string(a.name)] = 1;
      if (fill.applies && !fill.applies(c.dims, c.dtype)) continue;
      CAPTURE(op.name, fill.name);
      const Packing packing = pack(op, c);
      const auto inputs = filled_inputs(op, c, packing);
      const Legality legal = problem_with(op, c, packing, inputs.data())->legal();
      CHECK(legal.why == "");
    }
  }
}

TEST_CASE("contents: an element that is none of them is named") {
  CHECK(refused("embedding", {}, "ids", 4) == "ids[0] is 4, not one of 0 ... 3");
  CHECK(refused("embedding", {}, "ids", -1) == "ids[0] is -1, not one of 0 ... 3");
  CHECK(refused("paged_attention", {}, "lengths", 17) == "lengths[0] is 17, not one of 0 ... 16");
  CHECK(refused("rope", {{"frequencies", 1}}, "frequencies", 1.5) == "frequencies[0] is 1.5, not between 0 and 1");
  CHECK(refused("rope", {{"frequencies", 1}}, "frequencies", NAN) == "frequencies[0] is nan, not between 0 and 1");
}

TEST_CASE("contents: a contract that cannot be is an error of its author") {
  using Catch::Matchers::Contains;
  CHECK_NOTHROW(check_contents(with(between(-kInf, 0))));
  CHECK_THROWS_WITH(check_contents(with(between(0, 0.1))),
                    Contains("'t' holds a range that ends at 0.1, which f16 does not have"));
  CHECK_THROWS_WITH(check_contents(with(between(1, 1))), Contains("holds no numbers"));
  CHECK_THROWS_WITH(check_contents(with({}, i32)), Contains("has integers; `holds` must say what they are"));
  CHECK_THROWS_WITH(check_contents(with(pages_by("nothing"), i32)), Contains("has lengths that are no tensor"));
  CHECK_THROWS_WITH(check_contents(with(indices_of(Axis::rows))),
                    Contains("holds places on rows, so it needs a dtype of integers"));
  Op writes = with(between(0, 1));
  writes.tensors[0].role = Role::output;
  CHECK_THROWS_WITH(check_contents(writes), Contains("'t' is written by the kernel; `holds` is for inputs"));
}

TEST_CASE("contents: another op's output is of an op that is there, and of one op") {
  using Catch::Matchers::Contains;
  const auto filled = [](Contents holds, Contents other) {
    Op op = with(holds);
    op.tensors.push_back({"u", Role::input, {Axis::rows}, {.holds = other}});
    Case c{.op = "holding", .dtype = f32};
    c.dims[Axis::rows] = 3;
    return output_of_another(op, c, "t");
  };
  CHECK_THROWS_WITH(filled(output_of("nothing", "y"), {}), Contains("'t' holds y of nothing, and there is no such op."));
  CHECK_THROWS_WITH(filled(output_of("add", "z"), {}), Contains("'t' holds z of add, and that op has no such tensor."));
  CHECK_THROWS_WITH(filled(output_of("add", "y"), output_of("softmax", "y")),
                    Contains("another tensor holds an output of another op"));
}

TEST_CASE("contents: integers at which kernels fail are fills of each op that has such tensors") {
  std::set<std::string_view> of_embedding, of_append;
  for (const Fill& f : find_op("embedding")->hooks.fills) of_embedding.insert(f.name);
  for (const std::string_view name : {"ids_backwards", "ids_round", "ids_last"}) CHECK(of_embedding.contains(name));
  for (const Fill& f : find_op("kv_append")->hooks.fills) of_append.insert(f.name);
  CHECK(of_append.contains("lengths_few"));
  CHECK_FALSE(of_append.contains("shared_full"));  // two sequences would write to one page
}

}  // namespace assay
