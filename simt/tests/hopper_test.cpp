// SPDX-License-Identifier: Apache-2.0
// Barriers in memory, tensor copies and wgmma together: the product of hopper_testing.hpp is right and without a finding in every
// order, and each planted fault is found.
#include <string>
#include <utility>

#include "hopper_testing.hpp"

namespace {

using namespace simt::testing;
using simt::ThreadOrder;
using F = RingFault;

// The distinct kinds of finding in the three orders, such as "in_flight, shared_race".
template <F kFault, bool kTurns>
std::string kinds(bool watch = true) {
  std::string all;
  for (const ThreadOrder order : kOrders) {
    const RingRun run =
        run_ring<kFault, kTurns>({.order = order, .seed = 3, .time_limit_s = kHang_s, .watch = watch}, 200, 136, 456, 1);
    if (all.find(run.finding.kind) == std::string::npos) all += (all.empty() ? "" : ", ") + run.finding.kind;
    if (run.finding.kind == "none" && run.wrong != 0) all += " and wrong";
    INFO(run.finding.message << " " << run.finding.file << ":" << run.finding.line);
    CHECK(all.find("none") == (kFault == F::none ? 0 : std::string::npos));
  }
  return all;
}

}  // namespace

TEST_CASE("a product by a ring of stages is right in every order, with tiles shared or taken in turns", "[simt][hopper]") {
  for (const ThreadOrder order : kOrders)
    for (const bool watch : {false, true})
      for (const unsigned blocks : {1u, 3u})
        for (const auto& [m, n, k] : {std::array{200, 136, 456}, {64, 64, 8}, {130, 72, 200}}) {
          const simt::Options options{.order = order, .seed = 5, .time_limit_s = kHang_s, .watch = watch};
          const RingRun shared = run_ring<F::none, false>(options, m, n, k, blocks);
          INFO(shared.finding.message);
          CHECK(shared.finding.kind == "none");
          CHECK(shared.wrong == 0);
          const RingRun turns = run_ring<F::none, true>(options, m, n, k, blocks);
          INFO(turns.finding.message);
          CHECK(turns.finding.kind == "none");
          CHECK(turns.wrong == 0);
        }
}

TEST_CASE("every fault planted in a ring of stages is found in every order", "[simt][hopper]") {
  CHECK(kinds<F::none, false>() == "none");
  CHECK(kinds<F::no_wait, false>() == "in_flight");
  CHECK(kinds<F::early_release, false>() == "wgmma_reads");
  CHECK(kinds<F::too_few_bytes, false>() == "deadlock");
  CHECK(kinds<F::too_many_bytes, false>() == "deadlock");
  CHECK(kinds<F::no_wgmma_wait, false>() == "wgmma_reads");
  CHECK(kinds<F::accumulators_written, false>() == "wgmma_registers");
  CHECK(kinds<F::no_begin, false>() == "wgmma_unordered");
  CHECK(kinds<F::no_fence, false>() == "unfenced");
  CHECK(kinds<F::no_ready, false>() == "unfenced");
  CHECK(kinds<F::no_store_wait, true>() == "wgmma_reads");
  CHECK(kinds<F::ends_in_copy, false>() == "left_behind");
  CHECK(kinds<F::ends_in_store, false>() == "left_behind");
  CHECK(kinds<F::stage_too_far, false>() == "in_flight");
  CHECK(kinds<F::no_turn, true>() == "deadlock, wgmma_reads");  // depends on the order
  CHECK(kinds<F::greedy_registers, false>() == "bad_registers");
  CHECK(kinds<F::overlapping_stages, false>() == "in_flight");
  CHECK(kinds<F::unreleased, false>() == "deadlock");
}
