// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/run/launches.hpp"

#include <cstdint>
#include <optional>

#include "validate/values/random.hpp"

namespace assay {

std::size_t calls_before(const Prepared& p) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 16;
  constexpr std::uint64_t kOneIn = 4;
  const std::uint64_t drawn = random::mix(p.task->c.seed) >> 3;  // Note: three bits chose the case for a second set
  return p.packing.input_bytes <= kMostBytes && drawn % kOneIn == 0 ? 4 + (drawn >> 2) % 32 : 1;
}

std::vector<OrderRun> runs_of(const Kernel& kernel, const Prepared& p, const JudgeOptions& options) {
  const std::uint64_t seed = p.task->c.seed;
  // The second run takes threads in reverse order for even seeds, shuffled for odd ones.
  const int other_order = 1 + static_cast<int>(seed & 1);
  std::vector<OrderRun> runs;
  for (int k = 0; k < kRuns; ++k)
    runs.push_back(
        {.how = {.order = k == 0 ? 0 : other_order, .seed = seed, .sectors = options.sectors && k == 0, .watch = options.watch},
         .garbage = kGarbage[k],
         .after = k == 0 && p.input_sets > 1 && !options.watch ? std::optional<std::size_t>(1) : std::nullopt,
         .calls = calls_before(p),
         .keeps = k > 0 && !options.watch});
  if (p.input_sets > 1 && kernel.deterministic && options.backend == "cuda")
    for (const bool replayed : {true, false}) runs.push_back({.garbage = kGarbage[1], .inputs = 1, .replayed = replayed});
  return runs;
}

}  // namespace assay
