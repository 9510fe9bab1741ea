// SPDX-License-Identifier: Apache-2.0
// Runs a grid block by block, in the machine's order, and throws a Fault if something stopped it.
#include <signal.h>

#include <bit>
#include <cstring>
#include <stdexcept>

#include "arena.hpp"
#include "async.hpp"
#include "asynchronous.hpp"
#include "describe.hpp"
#include "device_hopper.hpp"
#include "findings.hpp"
#include "grid.hpp"
#include "guards.hpp"
#include "mbarrier.hpp"
#include "memory.hpp"
#include "options.hpp"
#include "register_pool.hpp"
#include "scheduler.hpp"
#include "sectors.hpp"
#include "tensor_copy.hpp"
#include "threads.hpp"
#include "ticks.hpp"
#include "watch.hpp"
#include "wgmma.hpp"

namespace simt::detail {
namespace {

// A permutation of 0..n-1 without a table: a bijection on the next power of two, applied until the result is below n.
class BlockOrder {
 public:
  BlockOrder(std::uint64_t n, ThreadOrder order, Random& random) : n_(n), order_(order) {
    if (order != ThreadOrder::shuffle) return;
    mask_ = std::bit_ceil(n) - 1;
    shift_ = (static_cast<int>(std::bit_width(mask_)) + 1) / 2;
    multiply_ = random.next() | 1;
    add_ = random.next();
  }
  std::uint64_t operator()(std::uint64_t i) const {
    if (order_ == ThreadOrder::forward) return i;
    if (order_ == ThreadOrder::reverse) return n_ - 1 - i;
    do {
      i = (i * multiply_ + add_) & mask_;
      i ^= i >> shift_;
      i = i * 0x9e3779b97f4a7c15u & mask_;
      i ^= i >> shift_;
    } while (i >= n_);
    return i;
  }

