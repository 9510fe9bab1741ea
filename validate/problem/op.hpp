// SPDX-License-Identifier: Apache-2.0
// Type-erased ops and kernels, as the judge sees contracts and candidates.
// The tables hold what the program is linked with (ops/core/linked.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ops/core/formula_answers.hpp"
#include "validate/cases/op_shape.hpp"
#include "validate/problem/kernel.hpp"
#include "validate/problem/relation.hpp"
#include "validate/values/fill.hpp"

namespace assay {

struct Case;
struct Op;

struct TensorSpec {
  std::string_view name;
  Role role;
  std::vector<Extent> axes;  // the shape, innermost last
  TensorOptions options{};
};

// Whether the fill makes its values: true for inputs, and for the initial values of updated outputs.
inline bool is_given(const TensorSpec& t) { return t.role != Role::output || t.options.updated; }

// What may be the one thing in layout `alone` that is not aligned: the start of a tensor, or its rows if it has any.
struct AlonePlace {
  std::size_t tensor;
  bool rows;
};
inline std::vector<AlonePlace> alone_places(const std::vector<TensorSpec>& tensors) {
  std::vector<AlonePlace> places;
  for (const bool rows : {false, true})
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (!rows || tensors[i].axes.size() > 1) places.push_back({i, rows});
  return places;
}

// Attributes by which a tensor of numbers is there, and not one of places such as starts of sequences.
inline std::vector<std::string_view> bringing(const std::vector<TensorSpec>& tensors) {
  std::vector<std::string_view> attributes;
  for (const TensorSpec& t : tensors)
    if (!t.options.present_if.empty() && !is_index(t.options.dtype.value_or(f32))) attributes.push_back(t.options.present_if);
  return attributes;
}

// One problem: an op's arguments, and its golden once solved.
class Problem {
 public:
  virtual ~Problem() = default;
  virtual std::span<Tensor* const> tensors() = 0;  // in the order of Op::tensors; set data, dtype, shape and stride
  virtual void set_attribute(std::string_view name, double value) = 0;
  virtual const void* args() const = 0;
  virtual Tensor tensor(std::string_view /*name*/) const { return {}; }  // of rank 0 if the case lacks it
  virtual Legality legal() const = 0;
  virtual Cost cost() const = 0;
  // Computes the golden for all rows or for a sorted sample, and what bounds need unless values alone are asked for.
  virtual void solve(std::vector<std::int64_t> sample = {}, Need need = Need::bounds) = 0;
  // Of solve() for these rows.  Tensors need no data, but where tables of integers have theirs it is read.  `given`: a composite
  // op's outputs will have data.
  virtual SolveMemory memory(const Rows& /*rows*/, bool /*given*/) { return {}; }
  virtual const Rows& rows() const = 0;                               // the solved rows
  virtual std::int64_t row_of(int output, std::int64_t i) const = 0;  // the row of element i (ops/core/rows.hpp)
  virtual std::span<const double> golden(int output) const = 0;
  // Of every element of an output, meaningful where the golden is.  Throws BadInput if there are none for these numerics.
  virtual std::span<const double> bounds_with(Errors, const Numerics&, int output) const = 0;
  // Whether there are bounds for these numerics: its formula's nodes need rules for each word.
  virtual Legality has_bounds(const Numerics&) const { return Legality::yes(); }
  // Of numerics for which there are bounds: the same, but words that the op's formula does not read have their default.  Empty:
  // its stages have formulas each.
  virtual std::optional<Numerics> words_read(const Numerics&) const { return {}; }
  std::span<const double> bounds(const Numerics& n, int output) const { return bounds_with(errors_, n, output); }
  double bound(const Numerics& n, int output, std::int64_t i) const { return bounds(n, output)[static_cast<std::size_t>(i)]; }
  // Only of a composite op that was solved without a candidate's outputs: the first output, in f64 throughout.
  virtual std::span<const double> end_to_end() const { return {}; }
  // The number of elements per row of an output if rows are consecutive; else 0.
  virtual std::int64_t row_length(int /*output*/) const { return 0; }
  void set_errors(Errors e) { errors_ = e; }  // as the fill declares
  Errors errors() const { return errors_; }
  // Only of a composite op: the numerics of the step that computes each output, of a kernel that is elsewhere.  They take the
  // place of Numerics::of_output.
  void set_steps(std::span<const Numerics> steps) { steps_.assign(steps.begin(), steps.end()); }

