// SPDX-License-Identifier: Apache-2.0
// Dependent launches: what a thread may do before it waits for the launch before its own.
#include <string>

#include "device_hopper.hpp"
#include "simt_testing.hpp"

namespace {

using namespace simt::device;
using namespace simt::testing;

constexpr int kBarrierAt = 1024, kBytes = kBarrierAt + 8;

void make(float* x) { st(x + threadIdx.x, 1.0f); }

enum class When { before, after, never };

// The kind of the finding of two launches: make(x), then `kernel`, which is dependent or not.
template <class... Params, class... Args>
std::string kind(bool dependent, float* x, void (*kernel)(Params...), Args... args) {
  std::string first;
  for (const bool watch : {false, true})
    for (const simt::ThreadOrder order : kOrders) {
      const Configured configured({.order = order, .seed = 3, .time_limit_s = kHang_s, .watch = watch});
      const std::string found =
          finding_of([&] {
            run_block(make, 32, x);
            launch(kernel, {.grid = dim3(2), .block = dim3(32), .shared_bytes = kBytes, .dependent = dependent}, nullptr,
                   args...);
          }).kind;
      if (!first.empty()) CHECK(found == first);
      first = found;
    }
  return first;
}

// y = x + w.  w was written by the host, x by the launch before.
template <When kReads, When kWrites>
void add(const float* x, const float* w, float* y) {
  float sum = ld(w + threadIdx.x);
  if (kReads == When::before) sum += ld(x + threadIdx.x);
  if (kWrites == When::before && blockIdx.x == 0) st(y + threadIdx.x, sum);
  if (kReads != When::never) wait_for_previous_grid();
  if (kReads == When::after) sum += ld(x + threadIdx.x);
  if (kWrites == When::after && blockIdx.x == 0) st(y + threadIdx.x, sum);
}

// Copies a row of x into shared memory.
template <When kWaits>
void copy(const TensorMap map) {
  auto* const b = box_memory<Barrier>(kBarrierAt);
  if (threadIdx.x == 0) {
    barrier_init(b, 1);
    barriers_ready();
  }
  sync_block();
  if (threadIdx.x == 0) {
    if (kWaits == When::before) wait_for_previous_grid();
    barrier_arrive_expect(b, 128);
    copy_box(box_memory<unsigned char>(), map, b, 0, 0);
  }
  barrier_wait(b, 0);
  wait_for_previous_grid();
}

TEST_CASE("dependent launch: reads of what a launch wrote, and all writes, come after the wait", "[simt]") {
  const Buffer<float> x(32, "x"), w(32, "w"), y(32, "y");
  for (std::size_t i = 0; i < 32; ++i) w[i] = 2;
  const auto with = [&](bool dependent, auto kernel) { return kind(dependent, x.get(), kernel, x.get(), w.get(), y.get()); };
  CHECK(with(true, &add<When::after, When::after>) == "none");
  CHECK(y[31] == 3);
  CHECK(with(true, &add<When::before, When::after>) == "early_read");
  CHECK(with(true, &add<When::after, When::before>) == "early_write");
  CHECK(with(true, &add<When::never, When::never>) == "early_end");
  CHECK(with(false, &add<When::before, When::before>) == "none");
  CHECK(with(false, &add<When::never, When::after>) == "none");
}

// One thread, or one warp of two, waits for the launch before; then the others, by one of these, for it.
enum class Then { nothing, warp, block, named, barrier, block_before };

template <Then kThen>
void one_waits(const float* x, float* y) {
  auto* const b = box_memory<Barrier>(kBarrierAt);
  const int t = static_cast<int>(threadIdx.x), waits = kThen == Then::warp ? t % 32 == 0 : t == 0;
  if (kThen == Then::barrier) {
    if (t == 0) {
      barrier_init(b, 1);
      barriers_ready();
    }
    sync_block();
  }
  if (kThen == Then::block_before) sync_block();
  if (waits) wait_for_previous_grid();
  if (kThen == Then::warp) sync_warp();
  if (kThen == Then::block) sync_block();
  if (kThen == Then::named) t < 32 ? (sync_warp(), arrive_named(1, 64)) : sync_named(1, 64);
  if (kThen == Then::barrier) {
    if (t == 0) barrier_arrive(b);
    barrier_wait(b, 0);
  }
  st(y + 64 * blockIdx.x + t, ld(x + t % 32));
}

TEST_CASE("dependent launch: who synchronises with a thread that has waited has waited too", "[simt]") {
  const Buffer<float> x(32, "x"), y(128, "y");
  const auto with = [&](auto kernel) {
    std::string first;
    for (const bool watch : {false, true})
      for (const simt::ThreadOrder order : kOrders) {
        const Configured configured({.order = order, .seed = 3, .time_limit_s = kHang_s, .watch = watch});
        const std::string found =
            finding_of([&] {
              run_block(make, 32, x.get());
              launch(kernel, {.grid = dim3(2), .block = dim3(64), .shared_bytes = kBytes, .dependent = true}, nullptr, x.get(),
                     y.get());
            }).kind;
        if (!first.empty()) CHECK(found == first);
        first = found;
      }
    return first;
  };
  CHECK(with(&one_waits<Then::warp>) == "none");
  CHECK(with(&one_waits<Then::block>) == "none");
  CHECK(with(&one_waits<Then::named>) == "none");
  CHECK(with(&one_waits<Then::barrier>) == "none");
  CHECK(with(&one_waits<Then::nothing>) == "early_read");
  CHECK(with(&one_waits<Then::block_before>) == "early_read");
}

TEST_CASE("dependent launch: a box is read after the wait of the thread that copies it", "[simt]") {
  const Buffer<float> x(32, "x");
  const std::int64_t strides[] = {32};
  const TensorMap map = tensor_map<float>(x.get(), {32, 1}, strides, {32, 1}, Swizzle::none);
  CHECK(kind(true, x.get(), &copy<When::before>, map) == "none");
  CHECK(kind(true, x.get(), &copy<When::after>, map) == "early_read");
  CHECK(kind(false, x.get(), &copy<When::after>, map) == "none");
}

}  // namespace
