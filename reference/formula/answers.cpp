// SPDX-License-Identifier: Apache-2.0
#include "reference/formula/answers.hpp"

#include <cmath>

#include "reference/formula/evaluate.hpp"
#include "reference/formula/visit.hpp"

namespace assay::formula {
namespace {

class Answers final : public FormulaAnswers {
 public:
  Answers(Graph graph, std::vector<Tensor> inputs, DType storage, const Rows& rows, std::span<const std::span<double>> values)
      : graph_(std::move(graph)), inputs_(std::move(inputs)), storage_(storage), parts_(graph_, inputs_, rows) {
    std::int64_t elements = 0;
    each_node(graph_, [&](const Visited& v) { elements += graph_.size(v.node.axes); });
    if (elements <= kMostKept) kept_ = parts_.all();
    for_each_part([&](const Values& part) { write(part, values, [&](std::size_t o) { return part.output(o); }); });
  }

  Legality has_rules(const Numerics& numerics) const override { return formula::has_rules(graph_, numerics); }
  Numerics words_read(const Numerics& numerics) const override { return formula::words_read(graph_, storage_, numerics); }
  void bounds(Errors errors, const Numerics& numerics, std::span<const std::span<double>> outputs) override {
    for_each_part([&](const Values& part) {
      const Tracked tracked(part, {numerics, errors, storage_});
      write(part, outputs, [&](std::size_t o) {
        std::vector<double> bounds = tracked.output(o);
        const std::vector<double> values = part.output(o);
        for (std::size_t i = 0; i < bounds.size(); ++i)
          bounds[i] = rounded_last(graph_.outputs[o].dtype, numerics.accumulate, values[i], bounds[i]);
        return bounds;
      });
    });
  }

 private:
  void for_each_part(const std::function<void(const Values&)>& visit) const {
    if (kept_.empty()) return parts_.visit(visit);
    for (const auto& part : kept_) visit(*part);
  }
  // Writes a part of each output that is not empty.
  template <class Elements>
  void write(const Values& part, std::span<const std::span<double>> outputs, Elements&& elements) const {
    auto to = outputs.begin();
    for (std::size_t o = 0; o < graph_.outputs.size(); ++o)
      if (graph_.size(set_of(graph_.outputs[o].axes)) > 0) place(part, graph_.outputs[o], elements(o), *to++);
  }

  Graph graph_;
  std::vector<Tensor> inputs_;
  DType storage_;
  Parts parts_;
  std::vector<std::shared_ptr<const Values>> kept_;  // of a small case, all parts
};

}  // namespace

double rounded_last(DType output, DType accumulate, double value, double error) {
  if (error == 0 && std::isfinite(value) && round_to(output, value) == value) return 0;
  return output == f32 && accumulate == f32 ? error : error + rounding_error(output, value, error);
}

std::unique_ptr<FormulaAnswers> answers_of(Graph graph, std::vector<Tensor> inputs, DType storage, const Rows& rows,
                                           std::span<const std::span<double>> values) {
  return std::make_unique<Answers>(std::move(graph), std::move(inputs), storage, rows, values);
}

}  // namespace assay::formula
