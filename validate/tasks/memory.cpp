// SPDX-License-Identifier: Apache-2.0
#include "validate/tasks/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "validate/problem/image.hpp"
#include "validate/values/islands.hpp"
#include "validate/worker/protocol.hpp"

namespace assay {

namespace {

std::string size_text(double bytes) {
  const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
  return fmt::format("{:.{}f} {}", bytes, unit ? 1 : 0, units[unit]);
}

}  // namespace

double memory_of(const Op& op, const Case& c, bool replayed) {
  double total = 0;
  const std::vector<Placement> placements = place(op, c);
  for (std::size_t i = 0; i < placements.size(); ++i) {
    const double image = static_cast<double>(bytes_of(islands(placements[i].tensor, placements[i].bytes))), maps = image / 4;
    const double golden = 2 * 8 * static_cast<double>(placements[i].tensor.size());  // f64 values, and as many magnitudes
    const bool output = op.tensors[i].role == Role::output;
    total += 2 * image + maps;                                          // in the worker
    total += output ? (replayed ? 2 : 1) * kRuns * image + golden : 0;  // in the judge
    total += is_given(op.tensors[i]) ? (replayed ? 2 : 1) * image : 0;
  }
  return total;
}

std::string too_large(const Op& op, const Case& c, std::size_t available, bool replayed) {
  double space = 0;
  for (const Placement& p : place(op, c)) space += 4 * static_cast<double>(p.bytes);  // in judge and worker, of each run
  rlimit allowed{};
  if (::getrlimit(RLIMIT_AS, &allowed) == 0 && allowed.rlim_cur != RLIM_INFINITY && space > static_cast<double>(allowed.rlim_cur))
    return fmt::format("needs about {} of address space and {} are allowed", size_text(space),
                       size_text(static_cast<double>(allowed.rlim_cur)));
  const double needed = memory_of(op, c, replayed);
  if (needed <= static_cast<double>(available)) return {};
  return fmt::format("needs about {} of memory and {} are free here", size_text(needed),
                     size_text(static_cast<double>(available)));
}

}  // namespace assay
