// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/power.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include "ops/core/dense.hpp"
#include "ops/core/stored.hpp"
#include "validate/judge/aggregate.hpp"
#include "validate/judge/compare.hpp"
#include "validate/judge/prepare.hpp"

namespace assay {

namespace {

constexpr double kOracleFlops = 1e7;  // most operations of a problem that the oracle computes, at some 20 ns each
constexpr double kFaultFlops = 1e9;   // most operations of a problem whose golden is changed or computed again

constexpr double kMostLoose = 0.25;      // share of elements in which zeros may pass for another value
constexpr std::int64_t kLeastCases = 8;  // that tell the share

using Answer = std::vector<double>;

// Of a result that is stored in a dtype: those of its format, or of narrowed factors if they are fewer.
int significand_bits(DType t, const Numerics& n) {
  const int stored = info(t).format.precision;
  return n.factors.precision ? std::min(stored, n.factors.precision * n.factors.pieces) : stored;
}

std::string dropped(const Axis& axis) { return "dropped_" + std::string(axis.name); }

// Makes the faults of one case, each once.
class Faults {
 public:
  explicit Faults(const Prepared& p) : p_(p), op_(*p.task->op), problem_(*p.problem) {
    while (op_.tensors[output_].role != Role::output) ++output_;
  }
  DType dtype() const { return p_.packing.placements[output_].tensor.dtype; }
  bool small(double most) const { return problem_.rows().all() && problem_.cost().flops <= most; }

  // The first output with the fault; null if the fault cannot be made or changes nothing.
  const Answer* with(const std::string& fault, const Numerics& numerics) {
    for (const auto& [name, of, answer] : made_)
      if (name == fault && same_roundings(of, numerics)) return answer ? &*answer : nullptr;
    std::optional<Answer> answer = make(fault, numerics);
    return std::get<2>(made_.emplace_back(fault, numerics, std::move(answer))) ? &*std::get<2>(made_.back()) : nullptr;
  }
  bool rejected(const Answer& answer, const Numerics& numerics) const {
    Tensor y = p_.packing.placements[output_].tensor;
    make_contiguous(y);
    std::vector<std::byte> memory(answer.size() * static_cast<std::size_t>(size_of(y.dtype)));
    y.data = memory.data();
    for (std::size_t i = 0; i < answer.size(); ++i) y.set(static_cast<std::int64_t>(i), answer[i]);
    return compare(problem_, numerics, 0, y, p_.asks_exact(numerics)).wrong > 0;
  }

 private:
  Answer rounded(Answer y) const {
    for (double& v : y) v = round_to(dtype(), v);
    return y;
  }
  Answer golden() const {
    const auto g = problem_.golden(0);
    return rounded({g.begin(), g.end()});
  }
  Answer oracle(const Numerics& numerics, Roundings roundings) const {
    Answer y(problem_.golden(0).size());
    op_.formula.first_by_oracle(problem_.args(), numerics, roundings, y);
    return rounded(std::move(y));
  }
  static std::optional<Answer> unless_same(Answer answer, const Answer& sound) {
    const bool shows = !std::equal(answer.begin(), answer.end(), sound.begin(), sound.end(),
                                   [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); });
    return shows ? std::optional(std::move(answer)) : std::nullopt;
  }

  std::optional<Answer> make(const std::string& fault, const Numerics& numerics) {
    const auto sound = [&] { return oracle(numerics, Roundings::declared); };
    if (fault == "accumulator") return unless_same(oracle(numerics, Roundings::one_lower), sound());
    if (fault == "intermediate") {
      Numerics stores = numerics;
      stores.stores = kAllSteps;
      return unless_same(oracle(stores, Roundings::declared), sound());
    }
    if (fault == "output") {
      FloatFormat lower = info(dtype()).format;
      const int kept = significand_bits(dtype(), numerics);
      lower.precision = kept > 11 ? 11 : kept > 8 ? 8 : 4;
      Answer y = golden();
      for (double& v : y) v = round_to(lower, v);
      return unless_same(std::move(y), golden());
    }
    for (const Axis& axis : op_.formula.summed)
      if (fault == dropped(axis)) return unless_same(without_last(axis), golden());
    return std::nullopt;
  }

  Answer without_last(const Axis& axis) const {
    const auto right = problem_.golden(0);
    Answer y(right.begin(), right.end());
    op_.formula.without_last(problem_.args(), axis.name, y);
    return rounded(std::move(y));
  }

  const Prepared& p_;
  const Op& op_;
  const Problem& problem_;
  std::size_t output_ = 0;
  std::vector<std::tuple<std::string, Numerics, std::optional<Answer>>> made_;
};

}  // namespace

bool sums_are_finer(const Numerics& n, DType dtype) {
  return unit_roundoff(n.accumulate) < unit_roundoff(dtype) || n.accumulate == f32;
}

void Power::count(const std::string& kernel, const Case& c, const std::string& fault, bool rejected) {
  PowerLine& line = lines_[{c.op, kernel, c.dtype, fault}];
  line.op = c.op;
  line.kernel = kernel;
  line.dtype = c.dtype;
  line.fault = fault;
  ++line.tried;
  if (rejected) line.rejected_by = repro(c, find_op(c.op)->shape(), kernel);
}

void Power::count_loose(const Record& r) {
  if (r.compared == 0) return;
  Loose& loose = loose_[{r.c.op, r.kernel, r.c.dtype}];
  const double share = static_cast<double>(r.loose) / static_cast<double>(r.compared);
  ++loose.cases;
  loose.share += share;
  if (share < kMostLoose && (loose.rejected.empty() || r.repro < loose.rejected)) loose.rejected = r.repro;
}

