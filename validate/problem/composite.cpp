// SPDX-License-Identifier: Apache-2.0
#include "validate/problem/composite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "ops/core/dense.hpp"

namespace assay {

namespace {

class Composite final : public Problem {
 public:
  Composite(std::unique_ptr<Problem> whole, std::vector<TensorSpec> specs, StagesOf stages)
      : whole_(std::move(whole)), specs_(std::move(specs)), stages_(stages) {
    for (std::size_t i = 0; i < specs_.size(); ++i)
      if (specs_[i].role == Role::output) outputs_.push_back(i);
  }
  std::span<Tensor* const> tensors() override { return whole_->tensors(); }
  Tensor tensor(std::string_view name) const override { return whole_->tensor(name); }
  void set_attribute(std::string_view name, double value) override { whole_->set_attribute(name, value); }
  const void* args() const override { return whole_->args(); }
  Legality legal() const override { return whole_->legal(); }
  Cost cost() const override { return whole_->cost(); }

  void solve(std::vector<std::int64_t> sample, Need need) override {
    const Tensor& first = tensor(outputs_.front());
    rows_ = {.total = 1, .sample = std::move(sample)};
    for (int a = 0; a + 1 < first.rank; ++a) rows_.total *= first.shape[a];
    solved_.assign(outputs_.size(), {});
    end_to_end_.clear();
    const bool given = first.data != nullptr;
    if (!given && !rows_.all()) return;
    const std::vector<Stage> stages = stages_(args());
    if (!given) {
      forget_stored();
      for (const Stage& stage : stages) solve(stage, Between::exact, Need::values);
      const std::span<const double> y = golden(0);
      end_to_end_.assign(y.begin(), y.end());
    }
    forget_stored();
    for (const Stage& stage : stages) solve(stage, given ? Between::given : Between::rounded, need);
  }
  SolveMemory memory(const Rows& rows, bool given) override {
    SolveMemory all;
    if (!given && !rows.all()) return all;
    rows_ = rows;
    for (std::size_t i = 0; i < specs_.size(); ++i)
      if (const Tensor& t = tensor(i); given ? !t.contiguous() : specs_[i].role == Role::output)
        all.kept += static_cast<double>(t.bytes());
    if (!given) all.kept += 8 * static_cast<double>(tensor(outputs_.front()).size());  // end to end
    double exact = 0;  // what stages read of earlier ones in f64, before they are solved again
    for (const std::size_t i : outputs_) exact += given ? 0 : 8 * static_cast<double>(tensor(i).size());
    for (const Stage& stage : stages_(args())) {
      const Op& op = op_of(stage);
      const auto problem = op.make();
      bind(stage, op, *problem, Between::given, [](std::size_t) { return nullptr; });
      const Tensor& first = *problem->tensors()[first_output(op)];
      const Rows of_stage{.total = first.size() / std::max<std::int64_t>(1, first.shape[first.rank - 1]),
                          .sample = rows_of(*problem, op)};
      const SolveMemory of = problem->memory(of_stage, false);
      all.kept += of.kept;
      all.passing = std::max(all.passing, exact + of.passing);
    }
    return all;
  }
  const Rows& rows() const override { return rows_; }
  std::int64_t row_of(int output, std::int64_t i) const override { return i / row_length(output); }
  std::int64_t row_length(int output) const override {
    return rows_.total == 0 ? 0 : tensor(outputs_.at(static_cast<std::size_t>(output))).size() / rows_.total;
  }
  std::span<const double> golden(int output) const override {
    const Solved& s = solved_.at(static_cast<std::size_t>(output));
    return s.problem ? s.problem->golden(s.output) : std::span<const double>{};
  }
  std::span<const double> bounds_with(Errors errors, const Numerics& n, int output) const override {
    const Solved& s = solved_.at(static_cast<std::size_t>(output));
    if (!s.problem) return {};
    const auto number = static_cast<std::size_t>(output);
    if (number < steps_.size()) return s.problem->bounds_with(errors, steps_[number], s.output);
    return s.problem->bounds_with(errors, n.of_output ? n.of_output(args(), output) : n, s.output);
  }
  std::span<const double> end_to_end() const override { return end_to_end_; }

