// SPDX-License-Identifier: Apache-2.0
// Tests derived bounds on kernels: outputs of right kernels lie within them, and broken kernels that the bound made by hand
// rejects are rejected.  With [.fresh] the cases are drawn by the seed of this minute, so no bound was ever tried on them.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <functional>
#include <map>

#include <fmt/core.h>

#include "catch_shim.hpp"
#include "reference/tests/formula_testing.hpp"
#include "validate/backends/backends.hpp"
#include "validate/worker/protocol.hpp"

namespace assay {
namespace {

using namespace formula;

// A case's tensors in the memory of the simulated machine.
class OnMachine {
 public:
  OnMachine(Backend& backend, const test::FilledCase& filled, const Case& c) : backend_(backend), problem_(filled.op().make()) {
    const std::vector<Placement> placements = place(filled.op(), c);
    std::vector<std::byte*> images;
    for (std::size_t i = 0; i < placements.size(); ++i) {
      const std::size_t bytes = placements[i].bytes;
      images.push_back(static_cast<std::byte*>(backend.allocate(bytes, placements[i].offset, filled.op().tensors[i].name)));
      backend.write(images.back(), filled.problem().tensors()[i]->data, bytes);
    }
    attach(*problem_, c, placements, images);
    held_ = std::move(images);
  }
  ~OnMachine() {
    for (std::byte* p : held_) backend_.release(p);
  }
  OnMachine(const OnMachine&) = delete;
  OnMachine& operator=(const OnMachine&) = delete;

  // Runs a kernel; false: it does not take the case, or it does something forbidden.
  bool run(const Kernel& k) {
    const void* const args = problem_->args();
    if (!k.supports(args) || !k.available()) return false;
    const std::size_t bytes = k.workspace_bytes(args);
    void* const workspace = bytes ? backend_.allocate(bytes, 0, "workspace") : nullptr;
    if (bytes) backend_.fill(workspace, kGarbage[0], bytes);
    bool ran = true;
    try {
      backend_.run(k.on_simt, args, workspace, {});
    } catch (const std::exception&) {
      ran = false;
    }
    if (workspace) backend_.release(workspace);
    return ran;
  }
  // The tensor's elements as the kernel left them.
  double element(std::size_t tensor, std::int64_t i) const { return problem_->tensors()[tensor]->at(i); }

 private:
  Backend& backend_;
  std::unique_ptr<Problem> problem_;
  std::vector<std::byte*> held_;
};

// How many elements each bound rejects.
struct Rejected {
  std::int64_t judged = 0, by_hand = 0, derived = 0;
  // The first element that the derived one rejects.
  std::int64_t element = -1;
  double got = 0, value = 0, bound = 0, error = 0;
};
struct Total : Rejected {
  std::string first;
};
using ByKernel = std::map<std::string, Total>;

// What `run` returns, in a process of its own, since a broken kernel may take it down: then nothing is judged.
Rejected in_child(const std::function<Rejected()>& run) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) ::signal(number, SIG_DFL);  // Catch would report them
    const Rejected r = run();
    const bool told = ::write(ends[1], &r, sizeof r) == sizeof r;
    ::_exit(told ? 0 : 1);
  }
  ::close(ends[1]);
  Rejected r;
  if (::read(ends[0], &r, sizeof r) != sizeof r) r = {};
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return r;
}

// Note: an infinite error says that a partial sum may overflow, so that infinity and NaN are right too.
bool within(DType output, double got, double value, double error) {
  if (std::isinf(error)) return true;
  return round_to(output, value - error) <= got && got <= round_to(output, value + error);
}