 protected:
  Errors errors_ = Errors::independent;
  std::vector<Numerics> steps_;
};

// Properties of an op that only the judge needs; from validate/ops/OP.cpp, optional.
struct Hooks {
  std::vector<Fill> fills;
  // Used if the golden is sampled: a cheap check of every row of the first output, `got`, for the inputs in `args`.  Returns the
  // largest ratio of error to allowed error.
  double (*sweep)(const void* args, const Numerics&, Errors, const Tensor& got, std::uint64_t seed) = nullptr;
  std::vector<Relation> relations{};
};

// What the judge knows of an op from its formula; of an op that is composed of others, which fills show nothing, from theirs
// (validate/ops/by_formula.hpp).
struct ByFormula {
  // The formula with every result rounded in turn, in the order of a simple kernel.  Writes the outputs that are not empty, not
  // yet rounded.  Returns whether a result overflowed that is finite in exact arithmetic.
  bool (*oracle)(const void* args, const Numerics&, Roundings, std::span<const std::span<double>> outputs) = nullptr;
  void first_by_oracle(const void* args, const Numerics& n, Roundings r, std::span<double> y) const {
    oracle(args, n, r, {&y, 1});
  }
  // Writes over the first output's values, `y`, those that it has without the last index of an axis.
  void (*without_last)(const void* args, std::string_view axis, std::span<double> y) = nullptr;
  // Axes that sums run over.  Power drops the last term of each and checks that the bound rejects that answer
  // (validate/judge/power.cpp).
  std::vector<Axis> summed{};
  // The formula only multiplies and adds inputs.  It has no function (exp) and no constant, whose errors may have one sign in
  // all elements.  So without tensor cores, which truncate, the kernel's errors have no preferred sign (A = 0 in aggregate.hpp).
  bool only_sums = false;
  // The input, such as a bias, that a kernel adds last to each row of the first output; empty: none.  If the sum before it is as
  // coarse as the output, it loses the same low bits in every row (C in aggregate.hpp).
  std::string_view last_addend{};
  // What kernels may declare as stored (Numerics::stores), and as computed in another way (Numerics::ways).
  std::vector<FormulaStep> steps{};
  std::vector<std::string> ways{};
  // Of a common fill; tried when it is first asked.
  ShowsNothing shows_nothing{};
};

// The hooks of an op enter themselves as its kernels do.
template <class Op>
struct LinkedHooks {
  static inline Hooks (*make)() = nullptr;
  explicit LinkedHooks(Hooks (*m)()) { make = m; }
};

struct Op {
  std::string_view name;
  std::string_view about;  // the contract's head comment
  std::span<const AxisUse> axes;
  std::vector<TensorSpec> tensors;
  std::vector<Attribute> attributes;
  Hooks hooks;
  ByFormula formula{};
  bool composite = false;  // has stages, judged one by one (composite.hpp)
  std::function<std::unique_ptr<Problem>()> make{};

  OpShape shape() const {
    return {name,
            axes,
            attributes,
            hooks.fills,
            formula.shows_nothing,
            static_cast<int>(alone_places(tensors).size()),
            bringing(tensors)};
  }
};

// Throws if a repro line cannot name an axis, if no tensor has it as an extent, so that shapes do not tell it, or if a relation
// moves the indices of one that has blocks.
void check_axes(const Op&);

// Whether the op's formula has all steps and ways that a declaration names.  Where there is none, as in a worker, or of a
// composite op, nothing is known.
Legality has_names(const Op&, const Numerics&);

// Ops that files describe (validate/opfile); null in a program that reads none.
struct OpsOfFiles {
  static inline std::vector<Op> (*read)() = nullptr;
};

std::span<const Op> ops();                   // by name.  Throws BadInput for a wrong file
std::span<const Kernel> built_in_kernels();  // by op, the right ones first, then by name
// The kernels of this process: the built-in ones, or those that use_kernels() put in their place.
std::span<const Kernel> kernels();
void use_kernels(std::vector<Kernel> loaded);

// The index of a tensor among the op's; their number if there is none of that name.
inline std::size_t tensor_index(const Op& op, std::string_view name) {
  std::size_t i = 0;
  while (i < op.tensors.size() && op.tensors[i].name != name) ++i;
  return i;
}

// By name; null if there is none.
const Op* find_op(std::string_view name);
// Whether it is an op of the tree that the program was built without (ASSAY_ONLY).
bool is_left_out(std::string_view op);
const Kernel* find_kernel(std::string_view op, std::string_view name);
std::vector<std::string_view> kernel_names(std::string_view op);  // of kernels()

}  // namespace assay
