// SPDX-License-Identifier: Apache-2.0
// What an op's author writes a formula with.  It looks like array code, and records a graph:
//
//   const Axis cols("cols");
//   static void write(const assay::rmsnorm::Args& a, Formula& f) {
//     const Array x = f.in("x");
//     const Array xhat = step("xhat", x * rsqrt(mean(cols)(square(x)) + a.epsilon));
//     f.out("y", xhat * f.in("gamma"));
//   }
//   static const LinkedFormula<assay::rmsnorm> formula_of_rmsnorm("rmsnorm", write);  // linked_formula.hpp
//
// Arrays broadcast by the names of their axes.  A sum of products of arrays with different axes is a contraction, so
// sum(hidden)(x * weight) is a matrix product.  The formula says what is computed; in which order and with which roundings a
// kernel may compute it is what the kernel declares (ops/core/contract.hpp, Numerics).
#pragma once

#include <functional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/core/contract.hpp"
#include "reference/formula/graph.hpp"

namespace assay::formula {

// A tensor of a contract without the dimensions that hold a single value (Axis::one), and the names of the others.  An extent
// that only follows from an axis is an axis of its own, like "batch+1".
struct NamedDims {
  NamedDims(std::span<const Extent> shape, const Tensor& t);
  std::vector<std::string> names;
  Tensor tensor;
};

using Place = std::source_location;  // where in a formula something stands, for messages

// An axis by its name in the op's contract.
struct Axis {
  std::string_view name;
  explicit constexpr Axis(std::string_view n) : name(n) {}
};

class Formula;

// An array of the formula that is being recorded.
class Array {
 public:
  Array(Formula& f, int node) : formula_(&f), node_(node) {}
  Formula& formula() const { return *formula_; }
  int node() const { return node_; }

 private:
  Formula* formula_;
  int node_;
};

// An operand: an array, or a number beside one.
struct Operand {
  Formula* formula = nullptr;  // null: a number
  int node = 0;
  double number = 0;
  Place place;
  Operand(const Array& a, Place p = Place::current()) : formula(&a.formula()), node(a.node()), place(p) {}
  Operand(double n, Place p = Place::current()) : number(n), place(p) {}
};

Array operator+(const Operand& a, const Operand& b);
Array operator-(const Operand& a, const Operand& b);
Array operator*(const Operand& a, const Operand& b);
Array operator/(const Operand& a, const Operand& b);
Array operator-(const Operand& a);

Array maximum(const Operand& a, const Operand& b);
Array minimum(const Operand& a, const Operand& b);
Array square(const Operand& a);
Array absolute(const Operand& a);
Array round(const Operand& a);  // to the nearest whole number, ties to the even one
Array floor(const Operand& a);
Array ceil(const Operand& a);
Array pow2_floor(const Operand& a);  // the largest power of two that is not above a; 0 of 0, NaN of a negative a
Array pow2_ceil(const Operand& a);   // the least one that is not below a
Array exp(const Operand& a);
Array log(const Operand& a);
Array tanh(const Operand& a);
Array erf(const Operand& a);
Array sigmoid(const Operand& a);
Array softplus(const Operand& a);   // log(1 + exp(a))
Array silu(const Operand& a);       // a sigmoid(a)
Array gelu_tanh(const Operand& a);  // a/2 (1 + tanh(sqrt(2/pi) (a + 0.044715 a^3)))
Array gelu_erf(const Operand& a);   // a/2 (1 + erf(a / sqrt 2))
Array sqrt(const Operand& a);
Array rsqrt(const Operand& a);  // 1 / sqrt(a)

// cos(position base^(above/below)) and its sine: the angle is computed in extended precision.
Array cos_turn(const Operand& position, const Operand& above, const Operand& below, double base);
Array sin_turn(const Operand& position, const Operand& above, const Operand& below, double base);
// cos(position frequency) and its sine, of a frequency that is given.  The angle's own rounding is part of Numerics::angle_error.
Array cos_turn(const Operand& position, const Operand& frequency);
Array sin_turn(const Operand& position, const Operand& frequency);

// Whole numbers: positions along axes (Formula::index), tensors of integers and what is made of these.  Every kernel has them
// exactly.
Array quotient(const Operand& a, const Operand& b);  // the largest whole number that is not above a / b
// Conditions: 1 where they hold, else 0.
Array operator<(const Operand& a, const Operand& b);
Array operator<=(const Operand& a, const Operand& b);
inline Array operator>(const Operand& a, const Operand& b) { return b < a; }
inline Array operator>=(const Operand& a, const Operand& b) { return b <= a; }
Array operator&&(const Operand& a, const Operand& b);
// a where a condition holds, else b, element by element.  What is not chosen has no effect, NaN or not.
Array where(const Operand& condition, const Operand& a, const Operand& b);
// The elements of an array at these indices along one of its axes, which the result lacks; it has the axes of the indices.
Array take(const Array& a, Axis axis, const Array& indices, Place place = Place::current());
// The reverse: the result has a new axis in place of those of the indices, and there stands element a[i] at index indices[i].  An
// element whose index is not there, as -1, goes nowhere; where none goes there is 0.  Two in one place are an error.  An axis
// that no tensor has is made before, by Formula::index.
Array put(const Operand& a, Axis axis, const Array& indices, Place place = Place::current());

// A result that kernels may round to the storage dtype before it is read: those that name it in Numerics::stores.
Array step(std::string_view name, const Operand& a);

// Two ways to compute the same.  Kernels that name it in Numerics::ways compute the second, with its errors; golden and all other
// kernels have the first.  Without a name a kernel has either, and the larger of both errors counts.
Array either(const Operand& a, const Operand& b, std::string_view way = {});

// A result that the op itself rounds to a dtype, as an output that is used on (round_to).  Every kernel has a rounded sum of
// inputs exactly where the dtype has floats: to round it to f32 and then to fewer bits is to round it once, since 24 >= 2 p + 2
// for p = 11 and less (Figueroa 1995).
Array rounded_to(DType dtype, const Operand& a);

// Along axes: sum(rows, cols)(x).  The axes of a reduction are gone from the result; softmax and log_softmax keep theirs.
class Along {
 public:
  enum class What { sum, mean, max, softmax, softmax_or_zero, logsumexp, log_softmax };
  Along(What what, std::vector<Axis> axes) : what_(what), axes_(std::move(axes)) {}
  Array operator()(const Operand& a) const;

