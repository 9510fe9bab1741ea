// SPDX-License-Identifier: Apache-2.0
#include "reference/formula/answers.hpp"

#include "reference/formula/evaluate.hpp"

namespace assay::formula {
namespace {

// Elements of all arrays of a case together up to which they are kept: about 64 MB with what belongs to them.
constexpr std::int64_t kMostKept = 1 << 20;

class Answers final : public FormulaAnswers {
 public:
  Answers(Graph graph, std::vector<Tensor> inputs, DType storage, const Rows& rows, std::span<const std::span<double>> values)
      : graph_(std::move(graph)), inputs_(std::move(inputs)), storage_(storage), parts_(graph_, inputs_, rows) {
    std::int64_t elements = 0;
    for (const Node& node : graph_.nodes) elements += graph_.size(node.axes);
    keeps_ = elements <= kMostKept;
    for (const Port& output : graph_.outputs)
      if (graph_.size(set_of(output.axes)) > 0) outputs_.push_back(&output);
    if (keeps_) {
      kept_ = parts_.all();
      for (const auto& part : kept_) write_values(*part, values);
    } else {
      parts_.visit([&](const Values& part) { write_values(part, values); });
    }
  }

  bool has_rules(const Numerics& numerics) const override { return static_cast<bool>(formula::has_rules(graph_, numerics)); }
  void bounds(Errors errors, const Numerics& numerics, std::span<const std::span<double>> outputs) override {
    const Declared declared{numerics, errors, storage_};
    const auto write = [&](const Values& part) {
      const Tracked tracked(part, declared);
      for (std::size_t o = 0; o < outputs.size(); ++o) {
        const Port& output = *outputs_[o];
        const std::vector<double> values = part.in_order_of(output, part[output.node].value);
        const std::vector<double> errors_of = part.in_order_of(output, tracked.total(output.node));
        std::vector<double> all(values.size());
        for (std::size_t i = 0; i < all.size(); ++i)
          all[i] = rounded_last(output.dtype, numerics.accumulate, values[i], errors_of[i]);
        place(part, output, all, outputs[o]);
      }
    };
    if (keeps_)
      for (const auto& part : kept_) write(*part);
    else parts_.visit(write);
  }

 private:
  void write_values(const Values& part, std::span<const std::span<double>> values) const {
    for (std::size_t o = 0; o < values.size(); ++o) {
      const Port& output = *outputs_[o];
      place(part, output, part.in_order_of(output, part[output.node].value), values[o]);
    }
  }

  Graph graph_;
  std::vector<Tensor> inputs_;
  DType storage_;
  Parts parts_;
  std::vector<const Port*> outputs_;  // those that are not empty
  bool keeps_ = false;
  std::vector<std::shared_ptr<const Values>> kept_;
};

}  // namespace

double rounded_last(DType output, DType accumulate, double value, double error) {
  return output == f32 && accumulate == f32 ? error : error + rounding_error(output, value, error);
}

std::unique_ptr<FormulaAnswers> answers_of(Graph graph, std::vector<Tensor> inputs, DType storage, const Rows& rows,
                                           std::span<const std::span<double>> values) {
  return std::make_unique<Answers>(std::move(graph), std::move(inputs), storage, rows, values);
}

}  // namespace assay::formula
