// SPDX-License-Identifier: Apache-2.0
// Ops and kernels with their types erased: what the judge sees of a contract and of a candidate.
// The tables are generated at configure time from the file names (cmake/Registry.cmake).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/core/kernel.hpp"
#include "validate/cases/op_shape.hpp"
#include "validate/problem/relation.hpp"
#include "validate/values/fill.hpp"

namespace assay {

class KeptBounds;  // bounds.hpp
struct Case;
struct Op;

struct TensorSpec {
  std::string_view name;
  Role role;
  std::vector<Axis> axes;  // its shape, innermost last
  TensorOptions options{};
};

// Whether the fill makes its values: those of an input, and those that an updated output has to begin with.
inline bool is_given(const TensorSpec& t) { return t.role != Role::output || t.options.updated; }

// One problem: an op's arguments, and its golden once solved.
class Problem {
 public:
  Problem();
  virtual ~Problem() = default;
  virtual std::span<Tensor* const> tensors() = 0;  // in the order of Op::tensors; set data, dtype, shape and stride
  virtual void set_attribute(std::string_view name, double value) = 0;
  virtual const void* args() const = 0;
  virtual Legality legal() const = 0;
  virtual Cost cost() const = 0;
  // Computes the golden, values and magnitudes, of all rows or of a sorted sample.
  virtual void solve(std::vector<std::int64_t> sample = {}) = 0;
  virtual const Rows& rows() const = 0;  // those that are solved
  virtual std::int64_t row_of(int output, std::int64_t i) const = 0;
  virtual std::span<const double> golden(int output) const = 0;
  virtual double bound(const Numerics&, int output, std::int64_t i) const = 0;
  // Of an op with stages, once solved without a candidate's outputs: the first output by the formula from end to end, in f64.
  virtual std::span<const double> end_to_end() const { return {}; }
  // How many elements of an output make a row, where rows lie one after the other; 0: they lie otherwise.
  virtual std::int64_t row_length(int /*output*/) const { return 0; }
  void set_errors(Errors e) { errors_ = e, forget_bounds(); }  // of the fill
  Errors errors() const { return errors_; }
  KeptBounds& kept_bounds() const { return *bounds_; }

 protected:
  void forget_bounds();  // solve() does
  Errors errors_ = Errors::independent;

 private:
  std::shared_ptr<KeptBounds> bounds_;
};

// Which roundings a scalar oracle makes on its way (numerics.md, "Second oracle").
enum class Roundings {
  exact,      // f64 throughout
  declared,   // as a kernel of these numerics computes
  one_lower,  // everything on chip one precision lower: the wrong answer that the bound must reject
};

// An axis that sums run over: a kernel that drops their last term is wrong.
struct Summed {
  Axis axis;
  bool (*applies)(const Case&) = nullptr;              // none: always
  void (*as_before)(const Case&, Problem&) = nullptr;  // keeps attributes whose default hangs on the extent
};

// What only the judge needs for an op; validate/ops/OP.cpp, optional.
struct Hooks {
  std::vector<Fill> fills;
  // Element i of a tensor of integers, for the fills that do not say; none: places on the axis that the contract names.
  std::int64_t (*integer)(const FillSite&, std::int64_t i) = nullptr;
  // Which rows (all but the last axis) of a tensor no right kernel reads, so that they hold NaN; empty: it may read all.
  std::vector<bool> (*unread)(const FillSite&, const Fill&) = nullptr;
  // Inputs whose values follow from those before them and are no fill's; and their values, row-major, before they are rounded.
  std::vector<std::string_view> derived{};
  std::vector<double> (*derive)(const Op&, const Case&, std::string_view tensor) = nullptr;
  // A scalar implementation that shares no code with the golden.  Writes the only output, before the final rounding.
  void (*oracle)(const void* args, const Numerics&, Roundings, std::span<double> y) = nullptr;
  // Where the golden is sampled: a check of every row of the first output that costs less than the golden.  `got` has the
  // candidate's values; inputs are those of `args`.  Returns the largest error as a share of what is allowed.
  double (*sweep)(const void* args, const Numerics&, Errors, const Tensor& got, std::uint64_t seed) = nullptr;
  std::vector<Relation> relations{};
  // No function and no constant takes part: without tensor cores every rounding is one to nearest of what the data make, so
  // that none of it has a sign (aggregate.hpp).
  bool only_sums = false;
  // The parameter that a kernel adds to element i of the first output after its sum, 0 where there is none: beside a sum as
  // precise as the output it is rounded alike in every row (aggregate.hpp).
  double (*added_last)(const void* args, std::int64_t i) = nullptr;
  // What a kernel may store on the way depends on a few inputs, exp(x - max) or x + r, or a parameter is added to it, or it is a
  // norm's, where one channel may be all of its row: the roundings of that step repeat (aggregate.hpp).
  bool step_of_few = false;
  std::vector<Summed> summed{};
  // The intermediates that a kernel may round to the storage dtype weigh about alike in the result: where one is declared to be
  // rounded (narrow_probabilities), no bound tells the others.
  bool intermediates_alike = false;
};

struct Op {
  std::string_view name;
  std::string_view about;  // the contract's head comment
  std::span<const AxisUse> axes;
  std::vector<TensorSpec> tensors;
  std::vector<Attribute> attributes;
  Hooks hooks;
  bool composite = false;  // has stages: a candidate is judged by its own outputs (composite.hpp)
  std::unique_ptr<Problem> (*make)() = nullptr;

  OpShape shape() const { return {name, axes, attributes, hooks.fills}; }
};

struct Kernel {
  std::string_view op, name;
  std::string_view about;  // the file's head comment
  bool broken = false;     // wrong on purpose
  bool variant = false;    // sound, and there to be judged only: it sums in another order
  DTypes dtypes;
  int least_arch = 0, only_arch = 0;
  bool deterministic = true;
  bool finite_inputs = false;
  bool position_matters = false;
  std::array<Tile, 3> tiles{};
  Numerics numerics;
  Legality (*available)() = nullptr;  // whether this machine has the library that it calls
  Legality (*supports)(const void* args) = nullptr;
  std::size_t (*workspace_bytes)(const void* args) = nullptr;
  Launcher on_simt = nullptr;  // none: not built for that backend
  Launcher on_gpu = nullptr;
};

// What the kernel needs that an architecture is not; empty: nothing.
inline std::string needs_arch(const Kernel& k, int arch) {
  if (k.only_arch != 0 && k.only_arch != arch) return "sm_" + std::to_string(k.only_arch) + " alone";
  return k.least_arch > arch ? "sm_" + std::to_string(k.least_arch) : "";
}
// Whether the kernel is one that calls a vendor's library.
inline bool is_vendor(const Kernel& k) { return k.name.starts_with("baseline_"); }
// Whether it is no library's own answer to the op, but a framework's pipeline of a call a step.
inline bool is_eager(const Kernel& k) { return k.name == "baseline_eager"; }

std::span<const Op> ops();
std::span<const Kernel> kernels();

// By name; nullptr where there is none.
const Op* find_op(std::string_view name);
const Kernel* find_kernel(std::string_view op, std::string_view name);

}  // namespace assay
