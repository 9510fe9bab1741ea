// SPDX-License-Identifier: Apache-2.0
#include "validate/opfile/own_op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "reference/formula/answers.hpp"
#include "reference/formula/rounded.hpp"
#include "reference/formula/shapes.hpp"
#include "reference/formula/words.hpp"
#include "validate/base/error.hpp"
#include "validate/ops/by_formula.hpp"
#include "validate/problem/contents/contents.hpp"
#include "validate/problem/formula_problem.hpp"

namespace assay {

namespace {

struct OwnArgs {
  const OwnOp* op;
  std::vector<Tensor> tensors;     // in the order of the op's
  std::vector<double> attributes;  // likewise
};

// What a formula makes of the arguments of a case.
struct Traced {
  formula::Graph graph;
  std::vector<Tensor> inputs;  // the graph's, in its order
  DType storage = DType::f32;  // of the tensors that share the case's dtype
};

std::vector<formula::TextAttribute> values_of(const OwnArgs& args) {
  std::vector<formula::TextAttribute> all;
  for (std::size_t i = 0; i < args.attributes.size(); ++i) {
    const Attribute& a = args.op->attributes[i];
    all.push_back({a.name, args.attributes[i], a.choices});
  }
  return all;
}

// Declares the tensors that the case has.  Returns those that are inputs.
std::vector<Tensor> declare(formula::Formula& f, const OwnArgs& args) {
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < args.tensors.size(); ++i) {
    const TensorSpec& spec = args.op->tensors[i];
    const Tensor& t = args.tensors[i];
    if (!t.rank) continue;
    const formula::NamedDims dims(spec.axes, t);
    if (spec.role == Role::output) {
      f.declare_output(spec.name, dims.names, dims.tensor);
      continue;
    }
    f.declare_input(spec.name, dims.names, dims.tensor);
    inputs.push_back(dims.tensor);
  }
  return inputs;
}

const OwnArgs& own(const void* args) { return *static_cast<const OwnArgs*>(args); }

// Throws FormulaError, which names the file and the formula's line.
Traced trace(const OwnArgs& args) {
  formula::Formula f;
  Traced traced{.graph = {}, .inputs = declare(f, args)};
  for (std::size_t i = 0; i < args.tensors.size(); ++i)
    if (args.tensors[i].rank && !args.op->tensors[i].options.dtype) traced.storage = args.tensors[i].dtype;
  try {
    args.op->formula->record(f, values_of(args));
    traced.graph = f.graph();
  } catch (const FormulaError& e) {
    throw BadInput(fmt::format("{}: {}", args.op->path, e.what()));
  }
  return traced;
}

class OwnProblem final : public FormulaProblem {
 public:
  explicit OwnProblem(const OwnOp& op) : args_{&op, std::vector<Tensor>(op.tensors.size()), {}} {
    for (Tensor& t : args_.tensors) tensors_.push_back(&t);
    for (const Attribute& a : op.attributes) args_.attributes.push_back(a.standard);
  }
  std::span<Tensor* const> tensors() override { return tensors_; }
  Tensor tensor(std::string_view name) const override {
    const auto at = std::ranges::find(args_.op->tensors, name, &TensorSpec::name);
    return at == args_.op->tensors.end() ? Tensor{} : args_.tensors[static_cast<std::size_t>(at - args_.op->tensors.begin())];
  }
  void set_attribute(std::string_view name, double value) override {
    const auto at = std::ranges::find(args_.op->attributes, name, &Attribute::name);
    if (at != args_.op->attributes.end()) args_.attributes[static_cast<std::size_t>(at - args_.op->attributes.begin())] = value;
  }
  const void* args() const override { return &args_; }
  Legality legal() const override {
    if (const Legality ok = contents_legal(args_.op->tensors, tensors_); !ok) return ok;
    formula::Formula f;
    declare(f, args_);
    for (const formula::TextCondition& condition : args_.op->legal)
      if (!condition.holds(f, values_of(args_))) return Legality::no(fmt::format("needs {}", condition.text()));
    return Legality::yes();
  }
  Cost cost() const override { return facts_of(trace(args_).graph, args_.op->axes).cost; }
  SolveMemory memory(const Rows& rows, bool /*given*/) override { return memory_of(trace(args_).graph, rows); }

 private:
  std::vector<Tensor> outputs() const override {
    std::vector<Tensor> all;
    for (std::size_t i = 0; i < args_.tensors.size(); ++i)
      if (args_.op->tensors[i].role == Role::output) all.push_back(args_.tensors[i]);
    return all;
  }
  std::unique_ptr<FormulaAnswers> answers(const Rows& rows, std::span<const std::span<double>> values, Need need) override {
    Traced traced = trace(args_);
    const formula::RowsOf rows_of = [rows, graph = traced.graph](std::size_t output) {
      return formula::rows_of_output(graph, output, rows, {});
    };
    return answers_of(std::move(traced.graph), std::move(traced.inputs), traced.storage, rows_of, values, need);
  }
  Numerics words_read_of(const Numerics& n) const override {
    const Traced traced = trace(args_);
    return formula::words_read(traced.graph, traced.storage, n);
  }

  OwnArgs args_;
  std::vector<Tensor*> tensors_{};
};

constexpr FormulaOf kFormulaOfOwn{
    .facts = [](const void* args) { return facts_of(trace(own(args)).graph, own(args).op->axes); },
    .oracle =
        [](const void* args, const Numerics& numerics, Roundings roundings, std::span<const std::span<double>> outputs) {
          const Traced traced = trace(own(args));
          return evaluate_rounded(traced.graph, traced.inputs, traced.storage, numerics, roundings, outputs);
        },
    .without_last =
        [](const void* args, std::string_view axis, std::span<double> y) {
          Traced traced = trace(own(args));
          answer_without_last(std::move(traced.graph), std::move(traced.inputs), traced.storage, axis, y);
        }};

}  // namespace

Op make_op(const OwnOp& own_op) {
  Op op{.name = own_op.name,
        .about = own_op.about,
        .axes = own_op.axes,
        .tensors = own_op.tensors,
        .attributes = own_op.attributes,
        .hooks = {},
        .make = [&own_op] { return std::make_unique<OwnProblem>(own_op); }};
  try {
    check_axes(op);
    add_contents(op);
    describe_by_formula(op, kFormulaOfOwn);
  } catch (const std::logic_error& e) {  // a FormulaError too
    throw BadInput(fmt::format("{}: {}", own_op.path, e.what()));
  }
  return op;
}

}  // namespace assay
