// SPDX-License-Identifier: Apache-2.0
#include "reference/formula/answers.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "ops/core/stored.hpp"
#include "reference/formula/evaluate.hpp"
#include "reference/formula/visit.hpp"

namespace assay::formula {
namespace {

bool saturates(DType t) { return info(t).overflow == Overflow::saturates || !is_float(t); }

// An answer as one of an output's dtype whose casts saturate: within its range, of whole numbers 0 in place of NaN.
double within_range(DType t, double v) {
  if (!saturates(t)) return v;
  if (!is_float(t)) return std::isnan(v) ? 0.0 : std::clamp(v, info(t).least, info(t).largest);
  const double most = largest(info(t).format);
  return std::isnan(v) ? v : std::clamp(v, -most, most);
}

// Its error: a kernel's own result is cut off at the same ends.
double error_within_range(DType t, double v, double error) {
  if (!saturates(t) || !std::isfinite(v) || !std::isfinite(error)) return error;
  const double golden = within_range(t, v);
  return std::max(within_range(t, v + error) - golden, golden - within_range(t, v - error));
}

std::vector<double> in_range(const Values& values, std::size_t output) {
  std::vector<double> all = values.output(output);
  for (double& v : all) v = within_range(values.graph().outputs[output].dtype, v);
  return all;
}

// A graph of a case, and its values in parts, which are kept if the case is small.
class Evaluated {
 public:
  Evaluated(Graph graph, const std::vector<Tensor>& inputs, const RowsOf& rows_of, Need need)
      : graph_(std::move(graph)), parts_(graph_, inputs, rows_of, need) {
    std::int64_t elements = 0;
    each_node(graph_, [&](const Visited& v) { elements += graph_.size(v.node.axes); });
    if (elements <= kMostKept && need == Need::bounds) kept_ = parts_.all();
  }
  void visit(const std::function<void(const PartOf&)>& visit) const {
    if (kept_.empty()) return parts_.visit(visit);
    for (const PartOf& part : kept_) visit(part);
  }

 private:
  Graph graph_;
  Parts parts_;
  std::vector<PartOf> kept_;
};

class Answers final : public FormulaAnswers {
 public:
  Answers(Graph graph, std::vector<Tensor> inputs, DType storage, RowsOf rows_of, std::span<const std::span<double>> values,
          Need need)
      : graph_(std::move(graph)),
        inputs_(std::move(inputs)),
        storage_(storage),
        rows_of_(std::move(rows_of)),
        need_(need),
        first_way_(decided(graph_, ""), inputs_, rows_of_, need) {
    std::size_t next = 0;
    for (const Port& output : graph_.outputs) span_of_.push_back(graph_.size(set_of(output.axes)) > 0 ? next++ : kNoSpan);
    first_way_.visit([&](const PartOf& part) { write(part, values, [&](std::size_t i) { return in_range(*part.values, i); }); });
  }

  Legality has_rules(const Numerics& numerics) const override { return formula::has_rules(graph_, numerics); }
  Numerics words_read(const Numerics& numerics) const override { return formula::words_read(graph_, storage_, numerics); }
  void bounds(Errors errors, const Numerics& numerics, std::span<const std::span<double>> outputs) override {
    if (need_ == Need::values) throw std::logic_error("bounds of a case of which values alone were asked");
    evaluated(numerics).visit([&](const PartOf& part) {
      const Values& values = *part.values;
      const Tracked tracked(values, {numerics, errors, storage_});
      write(part, outputs, [&](std::size_t i) {
        std::vector<double> bounds = tracked.output(i);
        const std::vector<double> exact = values.output(i);
        const DType output = values.graph().outputs[i].dtype;
        for (std::size_t k = 0; k < bounds.size(); ++k)
          bounds[k] = rounded_last(output, numerics.accumulate, within_range(output, exact[k]),
                                   error_within_range(output, exact[k], bounds[k]));
        return bounds;
      });
    });
  }

