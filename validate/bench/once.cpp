// SPDX-License-Identifier: Apache-2.0
// bench --once: launches every kernel once under a profiler.  The records keep the order, by which .ci/profile.py assigns the
// profiler's lines to kernels.
#include <fmt/format.h>

#include <map>
#include <string>

#include "validate/bench/bench.hpp"
#include "validate/bench/device.hpp"
#include "validate/bench/judge_row.hpp"
#include "validate/console/table.hpp"
#include "validate/records/fields/other_fields.hpp"
#include "validate/records/fields/writer.hpp"

namespace assay {

void bench_once(Backend& backend, const std::vector<BenchShape>& rows, const BenchFlags& flags, const BenchOut& out,
                const std::atomic<bool>& stop) {
  struct Waiting {
    const BenchShape* row;
    std::string why;
  };
  std::map<const Kernel*, Waiting> waiting;  // not launched yet: no row so far suits them
  std::map<const Kernel*, bool> done;
  LocalTimer timer(backend);
  for (const BenchShape& row : rows) {
    TimingOrder order{.op = row.op, .c = row.c, .kernels = {}, .once = true};
    std::vector<const Kernel*> candidates = bench_candidates(row, flags);
    std::erase_if(candidates, [&](const Kernel* k) { return done[k]; });
    for (const Kernel* k : candidates) order.kernels.emplace_back(k->name);
    if (stop || candidates.empty()) continue;
    const FilledInputs inputs(*row.op, row.c);
    const std::vector<KernelTimes> all = timer.time(order, inputs.memory, {});
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Kernel& k = *candidates[i];
      if (!all[i].left_out.empty()) {
        waiting.insert_or_assign(&k, Waiting{&row, all[i].left_out});
        continue;
      }
      done[&k] = true;
      waiting.erase(&k);
      print_wrapped(row_text(row, k) + " launched");
      for (const LaunchedFunction& f : all[i].functions) print_wrapped("  " + resources_text(f));
      out.write(record_line("launched", LaunchedRecord{recorded_row(row, k), all[i].functions}));
    }
    std::fflush(stdout);
  }
  for (const auto& [k, w] : waiting) {
    print_wrapped(fmt::format("{} left out: {}", row_text(*w.row, *k), w.why));
    out.write(record_line("left_out", LeftOutRecord{recorded_row(*w.row, *k), w.why}));
  }
}

}  // namespace assay
