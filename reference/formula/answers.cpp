// SPDX-License-Identifier: Apache-2.0
#include "reference/formula/answers.hpp"

#include <cmath>
#include <stdexcept>

#include "reference/formula/evaluate.hpp"
#include "reference/formula/visit.hpp"

namespace assay::formula {
namespace {

class Answers final : public FormulaAnswers {
 public:
  Answers(Graph graph, std::vector<Tensor> inputs, DType storage, const RowsOf& rows_of,
          std::span<const std::span<double>> values, Need need)
      : graph_(need == Need::bounds ? std::move(graph) : decided(std::move(graph), [](const Node&) { return false; })),
        inputs_(std::move(inputs)),
        storage_(storage),
        need_(need),
        parts_(graph_, inputs_, rows_of, need) {
    std::int64_t elements = 0;
    each_node(graph_, [&](const Visited& v) { elements += graph_.size(v.node.axes); });
    if (elements <= kMostKept && need == Need::bounds) kept_ = parts_.all();
    for_each_part([&](const PartOf& part) { write(part, values, [&](std::size_t i) { return part.values->output(i); }); });
  }

  Legality has_rules(const Numerics& numerics) const override { return formula::has_rules(graph_, numerics); }
  Numerics words_read(const Numerics& numerics) const override { return formula::words_read(graph_, storage_, numerics); }
  void bounds(Errors errors, const Numerics& numerics, std::span<const std::span<double>> outputs) override {
    if (need_ == Need::values) throw std::logic_error("bounds of a case of which values alone were asked");
    for_each_part([&](const PartOf& part) {
      const Values& values = *part.values;
      const Tracked tracked(values, {numerics, errors, storage_});
      write(part, outputs, [&](std::size_t i) {
        std::vector<double> bounds = tracked.output(i);
        const std::vector<double> exact = values.output(i);
        for (std::size_t k = 0; k < bounds.size(); ++k)
          bounds[k] = rounded_last(values.graph().outputs[i].dtype, numerics.accumulate, exact[k], bounds[k]);
        return bounds;
      });
    });
  }

 private:
  void for_each_part(const std::function<void(const PartOf&)>& visit) const {
    if (kept_.empty()) return parts_.visit(visit);
    for (const PartOf& part : kept_) visit(part);
  }
  // Writes a part of each output that is not empty.
  template <class Elements>
  void write(const PartOf& part, std::span<const std::span<double>> outputs, Elements&& elements) const {
    for (std::size_t i = 0; i < part.outputs.size(); ++i) {
      const auto is_written = [&](std::size_t o) { return graph_.size(set_of(graph_.outputs[o].axes)) > 0; };
      std::size_t before = 0;  // outputs that are not empty
      for (std::size_t o = 0; o < part.outputs[i]; ++o) before += is_written(o) ? 1 : 0;
      if (is_written(part.outputs[i]) && before < outputs.size())
        place(*part.values, part.values->graph().outputs[i], elements(i), outputs[before]);
    }
  }

  Graph graph_;
  std::vector<Tensor> inputs_;
  DType storage_;
  Need need_;
  Parts parts_;
  std::vector<PartOf> kept_;  // of a small case, all parts
};

}  // namespace

double rounded_last(DType output, DType accumulate, double value, double error) {
  if (error == 0 && std::isfinite(value) && round_to(output, value) == value) return 0;
  return output == f32 && accumulate == f32 ? error : error + rounding_error(output, value, error);
}

std::unique_ptr<FormulaAnswers> answers_of(Graph graph, std::vector<Tensor> inputs, DType storage, const RowsOf& rows_of,
                                           std::span<const std::span<double>> values, Need need) {
  return std::make_unique<Answers>(std::move(graph), std::move(inputs), storage, rows_of, values, need);
}

}  // namespace assay::formula
