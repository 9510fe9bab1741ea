// SPDX-License-Identifier: Apache-2.0
#include "register_pool.hpp"

#include <algorithm>
#include <string>

#include "asynchronous.hpp"
#include "device_hopper.hpp"
#include "findings.hpp"
#include "scheduler.hpp"
#include "threads.hpp"

namespace simt::detail {

RegisterPool register_pool;

namespace {

constexpr int kOfAnSm = 65536, kLeast = 24, kMost = 256;
constexpr unsigned kGroupWarps = 4;

struct Request {
  WarpWork work;
};
void grant_to_warp(WarpWork* const*) { register_pool.grant(); }

void check_count(const char* word, int count, Where where) {
  if (count % 8 != 0 || count < kLeast || count > kMost || running_block.threads % (kGroupWarps * kWarpLanes) != 0)
    stop_with(
        "bad_registers",
        std::string(word) + "<" + std::to_string(count) + ">: a multiple of 8 from 24 to 256, in a block of whole warpgroups",
        where);
}

}  // namespace

void RegisterPool::clear() {
  warps_.fill({});
  free_ = 0;
  started_ = false;
  waiting_.clear();
}

int RegisterPool::share() const { return std::min(kOfAnSm / static_cast<int>(running_block.threads) / 8 * 8, kMost); }

void RegisterPool::start() {
  if (started_) return;
  started_ = true;
  for (unsigned w = 0; w * kWarpLanes < running_block.threads; ++w) warps_[w].has = share();
}

void RegisterPool::ask(int count, bool take, Where where) {
  const char* const word = take ? "take_registers" : "give_registers";
  check_count(word, count, where);
  start();
  Warp& w = warps_[running_thread->id / kWarpLanes];
  if ((take ? count < w.has : count > w.has) && w.wants == 0)
    stop_with("bad_registers", std::string(word) + "<" + std::to_string(count) + "> by a warp that has " + std::to_string(w.has),
              where);
  w.wants = count;
  w.where = where;
}

void RegisterPool::give(int count, Where where) {
  ask(count, false, where);
  Request mine{{grant_to_warp}};
  work_together(Meet::registers, mine.work, where);
}

void RegisterPool::take(int count, Where where) {
  ask(count, true, where);
  const unsigned w = running_thread->id / kWarpLanes;
  Request mine{{grant_to_warp}};
  work_together(Meet::registers, mine.work, where);
  // Note: if the others never give as many, no thread can go on, and the finding says shortage().
  while (warps_[w].wants != 0) {
    wait_as(Meet::registers, w / kGroupWarps, where);
    waiting_.push_back(static_cast<std::uint16_t>(running_thread->id));
    run_others();
  }
}

void RegisterPool::grant() {
  for (Warp& w : warps_)
    if (w.wants != 0 && w.wants <= w.has) {
      free_ += w.has - w.wants;
      w.has = w.wants;
      w.wants = 0;
    }
  for (Warp& w : warps_)
    if (w.wants > w.has && w.wants - w.has <= free_) {
      free_ -= w.wants - w.has;
      w.has = w.wants;
      w.wants = 0;
    }
  for (const std::uint16_t t : waiting_) make_ready(t);
  waiting_.clear();
}

std::string RegisterPool::shortage() const {
  std::string text;
  int sum = 0;
  for (unsigned w = 0; w * kWarpLanes < running_block.threads; w += kGroupWarps) {
    const int n = std::max(warps_[w].has, warps_[w].wants);
    text += (text.empty() ? "" : " + ") + std::to_string(n);
    sum += n;
  }
  const int all = share() * static_cast<int>(running_block.threads / (kGroupWarps * kWarpLanes));
  return "the warpgroups want " + text + " = " + std::to_string(sum) + " registers a thread, of " + std::to_string(all) +
         " that the launch gave";
}

void RegisterPool::check_over() {
  for (unsigned w = 0; started_ && w * kWarpLanes < running_block.threads; ++w)
    if (warps_[w].has != warps_[w / kGroupWarps * kGroupWarps].has)
      return report_after_block("bad_registers", "not all four warps of a warpgroup took or gave the same registers",
                                w * kWarpLanes, warps_[w].where);
}

// --- The words --------------------------------------------------------------------------------------------------------

void take_registers(int count, Where where) {
  use_asynchronous(where);
  register_pool.take(count, where);
}
void give_registers(int count, Where where) {
  use_asynchronous(where);
  register_pool.give(count, where);
}

}  // namespace simt::detail
