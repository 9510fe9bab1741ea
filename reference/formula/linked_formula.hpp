// SPDX-License-Identifier: Apache-2.0
// Formulas by the name of their op: each enters itself, and is recorded from the arguments of a case.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/core/contract.hpp"
#include "ops/core/linked.hpp"
#include "reference/formula/answers.hpp"
#include "reference/formula/formula.hpp"
#include "reference/formula/rounded.hpp"
#include "reference/formula/shapes.hpp"
#include "reference/formula/words.hpp"

namespace assay::formula {

namespace detail {
// Visits a contract's bind(): declares its tensors with the axes of the contract, and lists those that are inputs of the case.
struct DeclareTensors {
  Formula& f;
  std::vector<Tensor> inputs{};
  std::optional<DType> storage{};  // of the tensors that share the case's dtype
  DType dtype() const { return storage.value_or(DType::f32); }
  void input(std::string_view name, const Tensor& t, AxisList axes, const TensorOptions& options = {}) {
    if (!t.rank) return;
    if (!options.dtype && !storage) storage = t.dtype;
    const NamedDims dims(axes, t);
    f.declare_input(name, dims.names, dims.tensor);
    inputs.push_back(dims.tensor);
  }
  void weight(std::string_view name, const Tensor& t, AxisList axes, const TensorOptions& options = {}) {
    input(name, t, axes, options);
  }
  // One that is updated is an input too: what it holds before.
  void output(std::string_view name, const Tensor& t, AxisList axes, const TensorOptions& options = {}) {
    if (!t.rank) return;
    if (options.updated) input(name, t, axes, options);
    if (!options.dtype && !storage) storage = t.dtype;
    const NamedDims dims(axes, t);
    f.declare_output(name, dims.names, dims.tensor);
  }
  void attribute(std::string_view, double, double) {}
  template <class T>
  void choice(std::string_view, const T&, Words) {}
};
}  // namespace detail

// The formulas of a program, by op.  Each enters itself before main(), as kernels do (ops/core/linked.hpp).
struct NamedFormula {
  std::string_view op;
  Graph (*trace)(const void* args);
  const NamedFormula* next = nullptr;
  static inline const NamedFormula* first = nullptr;
};

template <class Op>
struct LinkedFormula {
  using Args = typename Op::Args;
  using Write = void (*)(const Args&, Formula&);
  static inline Write write = nullptr;
  NamedFormula named;
  LinkedFormula(std::string_view op, Write w) : named{op, trace, NamedFormula::first} {
    write = w;
    NamedFormula::first = &named;
    LinkedAnswers<Op>::make = answer;
    LinkedAnswers<Op>::memory = [](const Args& args, const Rows& rows) { return memory_of(trace(&args), rows); };
    LinkedAnswers<Op>::facts = [](const Args& args) { return facts_of(trace(&args), Op::axes); };
    LinkedAnswers<Op>::words_read = words_read;
    LinkedAnswers<Op>::rounded = rounded;
    LinkedAnswers<Op>::without_last = without_last;
  }

  // The graph of a case: its tensors' shapes and dtypes, and its attributes.  Tensors need no data.
  static Graph trace(const void* args) {
    Formula f;
    record(*static_cast<const Args*>(args), f);
    return f.graph();
  }

 private:
  static std::unique_ptr<FormulaAnswers> answer(const Args& args, const Rows& rows, std::span<const std::span<double>> values,
                                                Need need) {
    Formula f;
    const detail::DeclareTensors declared = record(args, f);
    const Graph graph = f.graph();
    return answers_of(
        graph, declared.inputs, declared.dtype(), [args, rows, graph](std::size_t o) { return rows_of(args, rows, graph, o); },
        values, need);
  }
  static Rows rows_of(const Args& args, const Rows& rows, const Graph& graph, std::size_t output) {
    RowOf row_of;
    if constexpr (requires { Op::row_of(args, 0, 0); })
      row_of = [&args, output](std::int64_t i) { return Op::row_of(args, static_cast<int>(output), i); };
    return rows_of_output(graph, output, rows, row_of);
  }
  static Numerics words_read(const Args& args, const Numerics& numerics) {
    Formula f;
    const detail::DeclareTensors declared = record(args, f);
    return formula::words_read(f.graph(), declared.dtype(), numerics);
  }
  static bool rounded(const Args& args, const Numerics& numerics, Roundings roundings,
                      std::span<const std::span<double>> outputs) {
    Formula f;
    const detail::DeclareTensors declared = record(args, f);
    return evaluate_rounded(f.graph(), declared.inputs, declared.dtype(), numerics, roundings, outputs);
  }
  static void without_last(const Args& args, std::string_view axis, std::span<double> first) {
    Formula f;
    const detail::DeclareTensors declared = record(args, f);
    answer_without_last(f.graph(), declared.inputs, declared.dtype(), axis, first);
  }
  static detail::DeclareTensors record(Args args, Formula& f) {  // of a copy, since bind() takes what it may change
    detail::DeclareTensors declare{f};
    Op::bind(args, declare);
    write(args, f);
    return declare;
  }
};

}  // namespace assay::formula