void judge(const Op& op, const Case& c, Backend& backend, ByKernel& to) {
  const test::FilledCase filled(op, c);
  if (!filled.problem().legal()) return;
  filled.problem().solve();
  const Errors errors = find_fill(op, c.fill).coherent ? Errors::coherent : Errors::independent;
  filled.problem().set_errors(errors);
  const Graph g = test::trace(filled);
  for (const Kernel& k : built_in_kernels()) {
    if (k.op != op.name || !k.on_simt || !k.dtypes.has(c.dtype) || !has_rules(g, k.numerics) || k.only_arch) continue;
    if (k.name == "probe") continue;
    const Declared declared[] = {{k.numerics, errors, c.dtype}};
    const std::vector<Answer> answers = evaluate(g, test::inputs_of(g, filled), filled.problem().rows(), declared);
    const auto run = [&] {
      Rejected r;
      OnMachine machine(backend, filled, c);
      if (!machine.run(k)) return r;
      for (std::size_t o = 0; o < answers.size(); ++o) {
        const std::size_t tensor = tensor_index(op, g.outputs[o].name);
        for (std::size_t i = 0; i < answers[o].values.size(); ++i) {
          const double value = answers[o].values[i], got = machine.element(tensor, static_cast<std::int64_t>(i));
          if (!std::isfinite(round_to(g.outputs[o].dtype, value))) continue;  // what is infinite or NaN is a matter of classes
          ++r.judged;
          const double bound = filled.problem().bound(k.numerics, static_cast<int>(o), static_cast<std::int64_t>(i));
          r.by_hand += !(std::isinf(bound) || std::fabs(got - value) <= bound);
          const double error = answers[o].errors[0][i];
          if (within(g.outputs[o].dtype, got, value, error)) continue;
          if (r.derived++ > 0) continue;
          r.element = static_cast<std::int64_t>(i);
          r.got = got;
          r.value = value;
          r.bound = bound;
          r.error = error;
        }
      }
      return r;
    };
    const Rejected r = k.broken ? in_child(run) : run();
    if (r.judged == 0) continue;
    Total& total = to[std::string(k.broken ? "broken " : "") + std::string(k.name)];
    total.judged += r.judged;
    total.by_hand += r.by_hand;
    total.derived += r.derived;
    if (r.derived && total.first.empty())
      total.first = fmt::format("{} element {}: got {}, value {}, bound by hand {}, derived {}", repro(c, op.shape(), k.name),
                                r.element, r.got, r.value, r.bound, r.error);
  }
}

ByKernel judged(std::string_view op_name, std::string_view suite, const SuiteOptions& options, std::int64_t most_elements) {
  const Datasets datasets = load_datasets(ASSAY_DATASETS_DIR);
  const Op& op = *find_op(op_name);
  const std::unique_ptr<Backend> backend = open_backend("simt");
  ByKernel all;
  for (const Case& drawn : test::near_cases(datasets, op.shape(), suite, options)) {
    const Case c = test::fewer_rows(drawn, op.shape(), most_elements);
    const std::int64_t size = elements(c, op.shape());
    if (size > 0 && size <= 8 * most_elements && !overflows(c, op.shape())) judge(op, c, *backend, all);
  }
  return all;
}

void check(std::string_view op, const ByKernel& all) {
  for (const auto& [kernel, r] : all) {
    INFO(op << "/" << kernel << " " << r.first);
    if (kernel.starts_with("broken ")) CHECK((r.derived > 0 || r.by_hand == 0));
    else CHECK(r.derived == 0);
  }
}

}  // namespace

TEST_CASE("formulas: right kernels are within the derived bounds, and broken ones outside as by hand", "[formula]") {
  for (const NamedFormula* f = NamedFormula::first; f; f = f->next) check(f->op, judged(f->op, "first", {.reduce = true}, 300));
}

TEST_CASE("formulas: the same on fresh cases", "[.fresh]") {
  const char* const given = std::getenv("ASSAY_SEED");
  const auto seed =
      given ? std::stoull(given)
            : static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch() / std::chrono::minutes(1));
  std::int64_t right = 0, broken = 0, by_hand = 0, derived = 0, elements = 0;
  for (const NamedFormula* f = NamedFormula::first; f; f = f->next) {
    const ByKernel all = judged(f->op, "random", {.seed = seed, .count = 60, .reduce = true}, 20'000);
    check(f->op, all);
    for (const auto& [kernel, r] : all) {
      elements += r.judged;
      if (!kernel.starts_with("broken ")) {
        ++right;
        continue;
      }
      ++broken;
      by_hand += r.by_hand > 0;
      derived += r.derived > 0;
    }
  }
  fmt::print("seed {}: {} right and {} broken kernels, {} elements; rejected of the broken ones by hand {}, derived {}\n", seed,
             right, broken, elements, by_hand, derived);
}

}  // namespace assay