 private:
  // What a stage reads of earlier ones: what the candidate stored, or their goldens, in f64 or as a kernel stores them.
  enum class Between { given, exact, rounded };
  static DType stored_as(const Tensor& t, Between between) { return between == Between::exact ? DType::f64 : t.dtype; }

  // The stage that computes one output of the composite: its problem, and that output's number there.  Null: not solved.
  struct Solved {
    std::shared_ptr<Problem> problem{};
    int output = 0;
  };

  const Tensor& tensor(std::size_t i) const { return *whole_->tensors()[i]; }
  std::size_t index_of(std::string_view name) const {
    for (std::size_t i = 0; i < specs_.size(); ++i)
      if (specs_[i].name == name) return i;
    throw std::logic_error(fmt::format("a stage names an unknown tensor '{}'", name));
  }
  void forget_stored() {
    memory_.clear();
    stored_.assign(specs_.size(), nullptr);
  }
  std::byte* room(std::int64_t bytes) { return memory_.emplace_back(static_cast<std::size_t>(bytes) + 1).data(); }

  // The elements of tensor i of the composite, contiguous: a golden of an earlier stage, or the attached data, copied if strided.
  void* elements(std::size_t i) {
    const Tensor& t = tensor(i);
    if (stored_[i]) return stored_[i];
    if (!t.data) throw std::logic_error(fmt::format("a stage reads '{}' before a stage has computed it", specs_[i].name));
    if (t.contiguous()) return t.data;
    const std::int64_t element = size_of(t.dtype);
    stored_[i] = room(t.bytes());
    for (std::int64_t e = 0; e < t.size(); ++e)
      std::memcpy(stored_[i] + e * element, t.as<std::byte>() + t.offset(e) * element, static_cast<std::size_t>(element));
    return stored_[i];
  }

  // An output that a stage makes: its number there, and the tensor of the composite that it is.
  struct Made {
    int output;
    std::size_t is;
  };

  // Sets the tensors and attributes of a stage's problem.  data_of(i): the elements of tensor i of the composite.
  template <class DataOf>
  std::vector<Made> bind(const Stage& stage, const Op& of, Problem& problem, Between between, DataOf data_of) {
    std::vector<Made> made;
    const Op* const op = &of;
    int output = 0;
    for (std::size_t k = 0; k < op->tensors.size(); ++k) {
      const TensorSpec& spec = op->tensors[k];
      const int number = spec.role == Role::output ? output++ : -1;
      const auto part = std::find_if(stage.parts.begin(), stage.parts.end(), [&](const auto& p) { return p.name == spec.name; });
      const bool named = part != stage.parts.end();
      if (!named && number < 0 && spec.options.present_if.empty())
        throw std::logic_error(fmt::format("tensor {} of stage {} is not bound", spec.name, op->name));
      if (!named && number < 0) continue;
      Tensor t{.dtype = spec.options.dtype.value_or(tensor(outputs_.front()).dtype), .rank = static_cast<int>(spec.axes.size())};
      for (int a = 0; a < t.rank; ++a) t.shape[a] = spec.axes[static_cast<std::size_t>(a)].of(stage.dims);
      make_contiguous(t);
      if (named) {
        const std::size_t is = index_of(part->is);
        if (tensor(is).rank == 0) continue;
        if (tensor(is).size() != t.size())
          throw std::logic_error(fmt::format("{} of {} has {} elements, but '{}' has {}", spec.name, op->name, t.size(), part->is,
                                             tensor(is).size()));
        if (number < 0) {
          t.data = data_of(is);
          if (specs_[is].role == Role::output) t.dtype = stored_as(tensor(is), between);
        } else {
          made.push_back({number, is});
        }
      }
      *problem.tensors()[k] = t;
    }
    for (const auto& [name, value] : stage.attributes) problem.set_attribute(name, value);
    return made;
  }

