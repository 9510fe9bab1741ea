// SPDX-License-Identifier: Apache-2.0
// A graph's values in f64, and the magnitudes that bounds need and that do not depend on a kernel's numerics: computed once for
// a case, and used for each numerics that is judged (track.hpp).
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "ops/core/tensor.hpp"
#include "reference/formula/field.hpp"

namespace assay::formula {

// An error that many elements share: that of an array which is broadcast, or of the reciprocal by which it divides.
struct Symbol {
  int node = 0;
  bool reciprocal = false;
  auto operator<=>(const Symbol&) const = default;
};

// Per element of a sum or a product: of its terms x.
struct Terms {
  Field size;   // sum |x|
  Field root;   // sqrt(sum x^2)
  Field count;  // of those that are not 0
  std::map<Symbol, Field> left{},
      right{};  // of errors shared by all terms: |sum of their coefficients|; right: of a second factor
};

// Of rows under softmax and its kin.
struct RowParts {
  Field top;       // the maximum, 0 where it is infinite
  Field distance;  // top - x, at least 0; infinite where x is -inf
  Field weight;    // exp(-distance) over its sum
  Field count;     // elements whose exp is not 0
  Field log_sum;   // of the sum of exp(-distance)
};

struct Known {
  Field value;
  bool exact = false;                // every kernel has this value: an input, a maximum of inputs, small whole constants
  bool finite = true;                // all values are
  std::map<Symbol, Field> shared{};  // by how much an element moves with each shared error, to first order
  Terms terms{};                     // of sum and dot
  RowParts rows{};                   // of row functions and logsumexp
  Field size{}, squares{};           // |value| and value^2, of what a dot multiplies
};

// A part of a case: the positions of one axis that are evaluated, all of the others'.
struct Part {
  int axis = -1;  // none
  std::vector<std::int64_t> positions{};
};

class Values {
 public:
  // `tensors` are the graph's inputs, in their order, in host memory.  `common`, if given, is the same case with any other part
  // of the same axis: nodes without that axis are shared with it.  All must outlive this.
  Values(const Graph& graph, std::span<const Tensor> tensors, Part part = {}, const Values* common = nullptr);

  const Graph& graph() const { return graph_; }
  const Extents& extents() const { return extents_; }
  const Known& operator[](int node) const { return *known_[static_cast<std::size_t>(node)]; }
  // An output's values in the order of its tensor.
  std::vector<double> output(std::size_t number) const;
  // Any field of an output's node, in the order of the output's tensor.
  std::vector<double> in_order_of(const Port& output, const Field& field) const;

 private:
  Known visit(int node) const;
  Field load(const Port& input) const;
  Field compute(const Node& node) const;
  void share(int node, Known& y) const;
  // The shared errors of an argument as a node with these axes uses it.
  std::map<Symbol, Field> shared_of(int argument, AxisSet axes) const;
  void find_terms(int node, Known& y) const;
  void find_rows(int node, Known& y) const;  // their values too

  const Graph& graph_;
  std::span<const Tensor> tensors_;
  Part part_;
  Extents extents_;
  std::vector<std::shared_ptr<const Known>> known_;
};

// a b, where 0 times infinity is 0.
inline double by(double a, double b) { return a == 0 || b == 0 ? 0.0 : a * b; }

// Whether a number is 0 or a power of two, by which products are exact (underflow aside).
bool is_power_of_two_or_zero(double v);

}  // namespace assay::formula