 private:
  static constexpr std::size_t kNoSpan = SIZE_MAX;

  // Only kernels that may take a second way somewhere need both.
  const Evaluated& evaluated(const Numerics& numerics) {
    const auto may_take_second = [&](const Node& n) {
      return n.kind == Kind::either && (n.name.empty() || lists(numerics.ways, n.name));
    };
    if (std::ranges::none_of(graph_.nodes, may_take_second)) return first_way_;
    std::call_once(asked_, [&] { both_ways_.emplace(graph_, inputs_, rows_of_, need_); });
    return *both_ways_;
  }
  // Writes a part of each of the first outputs that are not empty, to its span.
  template <class Elements>
  void write(const PartOf& part, std::span<const std::span<double>> outputs, Elements&& elements) const {
    for (std::size_t i = 0; i < part.outputs.size(); ++i)
      if (const std::size_t span = span_of_[part.outputs[i]]; span < outputs.size())
        place(*part.values, part.values->graph().outputs[i], elements(i), outputs[span]);
  }

  Graph graph_;
  std::vector<Tensor> inputs_;
  DType storage_;
  RowsOf rows_of_;
  Need need_;
  Evaluated first_way_;
  std::vector<std::size_t> span_of_;  // of each output
  std::once_flag asked_;
  std::optional<Evaluated> both_ways_;
};

}  // namespace

double rounded_last(DType output, DType accumulate, double value, double error) {
  if (error == 0 && std::isfinite(value) && round_to(output, value) == value) return 0;
  return output == f32 && accumulate == f32 ? error : error + rounding_error(output, value, error);
}

std::unique_ptr<FormulaAnswers> answers_of(Graph graph, std::vector<Tensor> inputs, DType storage, RowsOf rows_of,
                                           std::span<const std::span<double>> values, Need need) {
  return std::make_unique<Answers>(std::move(graph), std::move(inputs), storage, std::move(rows_of), values, need);
}

namespace {
void shorten(Graph& graph, std::size_t axis) {
  --graph.extents[axis];
  for (Graph& body : graph.bodies) shorten(body, axis);
}
}  // namespace

void answer_without_last(Graph graph, std::vector<Tensor> inputs, DType storage, std::string_view axis, std::span<double> y) {
  const auto at = std::ranges::find(graph.axis_names, axis);
  if (at == graph.axis_names.end()) return;
  const auto number = static_cast<std::size_t>(at - graph.axis_names.begin());
  bool is_indexed = false;  // by a tensor, which may name the last place
  each_node(graph, [&](const Visited& v) {
    is_indexed = is_indexed || (info(v.node.kind).group == Group::gather && v.node.over >> number & 1);
  });
  if (is_indexed) return;
  const Port output = graph.outputs.front();
  std::vector<std::int64_t> whole;
  for (const int a : output.axes) whole.push_back(graph.extents[static_cast<std::size_t>(a)]);
  graph = only(graph, {output}, true);
  shorten(graph, number);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t k = 0; k < graph.inputs[i].axes.size(); ++k)
      if (graph.inputs[i].axes[k] == static_cast<int>(number)) --inputs[i].shape[k];
  std::vector<double> part(static_cast<std::size_t>(graph.size(set_of(output.axes))));
  if (part.empty()) return;
  answers_of(
      graph, std::move(inputs), storage, [](std::size_t) { return Rows{}; }, {{part}}, Need::values);
  for (std::size_t i = 0; i < part.size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i), place = 0, step = 1;
    for (std::size_t k = whole.size(); k-- > 0;) {
      const std::int64_t extent = graph.extents[static_cast<std::size_t>(output.axes[k])];
      place += rest % extent * step;
      rest /= extent;
      step *= whole[k];
    }
    y[static_cast<std::size_t>(place)] = part[i];
  }
}

}  // namespace assay::formula
