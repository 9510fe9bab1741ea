// SPDX-License-Identifier: Apache-2.0
// The words a contract is written in.  An op `stem` is a struct of that name in ops/stem.hpp with
//
//   struct Args                                   run-time typed tensors, the shape beside each, and the attributes
//   struct Golden                                 what the reference answers in f64: the outputs, and the magnitudes
//                                                 that the bound needs; of full size, where only some rows are
//                                                 answered too
//   static constexpr AxisUse axes[]
//   static void bind(Args&, visitor)              names every tensor (input, weight, output: a shape of axes, see
//                                                 TensorOptions), every attribute (its default) and every choice (its
//                                                 words, the default first)
//   static void bind(Golden&, visitor)            names every array of the golden, the outputs first and in the
//                                                 order of Args
//   static Legality legal(const Args&)
//   static double bound(const Args&, const Golden&, const Numerics&, Errors, int output, int64 i)
//                                                 how far element i (row-major) of an output may lie from the golden
//   static int64 row_of(const Args&, int output, int64 i)
//                                                 optional: the row (rows.hpp) of element i; without it, i over the
//                                                 extent of the output's last axis
//   static std::vector<Stage> stages(const Args&)
//                                                 in place of bound(), of an op that is made of others: each of its outputs
//                                                 is an output of one stage, in an order in which they can be made (stage.hpp)
//   static Cost cost(const Args&)
//
// The golden is `void assay::reference::golden(const stem::Args&, stem::Golden&, const Rows&)` in reference/stem.cpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "ops/core/axes.hpp"
#include "ops/core/dtype.hpp"
#include "ops/core/rows.hpp"
#include "ops/core/stage.hpp"
#include "ops/core/tensor.hpp"

namespace assay {

// Whether a case, or a kernel's support of it, stands; and if not, why, in one clause.
struct Legality {
  bool ok = true;
  std::string why;
  static Legality yes() { return {}; }
  static Legality no(std::string why) { return {false, std::move(why)}; }
  explicit operator bool() const { return ok; }
};

// What an op must move and compute, by formula.  Bytes are of device memory: each input read once, each output
// written once; and the same for the pipeline of one kernel a step that the op fuses.
struct Cost {
  double flops = 0;
  double bytes_read = 0;
  double bytes_written = 0;
  double unfused_bytes = 0;
  double bytes() const { return bytes_read + bytes_written; }
};

// The longest chain of dependent additions in a sum of n terms: `lanes` partial sums side by side, each a serial
// chain, then `extra` additions to join them.
struct Chain {
  std::int64_t lanes = 1;
  std::int64_t extra = 0;
  // How many of them can round.  Adding a zero does not, and n terms have at most n - 1 additions that are not of a zero.
  constexpr std::int64_t roundings(std::int64_t n) const { return std::min((n + lanes - 1) / lanes + extra, n - 1); }
  bool operator==(const Chain&) const = default;
};

// The roundings of a division by n: none by a power of two, short of underflow.
constexpr int division_roundings(std::int64_t n) { return std::has_single_bit(static_cast<std::uint64_t>(n)) ? 0 : 1; }

// How a kernel computes: the bound is made from this and from the data, and from nothing else.
struct Numerics {
  DType accumulate = DType::f32;      // sums and everything between input and output
  Chain chain{};                      // of the sums
  bool stores_intermediate = false;   // a step's result is rounded to the storage dtype before the next step
  bool stores_steps = false;          // and so are a product before its bias and silu before it is multiplied
  std::int64_t mma_terms = 0;         // products that a tensor-core step adds before it truncates (8 covers all); 0: none
  bool narrow_probabilities = false;  // attention's p, ffn_gelu's h are rounded to the storage dtype before they meet V, w2
  bool scaled_gradients = false;      // attention's scale dS, not dS, is rounded to the storage dtype before it meets K and Q
  bool cancelling_gelu = false;       // GELU as x/2 (1 + tanh) or x/2 (1 + erf), which cancels for negative x
  bool rounds_weights = false;        // gamma times the weight is rounded to the storage dtype
  double function_error = 4;          // relative error of exp and its kin in units of 2^-24 (CUDA's expf: 2 ulp)
  bool flushes_subnormals = false;    // results of such a function below the normal range are zero
  bool flushes_storage = false;       // so are inputs and outputs below f32's normal range, 2^-126
  double angle_error = 0;             // rope: relative error of an angle in units of 2^-24, before its whole turns are taken off
  double turn_error = 0;              // rope: its error after that, in units of 2^-24 radians
  bool rounds_turned = false;         // attention's q and k are rounded to the storage dtype once they are turned
  Chain rescales{.lanes = 0};         // online softmax: how often a sum meets exp(old max - new max); lanes 0: never
  Numerics (*of_output)(const void* args, int output) = nullptr;  // of an op with stages: those of what makes that output
  bool operator==(const Numerics&) const = default;
};

// What relative errors that add up to rho make of a product of so many factors; without bound from rho = 1 on.
inline double compounded(double rho) { return rho < 1 ? rho / (1 - rho) : std::numeric_limits<double>::infinity(); }

// One rounding of v, known within `error`, to a dtype.
inline double rounding_error(DType t, double v, double error) {
  return unit_roundoff(t) * (std::fabs(v) + error) + rounding_floor(t);
}

// How the rounding errors of a case add up, which its fill says: like a random walk, or all one way.
enum class Errors { independent, coherent };

// Whether every element of a tensor of integers, in host memory, is one of 0 ... extent - 1.
inline Legality places_legal(std::string_view name, const Tensor& t, std::int64_t extent) {
  for (std::int64_t i = 0; i < t.size(); ++i)
    if (const auto place = static_cast<std::int64_t>(t.at(i)); place < 0 || place >= extent)
      return Legality::no(std::string(name) + "[" + std::to_string(i) + "] is " + std::to_string(place) + ", not one of 0 ... " +
                          std::to_string(extent - 1));
  return Legality::yes();
}

// An array of a golden: row-major f64.
using Array = std::span<double>;

// A shape as axes, innermost last.
using AxisList = std::initializer_list<Axis>;

// What may be said of a tensor beside its shape.
struct TensorOptions {
  std::optional<DType> dtype{};    // this one, whatever the case's
  std::string_view when{};         // the choice that must not be its first word; else the tensor is absent: no data, rank 0
  std::uint32_t words = 0;         // of that choice, if it is others: bit k stands for word k
  std::optional<Axis> index_of{};  // its integers are places on this axis, 0 ... extent - 1: ids, targets
  std::string_view over{};         // an output that lies where this input of its shape lies, if the choice `over_when` is not
  std::string_view over_when{};    // its first word; then it starts as the input, which the kernel may destroy
  bool updated = false;            // an output that is read too: the fill's values until the kernel writes others
  bool one_more = false;           // its last extent is one more than the axis's: where each begins, and where the last ends
};

// The words of a choice, the default first.
using Words = std::initializer_list<std::string_view>;

}  // namespace assay