 private:
  What what_;
  std::vector<Axis> axes_;
};

// What is done along axes, which a call names one by one or as a list.
struct AlongAxes {
  Along::What what;
  template <class... Axes>
  Along operator()(Axes... axes) const {
    return Along(what, {axes...});
  }
};
inline constexpr AlongAxes sum{Along::What::sum}, mean{Along::What::mean}, max{Along::What::max};
inline constexpr AlongAxes softmax{Along::What::softmax}, log_softmax{Along::What::log_softmax};
inline constexpr AlongAxes logsumexp{Along::What::logsumexp};
inline constexpr AlongAxes softmax_or_zero{Along::What::softmax_or_zero};  // a row of only -inf has weights of 0, not NaN

// States after a step of a scan, and what it puts out; or the states after the last step, and what all steps put out.
struct Stepped {
  std::vector<Array> states, outputs;
};

// Records one formula.  Tensors are declared first, in the order of the contract; in() and out() then refer to them by name.
class Formula {
 public:
  void declare_input(std::string_view name, const std::vector<std::string>& axes, const Tensor& t);
  void declare_output(std::string_view name, const std::vector<std::string>& axes, const Tensor& t);

  // An input of the op.  Throws FormulaError if there is none of that name, or if the case lacks it.
  Array in(std::string_view name, Place place = Place::current());
  void out(std::string_view name, const Array& a, Place place = Place::current());
  // Gives an axis of an input another name, so that it no longer pairs element by element with arrays on the old axis but
  // broadcasts against it.  Makes the new axis if there is none.  Call it before the input is used.
  void rename(std::string_view input, Axis from, Axis to, Place place = Place::current());
  // The positions 0, 1, ... along an axis.
  Array index(Axis axis, Place place = Place::current());
  // The same for an axis that no tensor has, made here, as for the elements within a block.  Its extent must not be negative.
  Array index(Axis own, std::int64_t extent, Place place = Place::current());
  // The extent of an axis.
  std::int64_t extent(Axis axis, Place place = Place::current()) const;

  // A recurrence: one step after the other along an axis.  A step computes from the states before it those after it, and what it
  // puts out.  In it arrays with that axis are their elements at the step, so that only scan() itself gives results along it.
  // S(t) = a(t) S(t-1) + x(t), y(t) = sum over d of q(t) S(t):
  //   const Stepped all = f.scan(seq, {0.0}, [&](std::span<const Array> before) -> Stepped {
  //     const Array s = a * before[0] + x;
  //     return {.states = {s}, .outputs = {sum(d)(q * s)}};
  //   });
  //   f.out("y", all.outputs[0]);
  using Next = std::function<Stepped(std::span<const Array> before)>;
  Stepped scan(Axis along, const std::vector<Operand>& first, const Next& next, Place place = Place::current());

  // The graph, without nodes that no output needs.  Throws FormulaError if an output has not been given.
  Graph graph() const;

  // For the operators: a node, or the one that is there already and equal.
  Array add(Node node);
  int node_of(const Operand& a);
  const Node& node(int i) const { return graph_.nodes[static_cast<std::size_t>(i)]; }
  int axis(std::string_view name, const Place& place) const;
  const Graph& recorded() const { return graph_; }

 private:
  Port port(std::string_view name, const std::vector<std::string>& axes, const Tensor& t);
  // Makes an axis if there is none of that name, before the first of those that come after it in its tensor: most arrays then
  // have their tensor's order.
  void need_axis(const std::string& name, std::int64_t extent, std::span<const std::string> after);
  int axis_of(const std::string& name) const;
  // Records the step of a scan, again if its states turn out to have more axes than were given.  axes_of_states: gets those of
  // each state.
  Stepped recorded_step(const std::vector<int>& first, AxisSet along, int scan, const Next& next, const Place& place,
                        std::vector<AxisSet>& axes_of_states);
  Graph graph_;
  std::vector<bool> given_;  // of the outputs
  int scanning_ = 0;         // scans whose step is being recorded
};

}  // namespace assay::formula
