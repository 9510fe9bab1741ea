// SPDX-License-Identifier: Apache-2.0
#include "validate/tasks/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <vector>

#include "validate/base/machine.hpp"
#include "validate/base/memory.hpp"
#include "validate/problem/contents/contents.hpp"
#include "validate/problem/image.hpp"
#include "validate/problem/relate.hpp"
#include "validate/problem/relations.hpp"
#include "validate/problem/sample.hpp"
#include "validate/tasks/given.hpp"
#include "validate/values/islands.hpp"
#include "validate/worker/protocol.hpp"

namespace assay {

namespace {

// A case with its placements and a problem bound to them.  The tensors have no data, but tables of integers have theirs if they
// are small and known: a golden's scratch may depend on the lengths of sequences.
class Bound {
 public:
  explicit Bound(const Task& task) : op_(*task.op), placements(place(*task.op, task.c)), problem(task.op->make()) {
    const Op& op = *task.op;
    const Case& c = task.c;
    constexpr std::size_t kMostTable = std::size_t{1} << 20;
    std::vector<std::byte*> images(placements.size(), nullptr);
    const bool reads = elements(c, op.shape()) > 0 && (task.given || c.fill != kGivenFill);
    for (std::size_t i = 0; i < placements.size(); ++i) {
      const Placement& p = placements[i];
      if (!reads || !is_index(p.tensor.dtype) || !is_given(op.tensors[i]) || p.bytes > kMostTable) continue;
      images[i] = tables_.emplace_back(p.bytes + 1).data();
      make_image(task, i, p, images[i]);
    }
    attach(*problem, c, placements, images);
    rows.sample = sampled_rows(op, c, *problem);
    for (std::size_t i = 0; i < placements.size() && rows.total < 0; ++i)
      if (op.tensors[i].role == Role::output) {
        rows.total = 1;
        for (std::size_t a = 0; a + 1 < op.tensors[i].axes.size(); ++a) rows.total *= op.tensors[i].axes[a].of(c.dims);
      }
    for (std::size_t i = 0; i < placements.size(); ++i) add(i, lies_over(op, c, i).has_value());
  }

 private:
  void add(std::size_t i, bool in_place) {
    const Placement& p = placements[i];
    const auto image = static_cast<double>(bytes_of(islands(p.tensor, p.bytes)));
    if (is_given(op_.tensors[i])) {
      given += image;
      largest_given = std::max(largest_given, image);
    }
    if (op_.tensors[i].role != Role::output) return;
    written += image;
    if (in_place) over += image;
    else if (!is_given(op_.tensors[i])) largest_written = std::max(largest_written, image);
    if (is_given(op_.tensors[i])) over += image;
  }
  const Op& op_;
  std::list<std::vector<std::byte>> tables_;

 public:
  std::vector<Placement> placements;
  std::unique_ptr<Problem> problem;
  Rows rows{.total = -1};
  // Bytes of images: given values, outputs, outputs in memory that counts among the given already; the largest of a kind.
  double given = 0, written = 0, over = 0, largest_given = 0, largest_written = 0;

  // Of a worker, besides the memory that it shares with the judge.
  double worker(const JudgeOptions& options, DType dtype) const {
    constexpr double kMostKept = 1 << 26;  // of an image that keeps the ends of rows (Session::keep_part)
    // An image of the largest tensor is made to compare it.  simt has two bits for each byte of what a kernel reads and one for
    // what it writes (simt/memory.hpp).
    const double own = written - over, buffers = given + own + std::max(largest_given, std::min(largest_written, kMostKept)) +
                                                 (options.backend == "simt" ? given / 4 + own / 8 : 0);
    constexpr double kCell = 24;  // of the watch, for each element
    return buffers + (options.watch ? kCell / size_of(dtype) * (given + written) : 0);
  }
};

// What judging adds to an output's golden: the sums of rows, and of a composite op the goldens of its stages.
double judging(const Task& task, Bound& b) {
  const Fill& fill = fill_of(task);
  double bytes = 0;
  if (fill.scattered && !fill.coherent && !task.op->formula.summed.empty()) {
    const auto outputs = std::count_if(task.op->tensors.begin(), task.op->tensors.end(),
                                       [](const TensorSpec& t) { return t.role == Role::output; });
    bytes = static_cast<double>(kBytesOfRowSums) * static_cast<double>(outputs > 1 ? b.rows.total : b.rows.count());
  }
  if (!task.op->composite) return bytes;
  const SolveMemory stages = b.problem->memory(b.rows, true);
  return bytes + stages.kept + stages.passing;
}

// The most that related problems take besides the case's own images and golden.
double relations(const Task& task, const JudgeOptions& options, bool all_rows) {
  double kept = 0, most = 0, solving = 0;
  for (const std::string& name : relations_of(*task.op, task.c, options.relations)) {
    const Relation& r = *find_relation(*task.op, task.c, name);
    Bound b(Task{task.op, related_case(r, task.c), {}});
    most = std::max(most, kept + b.given + std::max(b.given, b.written + b.worker(options, task.c.dtype)));
    kept += b.written;
    const bool loose = !r.within_bounds.empty() && r.move != Relation::Move::first_part;
    const auto by_bounds = [&](const Kernel* k) { return loose || !asks_bits(r, *k, task.c.dtype); };
    if (!all_rows || std::none_of(task.kernels.begin(), task.kernels.end(), by_bounds)) continue;
    const SolveMemory golden = b.problem->memory({.total = b.rows.total}, true);
    solving = std::max(solving, b.given + golden.kept + golden.passing);
  }
  return std::max(most, kept + solving);
}

}  // namespace

TaskMemory memory_of(const Task& task, const JudgeOptions& options) {
  Bound b(task);
  const bool replayed = options.backend == "cuda";
  const SolveMemory golden = b.problem->memory(b.rows, false);
  const double inputs = (replayed ? 2 : 1) * b.given;  // Note: a second set of another machine is small
  const double derived = memory_of_another(*task.op, task.c);
  TaskMemory m;
  m.prepared = inputs + golden.kept;
  m.preparing = inputs + std::max(derived, golden.kept + golden.passing);
  m.kernel = (replayed ? 2 : 1) * kRuns * b.written +
             std::max({b.worker(options, task.c.dtype), judging(task, b), relations(task, options, b.rows.all())});
  return m;
}

std::string too_large(const Task& task, double needed, std::size_t available) {
  double space = 0;
  for (const Placement& p : place(*task.op, task.c))
    space += 4 * static_cast<double>(p.bytes);  // in judge and worker, of each run
  if (const auto allowed = static_cast<double>(address_space()); space > allowed)
    return fmt::format("needs about {} of address space and {} are allowed", size_text(space), size_text(allowed));
  if (needed <= static_cast<double>(available)) return {};
  return fmt::format("needs about {} of memory and {} are free here", size_text(needed),
                     size_text(static_cast<double>(available)));
}

}  // namespace assay