 private:
  std::uint64_t n_, mask_ = 0, multiply_ = 1, add_ = 0;
  ThreadOrder order_;
  int shift_ = 1;
};

[[noreturn]] void refuse_launch(const Grid& g, const std::string& why) {
  throw Fault({"bad_launch", why, g.where.file_name(), static_cast<int>(g.where.line())});
}

void check_launch(const Grid& g) {
  const auto shape = [](const device::dim3& d) { return describe({d.x, d.y, d.z}); };
  const device::dim3 &grid = g.grid, &block = g.block;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) refuse_launch(g, "an empty grid " + shape(grid));
  if (grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535)
    refuse_launch(g, "a grid of " + shape(grid) + " blocks; at most (2147483647, 65535, 65535)");
  if (block.x == 0 || block.y == 0 || block.z == 0) refuse_launch(g, "an empty block " + shape(block));
  if (block.x > kMaxThreads || block.y > kMaxThreads || block.z > 64 || block.x * block.y * block.z > kMaxThreads)
    refuse_launch(g, "a block of " + shape(block) + " threads; at most (1024, 1024, 64) and 1024 in all");
  if (options.stream != nullptr && g.stream != options.stream)
    throw Fault({"unjoined_stream", "a launch on a stream that the caller's does not wait for", g.where.file_name(),
                 static_cast<int>(g.where.line())});
  if (g.shared_bytes > kMaxSharedBytes)
    refuse_launch(g, std::to_string(g.shared_bytes) + " bytes of shared memory; at most " + std::to_string(kMaxSharedBytes));
}

// While it lives, a plain access that faults stops the launch and not the process.
class FaultHandler {
 public:
  FaultHandler() {
    static unsigned char stack[64 * 1024];
    stack_t on{};
    on.ss_sp = stack;
    on.ss_size = sizeof stack;
    sigaltstack(&on, &old_stack_);
    struct sigaction action = {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(SIGSEGV, &action, &old_segv_);
    sigaction(SIGBUS, &action, &old_bus_);
    sigaction(SIGILL, &action, &old_ill_);
  }
  ~FaultHandler() {
    sigaction(SIGSEGV, &old_segv_, nullptr);
    sigaction(SIGBUS, &old_bus_, nullptr);
    sigaction(SIGILL, &old_ill_, nullptr);
    sigaltstack(&old_stack_, nullptr);
  }
  FaultHandler(const FaultHandler&) = delete;
  FaultHandler& operator=(const FaultHandler&) = delete;

 private:
  static void handle(int signal_number, siginfo_t* info, void*) {
    if (running_thread == nullptr) {  // the fault is not in a kernel
      signal(signal_number, SIG_DFL);
      return;
    }
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    Trouble trouble;
    trouble.what = fibers().in_guard(address) ? Trouble::What::stack_overflow : Trouble::What::plain_access;
    trouble.address = address;
    if (signal_number == SIGILL) {  // -fsanitize=bounds,alignment
      trouble.what = Trouble::What::trapped;
      trouble.code = address;
    }
    stop(trouble);
  }
  stack_t old_stack_;
  struct sigaction old_segv_, old_bus_, old_ill_;
};

// The shared memory of a block: an allocation of exactly the bytes that the launch asked for.
class Arena {
 public:
  explicit Arena(std::size_t bytes) : bytes_(bytes) {
    shared_memory.begin = allocate(bytes, 0, "shared memory");
    shared_memory.slot = arena_begin() >> 32;
  }
  ~Arena() {
    release(shared_memory.begin);
    shared_memory.begin = nullptr;
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  // Note: all bits set is a NaN in every float type, so a read of what no thread wrote shows in the result.
  // It is also marked as unwritten, for the watch and the fences; no counter uses that map for shared memory.
  void poison() {
    std::memset(shared_memory.begin, 0xff, bytes_);
    std::memset(reinterpret_cast<void*>(hot.written_map + arena_begin() / 8), 0, (bytes_ + 7) / 8);
  }

 private:
  std::size_t bytes_;
};

// Called when the block has ended or was abandoned.
void end_asynchronous() {
  if (!running_block.asynchronous) return;
  running_block.asynchronous = false;
  if (!async_copies.in_flight()) unwatch_accesses();
  memory_barriers.clear();
  tensor_boxes.clear();
  wgmma_products.clear();
  register_pool.clear();
  guards.reset();
}

class Running {
 public:
  explicit Running(const Grid& g) {
    if (running_launch.grid != nullptr) throw std::logic_error("simt: a launch within a launch");
    running_launch.grid = &g;
    running_launch.anyone_waited = running_launch.asynchronous = false;
    random_numbers.state = options.seed;
    start_time_limit();
  }
  ~Running() {
    running_launch.grid = nullptr;
    running_thread = nullptr;
    sector_log.end_launch();
    async_copies.clear();
    end_asynchronous();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
};

// Reports what the ended block has left running.
void check_all_is_over() {
  if (!running_block.asynchronous) return;
  tensor_boxes.check_over();
  if (!is_stopped()) memory_barriers.check_over();
  if (!is_stopped()) wgmma_products.check_over();
  if (!is_stopped()) register_pool.check_over();
}

// Reports the block's first read of what nobody wrote, with the watch.
void check_all_was_written() {
  using What = Trouble::What;
  unsigned thread = 0;
  const Trouble& unread = watch.uninitialised(thread);
  // Note: a bad access may come of an index that nobody wrote; then the read of that index is the better finding.
  if (unread.what == What::none || (is_stopped() && findings.trouble.what != What::access)) return;
  findings.trouble = unread;
  running_thread = running_block.thread + thread;
}

// Runs the block blockIdx, and throws a Fault if something stopped it.
void run_and_check_block() {
  if (options.watch) watch.start_block();
  start_asynchronous();
  run_block();
  if (!is_stopped()) check_all_is_over();
  if (options.watch) check_all_was_written();
  if (is_stopped()) {
    const Finding finding = describe_trouble();
    fibers().abandon_all();
    throw Fault(finding);
  }
  if (options.count_sectors) sector_log.end_block();
  end_asynchronous();
  if (async_copies.in_flight()) unwatch_accesses();
  async_copies.clear();
}

}  // namespace

void* shared_arena() { return shared_memory.begin; }

void run_grid(const Grid& g) {
  check_launch(g);
  const Running running(g);
  const OpenMemory open;
  Arena arena(g.shared_bytes);
  const FaultHandler handler;
  device::gridDim = g.grid;
  device::blockDim = g.block;
  start_grid();
  if (options.watch) watch.start_launch(running_block.threads);
  forget_suspicion();

  const std::uint64_t blocks = std::uint64_t{g.grid.x} * g.grid.y * g.grid.z;
  const BlockOrder order(blocks, options.order, random_numbers);
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const std::uint64_t b = order(i), yz = b / g.grid.x;
    device::blockIdx = {static_cast<unsigned>(b % g.grid.x), static_cast<unsigned>(yz % g.grid.y),
                        static_cast<unsigned>(yz / g.grid.y)};
    arena.poison();
    run_and_check_block();
  }
  if (g.dependent && !running_launch.anyone_waited)
    throw Fault({"early_end",
                 "a dependent launch none of whose threads waited for the launch before it: it may end, and the next one begin, "
                 "before that one has ended",
                 g.where.file_name(), static_cast<int>(g.where.line())});
  tell_suspicion();
}

// 1 to 4: few, so that a block takes several tiles and its ring buffers wrap.
int multiprocessors() { return 1 + static_cast<int>((static_cast<std::uint64_t>(options.order) + options.seed) % 4); }

}  // namespace simt::detail
