// SPDX-License-Identifier: Apache-2.0
// A graph's values in f64, and the magnitudes that bounds need and that do not depend on a kernel's numerics: computed once for
// a case, and used for each numerics that is judged (track.hpp); those of a scan's steps are computed again for each.
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
  // Of a mean of x by the weights of a softmax: sqrt(sum w x^2 - value^2), which is at least sum w |x - value|; the largest |x|;
  // sum |x| of what the weights do not hide.
  Field spread{}, farthest{}, unhidden{};
  std::map<Symbol, Field> left{},
      right{};  // of errors shared by all terms: |sum of their coefficients|; right: of a second factor
};

// Of rows under softmax and its kin.
struct RowParts {
  Field most;      // the maximum
  Field top;       // the same, 0 where it is infinite
  Field largest;   // |x|, of what is finite and has a weight
  Field distance;  // top - x, at least 0; infinite where x is -inf
  Field weight;    // exp(-distance) over its sum
  Field count;     // elements whose exp is not 0
  Field log_sum;   // of the sum of exp(-distance)
  Field spread;    // sum weight distance, of what is finite
  Field squares;   // sum weight^2
};

struct Known {
  Field value;
  bool exact = false;                // every kernel has this value: an input, a maximum of inputs, small whole constants
  bool whole = false;                // a whole number that is computed from such: a position, an index
  std::map<Symbol, Field> shared{};  // by how much an element moves with each shared error, to first order
  Terms terms{};                     // of sum and dot
  RowParts rows{};                   // of row functions and logsumexp
  Field size{}, squares{};           // |value| and value^2, of what a dot multiplies; 0 of what is not finite
  std::vector<Known> results{};      // of a scan: its last states, then what its steps put out
};

// A part of a case: the positions that are evaluated along some axes, and all along the others.
using Part = std::map<int, std::vector<std::int64_t>>;

// The softmax by whose weights a node is a mean of its other factor, and that factor: arguments of a dot along the same axes.
struct Mean {
  int weights = -1;  // none
  int of = -1;
};
Mean mean_of(const Graph& graph, const Node& node);
// The condition under which a row function's argument is not -inf; -1: none.
int condition_of(const Graph& graph, const Node& row_function);

class Values;

// Another way to compute a node than in exact arithmetic (rounded.hpp).
class Interpretation {
 public:
  virtual ~Interpretation() = default;
  virtual Known known(const Values& arguments, int node) const = 0;
};

class Values {
 public:
  // `tensors` are the graph's inputs, in their order, in host memory.  `common`, if given, has some nodes of the same case for
  // at least the positions of this part: they are taken from there.  All must outlive this.
  Values(const Graph& graph, std::span<const Tensor> tensors, Part part = {}, const Values* common = nullptr,
         Need need = Need::bounds);
  // Values alone, without the magnitudes for bounds.
  Values(const Graph& graph, std::span<const Tensor> tensors, const Interpretation& interpretation);
  // One step of a scan, of what it is given.
  Values(const Graph& body, std::vector<Known> given, const Part& part, const Interpretation* interpretation = nullptr);
  // Only the nodes without one axis.
  static Values without(int axis, const Graph& graph, std::span<const Tensor> tensors, Part part, Need need);

  const Graph& graph() const { return graph_; }
  const Extents& extents() const { return extents_; }
  const Part& part() const { return part_; }
  const Known& operator[](int node) const { return *known_[static_cast<std::size_t>(node)]; }
  bool has(int node) const { return known_[static_cast<std::size_t>(node)] != nullptr; }
  // A node of its arguments' values.  Not of softmax and its kin, whose values come with their parts, nor of a scan.
  Field compute(const Node& node) const;
  // What a node of kind `given` stands for, or what a scan's result is.
  const Known& found(const Node& node) const;
  // The elements of a field of an array's at the places that a node takes from it.
  Field taken(const Node& take, const Field& from) const;
  // The reverse: elements of a field of an array's at the places to which a node puts them.
  Field put(const Node& put, const Field& from) const;
  Field zeros_of_both_signs(const Node& choice, const Field& chosen) const;
  Field only_negative_zeros(const Node& sum) const;
  // Of a product whose one factor hides parts of the other: the weights of a mean or `where(condition, x, 0)`, the other factor,
  // and where that is read, 1 or 0.  weights = -1: all is read.
  struct Read {
    int weights = -1, other = -1;
    Field seen{};
  };
  Read read_by(const Node& dot) const;
  // An output's values in the order of its tensor.
  std::vector<double> output(std::size_t number) const;
  // Any field of an output's node, in the order of the output's tensor.
  std::vector<double> in_order_of(const Port& output, const Field& field) const;

 private:
  struct Without {
    int axis;
  };
  Values(Without, const Graph& graph, std::span<const Tensor> tensors, Part part, Need need);
  void set_extents();
  // The elements at this part's positions of a field that a larger part has.
  Field cut(const Field& field, const Values& from) const;
  Known cut(const Known& known, const Values& from) const;
  bool has_arguments(const Node& node) const;

  Known visit(int node) const;
  Known known_of(int node) const;  // without what bounds need
  std::vector<Known> scanned(int scan) const;
  std::int64_t position(int axis, std::int64_t i) const;
  Field load(const Port& input) const;
  Field load_at(const Port& input, int axis, const Field& places) const;
  const Port* read_where_taken(int node) const;
  Field take(const Node& node) const;
  Field multiply_up(const Node& node) const;
  bool is_exact(const Node& node) const;
  void share(int node, Known& y) const;
  // The shared errors of an argument as a node with these axes uses it.
  std::map<Symbol, Field> shared_of(int argument, AxisSet axes) const;
  void find_terms(int node, Known& y) const;
  // The row function whose rows a node works on too, if it comes before; -1: none.
  int earlier_rows(int node) const;
  RowParts rows_of(const Field& x, AxisSet over) const;
  void find_rows(int node, Known& y) const;  // their values too

  const Graph& graph_;
  std::span<const Tensor> tensors_;
  Part part_;
  Need need_ = Need::bounds;
  std::vector<Known> given_;  // of a step
  Extents extents_;
  std::vector<std::shared_ptr<const Known>> known_;
};

// a b, where 0 times infinity is 0.
inline double by(double a, double b) { return a == 0 || b == 0 ? 0.0 : a * b; }

// Whether a number is 0 or a power of two, by which products are exact (underflow aside).
bool is_power_of_two_or_zero(double v);

}  // namespace assay::formula
