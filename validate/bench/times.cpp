// SPDX-License-Identifier: Apache-2.0
// Times one row in all processes, of this build and of a plugin or another build (--ab), and merges what they report.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "validate/bench/judge_row.hpp"
#include "validate/bench/timed.hpp"
#include "validate/console/table.hpp"

namespace assay {

namespace {

// Counts the DRAM bytes of the kernels that were timed, in the counting process.  Prints a reason for failing only once.
void count_dram(RowTimer& counter, const BenchShape& shape, const SharedMemory& inputs, std::vector<Timed>& all) {
  TimingOrder order{.op = shape.op, .c = shape.c, .kernels = {}, .dram = true};
  std::vector<Timed*> counted;
  for (Timed& t : all)
    if (t.first.left_out.empty()) {
      counted.push_back(&t);
      order.kernels.emplace_back(t.kernel->name);
    }
  if (counted.empty()) return;
  const std::vector<KernelTimes> times = counter.time(order, inputs, {});
  static std::string said;
  for (std::size_t i = 0; i < times.size(); ++i) {
    counted[i]->first.dram = times[i].dram;
    if (times[i].dram || times[i].left_out == said) continue;
    said = times[i].left_out;
    print_wrapped(fmt::format("{}: DRAM bytes were not counted: {}", row_text(shape, *counted[i]->kernel), said));
  }
}

// A kernel that is too slow in one build is left out in both, else it would be in one file only and look like a lost row.
void leave_out_for_both(std::vector<Timed> (&all)[2]) {
  for (std::size_t i = 0; i < all[0].size(); ++i)
    for (int side = 0; side < 2; ++side)
      if (const Timed& slow = all[side][i]; slow.first.slow && all[1 - side][i].first.left_out.empty())
        all[1 - side][i].first.left_out = slow.first.left_out;
}

}  // namespace

bool bench_times(BenchTimers& timers, const BenchShape& shape, const BenchFlags& flags, const Ceilings& ceilings,
                 const BenchOut& out) {
  constexpr std::size_t kJudgedEach = std::size_t{16} << 20;  // larger outputs, and all with --ab, are judged in one process only
  const RowJudge row(*shape.op, shape.c);
  const bool ab = !flags.ab.empty();
  const std::size_t copy_bytes = flags.copy ? bench_copy_bytes(row.cost(), ceilings, shape.c.dtype) : 0;
  std::vector<Timed> all[2];
  for (const Kernel* k : bench_candidates(shape, flags))
    for (int side = 0; side < 2; ++side)
      if (ab || side == (k->loaded != nullptr)) {
        all[side].push_back({.kernel = k, .cold = {}, .steady = {}, .copy = {}, .first = {}});
        all[side].back().first.kernel = k->name;
      }
  if (timers.monitor) timers.monitor->start();
  const std::size_t turns = std::max(timers.sides[0].size(), timers.sides[1].size());
  for (std::size_t turn = 0; turn < turns; ++turn)
    for (int i = 0; i < 2; ++i) {
      // The builds alternate in going first, so that neither always has the warmer device.
      const std::size_t which = (turn + static_cast<std::size_t>(i)) % 2;
      if (turn >= timers.sides[which].size()) continue;
      std::vector<Timed>& side = all[which];
      TimingOrder order{.op = shape.op, .c = shape.c, .kernels = {}};
      for (const Timed& t : side)
        if (t.first.left_out.empty()) order.kernels.emplace_back(t.kernel->name);
      if (order.kernels.empty()) continue;
      // Note: what runs between two launches decides how warm the GPU is: products by a library lower its clocks.  So a plugin's
      // kernels are launched among ours.
      const auto named = [&](const std::string_view name) {
        return std::ranges::find(order.kernels, name) != order.kernels.end();
      };
      if (!ab && which == 1)
        for (const Timed& t : all[0])
          if (t.first.left_out.empty() && !named(t.kernel->name)) order.kernels.emplace_back(t.kernel->name);
      order.seconds = flags.seconds / static_cast<double>(timers.sides[which].size());
      order.copy_bytes = copy_bytes;
      order.l2 = flags.l2;
      order.functions = turn == 0;
      order.leave_out_slow = turn == 0 && (ab || which == 0);
      order.judge = turn == 0 || (!ab && row.output_bytes() <= kJudgedEach);
      const auto at = [&](const std::string& name) {
        return std::find_if(side.begin(), side.end(), [&](const Timed& t) { return t.kernel->name == name; });
      };
      auto times = timers.sides[which][turn]->time(order, row.inputs(), [&](const std::string& name, const auto& images) {
        const auto t = at(name);
        if (t == side.end()) return;
        t->margin = std::max(t->margin, row.margin(*t->kernel, images));
        ++t->judged;
      });
      for (KernelTimes& k : times) {
        const auto t = at(k.kernel);
        if (t == side.end()) continue;
        if (k.left_out.empty()) {
          t->cold.push_back(std::move(k.cold_us));
          t->steady.push_back(std::move(k.steady.us));
        }
        if (k.left_out.empty() && !k.copy_us.empty()) t->copy.push_back(std::move(k.copy_us));
        k.cold_us.clear();
        k.steady.us.clear();
        k.copy_us.clear();
        if (k.functions.empty()) k.functions = std::move(t->first.functions);  // only the first turn reports them
        t->first = k;
      }
      if (turn == 0 && i == 1 && ab) leave_out_for_both(all);
    }
  const std::optional<MachineState> machine = timers.monitor ? timers.monitor->stop() : std::nullopt;
  if (timers.counter) count_dram(*timers.counter, shape, row.inputs(), all[0]);
  if (!ab) std::move(all[1].begin(), all[1].end(), std::back_inserter(all[0]));
  bool sound = write_timed(all[0], shape, flags, ceilings, row.cost(), machine, out, true);
  if (ab) sound = write_timed(all[1], shape, flags, ceilings, row.cost(), machine, *timers.other_out, false) && sound;
  return sound;
}

}  // namespace assay