  static const Op& op_of(const Stage& stage) {
    const Op* const op = find_op(stage.op);
    if (!op) throw std::logic_error(fmt::format("a stage names an unknown op '{}'", stage.op));
    return *op;
  }
  void solve(const Stage& stage, Between between, Need need) {
    const Op* const op = &op_of(stage);
    const std::shared_ptr<Problem> problem = op->make();
    const std::vector<Made> made = bind(stage, *op, *problem, between, [this](std::size_t i) { return elements(i); });
    if (const Legality ok = problem->legal(); !ok) throw std::logic_error(fmt::format("stage {}: {}", op->name, ok.why));
    problem->set_errors(errors());
    problem->solve(rows_of(*problem, *op), need);
    for (const auto& [number, is] : made) {
      const auto ours = std::find(outputs_.begin(), outputs_.end(), is);
      if (ours == outputs_.end()) throw std::logic_error(fmt::format("a stage writes '{}', which is an input", specs_[is].name));
      solved_[static_cast<std::size_t>(ours - outputs_.begin())] = {problem, number};
      if (between == Between::given) continue;
      const std::span<const double> golden = problem->golden(number);
      const DType dtype = stored_as(tensor(is), between);
      stored_[is] = room(static_cast<std::int64_t>(golden.size()) * size_of(dtype));
      for (std::size_t e = 0; e < golden.size(); ++e) encode(dtype, stored_[is], static_cast<std::int64_t>(e), golden[e]);
    }
  }

  static std::size_t first_output(const Op& op) {
    std::size_t first = 0;
    while (op.tensors[first].role != Role::output) ++first;
    return first;
  }
  // The composite's sampled rows as rows of a stage.  One row may be several there: a token has a row for each head.
  std::vector<std::int64_t> rows_of(Problem& problem, const Op& op) const {
    if (rows_.all()) return {};
    const Tensor& t = *problem.tensors()[first_output(op)];
    const std::int64_t each = t.size() / t.shape[t.rank - 1] / rows_.total;
    std::vector<std::int64_t> all;
    for (const std::int64_t row : rows_.sample)
      for (std::int64_t k = 0; k < each; ++k) all.push_back(row * each + k);
    return all;
  }

  std::unique_ptr<Problem> whole_;
  std::vector<TensorSpec> specs_;
  StagesOf stages_;
  std::vector<std::size_t> outputs_;  // indices of the output tensors
  Rows rows_;
  std::vector<double> end_to_end_;              // the first output, where no candidate's outputs were given
  std::vector<Solved> solved_;                  // per output: who solves it
  std::vector<std::vector<std::byte>> memory_;  // owns stored_
  std::vector<std::byte*> stored_;              // per tensor; null: use the attached data
};

}  // namespace

std::unique_ptr<Problem> make_composite(std::unique_ptr<Problem> whole, std::vector<TensorSpec> tensors, StagesOf stages) {
  return std::make_unique<Composite>(std::move(whole), std::move(tensors), stages);
}

const Problem& judged_by(const Op& op, const Case& c, std::span<const Placement> placements, std::span<std::byte* const> images,
                         const Problem& solved, std::unique_ptr<Problem>& own, std::span<const Numerics> steps) {
  if (!op.composite) return solved;
  own = op.make();
  own->set_steps(steps);
  attach(*own, c, placements, images);
  own->set_errors(solved.errors());
  own->solve(solved.rows().sample);
  return *own;
}

double end_to_end_error(const Problem& solved, const Tensor& got) {
  const std::span<const double> golden = solved.end_to_end();
  double error = 0, size = 0;
  for (std::size_t i = 0; i < golden.size(); ++i) {
    const double d = got.at(static_cast<std::int64_t>(i)) - golden[i];
    if (std::isfinite(d)) {
      error += d * d;
      size += golden[i] * golden[i];
    }
  }
  return size > 0 ? std::sqrt(error / size) : 0;
}

}  // namespace assay