void Power::add(const Record& r) {
  count_loose(r);
  for (const auto& [fault, rejected] : r.faults) count(r.kernel, r.c, fault, rejected);
}

void Power::compared(const Task& task, const Kernel& kernel, const Record& r) {
  count_loose(r);
  if (judged_.empty() || judged_.back().first != &task) judged_.push_back({&task, {}});
  judged_.back().second.push_back(&kernel);
}

void Power::not_compared(const Case& c, const Kernel& kernel, const std::map<std::string, bool>& tried, bool declined) {
  if (!declined) incomplete_.insert({c.op, std::string(kernel.name), c.dtype});
  for (const auto& [fault, rejected] : tried) {
    const Key key{c.op, std::string(kernel.name), c.dtype, fault};
    PowerLine& line = lines_.at(key);
    --line.tried;
    if (rejected) line.rejected_by.clear();
    taken_back_.insert(key);
  }
}

void Power::settle(const std::function<bool()>& stop) {
  std::set<Key> open;
  for (const Key& key : taken_back_)
    if (PowerLine& line = lines_.at(key); line.powerless()) {
      open.insert(key);
      line.tried = 0;
    }
  const auto is_open = [&](const Key& key) { return open.contains(key) && lines_.at(key).powerless(); };
  std::set<OfKernel> shown;  // op, kernel and dtype with a compared output
  bool whole = true;
  for (const auto& [task, kernels] : judged_) {
    const Case& c = task->c;
    for (const Kernel* k : kernels) shown.insert({c.op, std::string(k->name), c.dtype});
    const auto of_task = [&](const Key& key) {
      const auto is = [&](const Kernel* k) { return k->name == std::get<1>(key); };
      return is_open(key) && std::get<0>(key) == c.op && std::get<2>(key) == c.dtype &&
             std::any_of(kernels.begin(), kernels.end(), is);
    };
    if (!whole || std::none_of(open.begin(), open.end(), of_task)) continue;
    try {
      whole = !stop();
      if (whole) look_for(*prepare(*task, 0), kernels, is_open);
    } catch (const std::runtime_error&) {  // there is no memory for it now
      whole = false;
    }
  }
  // A kernel of which nothing was compared is told elsewhere.
  std::set<OfKernel> rejected;  // some fault, on a case that was compared
  const auto kernel_of = [](const Key& key) { return OfKernel{std::get<0>(key), std::get<1>(key), std::get<2>(key)}; };
  for (const auto& [key, line] : lines_)
    if (!line.powerless()) rejected.insert(kernel_of(key));
  for (const Key& key : open) {
    const OfKernel of = kernel_of(key);
    const bool untried = lines_.at(key).tried == 0 && rejected.contains(of);
    if (lines_.at(key).powerless() && (!whole || untried || !shown.contains(of) || incomplete_.contains(of))) lines_.erase(key);
  }
}

Power::Tried Power::look(const Prepared& p, const std::function<bool()>& stop) {
  return look_for(p, p.task->kernels, [&](const Key& key) {
    if (stop && stop()) return false;
    const auto at = lines_.find(key);
    return at == lines_.end() || at->second.powerless();
  });
}

Power::Tried Power::look_for(const Prepared& p, const std::vector<const Kernel*>& kernels,
                             const std::function<bool(const Key&)>& wanted) {
  Tried tried;
  const Op& op = *p.task->op;
  const Case& c = p.task->c;
  if (elements(c, op.shape()) == 0) return tried;
  Faults faults(p);
  for (const Kernel* k : kernels) {
    if (!k->dtypes.has(c.dtype)) continue;
    const auto attempt = [&](const std::string& fault, double most_flops) {
      if (!wanted({std::string(k->op), std::string(k->name), c.dtype, fault}) || !faults.small(most_flops)) return;
      const Answer* answer = faults.with(fault, k->numerics);
      if (!answer) return;
      const bool rejected = faults.rejected(*answer, k->numerics);
      count(std::string(k->name), c, fault, rejected);
      tried[k][fault] = rejected;
    };
    const bool finer = sums_are_finer(k->numerics, c.dtype);
    if (finer) attempt("output", kFaultFlops);
    const Numerics& n = k->numerics;
    if (op.formula.oracle && finer) attempt("accumulator", kOracleFlops);
    // Roundings that are declared, finer than what is declared, or like it: a stored step weighs as much as another one, while
    // exps, whose errors a softmax averages, weigh less.
    const Numerics read = p.problem->words_read(n).value_or(n);
    const bool as_declared =
        (!read.stores.empty() && read.stores != kExps) || significand_bits(c.dtype, n) < info(c.dtype).format.precision;
    if (op.formula.oracle && c.dtype != f32 && finer && !as_declared) attempt("intermediate", kOracleFlops);
    for (const Axis& axis : op.formula.summed)
      if (c.dims[axis] >= 2) attempt(dropped(axis), kFaultFlops);
  }
  return tried;
}

std::vector<PowerLine> Power::lines() const {
  std::vector<PowerLine> all;
  for (const auto& [key, line] : lines_) all.push_back(line);
  for (const auto& [of, loose] : loose_) {
    if (loose.cases < kLeastCases) continue;
    const bool rejects = loose.share < kMostLoose * static_cast<double>(loose.cases);
    const auto& [op, kernel, dtype] = of;
    all.push_back({op, kernel, dtype, std::string(kZerosFault), loose.cases, rejects ? loose.rejected : ""});
  }
  std::ranges::sort(all, {}, [](const PowerLine& l) { return std::tie(l.op, l.kernel, l.dtype, l.fault); });
  return all;
}

}  // namespace assay
