// SPDX-License-Identifier: Apache-2.0
// Fences between what threads write to shared memory and what the asynchronous proxy reads or overwrites there.
#include <cstdint>
#include <string>

#include "device_hopper.hpp"
#include "simt_testing.hpp"

namespace {

using namespace simt::device;
using namespace simt::testing;
using simt::Finding;
using simt::ThreadOrder;

// Runs `blocks` blocks of 64 threads in every order; checks that the findings are of one kind and returns the first.
template <class... Params, class... Args>
Finding found_in(bool watch, unsigned blocks, void (*kernel)(Params...), Args... args) {
  Finding first;
  for (const ThreadOrder order : kOrders) {
    const Configured configured({.order = order, .seed = 3, .time_limit_s = kHang_s, .watch = watch});
    const Finding f =
        finding_of([&] { launch(kernel, {.grid = dim3(blocks), .block = dim3(64), .shared_bytes = 2048}, nullptr, args...); });
    INFO(f.message);
    if (order != ThreadOrder::forward) CHECK(f.kind == first.kind);
    if (order == ThreadOrder::forward) first = f;
  }
  return first;
}
template <class... Params, class... Args>
Finding found(void (*kernel)(Params...), Args... args) {
  return found_in(true, 1, kernel, args...);
}

struct Rows {  // two rows of 32, and their map
  Buffer<half> memory{64};
  TensorMap map = [this] {
    const std::int64_t stride[] = {32};
    return tensor_map<half>(memory.get(), {32, 2}, stride, {32, 2}, Swizzle::none);
  }();
};

void store_all(const TensorMap& y) {
  if (threadIdx.x != 0) return;
  store_box(y, box_memory<half>(), 0, 0);
  store_commit();
  store_wait<0>();
}

TEST_CASE("each writer must fence before the barrier after which the asynchronous proxy reads", "[simt][hopper][watch]") {
  const auto kernel = +[](TensorMap y, int how) {
    st(box_memory<half>() + threadIdx.x, half{1});
    if (how == 0) fence_shared_async();
    sync_block();
    if (how == 1) fence_shared_async();  // too late for the writes of other threads
    store_all(y);
  };
  const Rows y;
  CHECK(found(kernel, y.map, 0).kind == "none");
  const Finding late = found(kernel, y.map, 1);
  CHECK(late.kind == "unfenced");
  CHECK(says(late, "no fence_shared_async of the writer, thread (1, 0, 0)"));
  CHECK(found(kernel, y.map, 2).kind == "unfenced");
}

TEST_CASE("each writer must fence before a copy overwrites what it wrote; readers need not", "[simt][hopper][watch]") {
  const auto kernel = +[](TensorMap x, int how) {
    auto* const full = box_memory<Barrier>(1024);
    half* const own = box_memory<half>() + threadIdx.x;
    if (threadIdx.x == 0) {
      barrier_init(full, 1);
      barriers_ready();
    }
    sync_block();
    for (int box = 0; box < 2; ++box) {
      if (box == 1 && how < 3) st(own, half{1});
      if (how == 0) fence_shared_async();
      sync_block();
      if (how == 1) fence_shared_async();  // too late
      if (threadIdx.x == 0) {
        barrier_arrive_expect(full, 128);
        copy_box(box_memory<half>(), x, full, 0, 0);
      }
      barrier_wait(full, box);
      ld(own);
    }
  };
  const Rows x;
  CHECK(found(kernel, x.map, 0).kind == "none");
  CHECK(says(found(kernel, x.map, 1), "to be overwritten by the asynchronous proxy"));
  CHECK(found(kernel, x.map, 2).kind == "unfenced");
  CHECK(found(kernel, x.map, 3).kind == "none");
}

TEST_CASE("without the watch too, a launch is told of what no thread fenced before its first asynchronous word",
          "[simt][hopper]") {
  const auto kernel = +[](TensorMap y, int how) {
    st(box_memory<half>() + threadIdx.x, half{1});
    if (how == 0) fence_shared_async();
    sync_block();
    if (how == 1 && threadIdx.x == 0) fence_shared_async();
    store_all(y);
  };
  const Rows y;
  CHECK(found_in(false, 1, kernel, y.map, 0).kind == "none");
  CHECK(found_in(false, 1, kernel, y.map, 2).kind == "unfenced");
  // Nobody knows who wrote before the first block's fence; from the second block on, every write is noted with its thread.
  CHECK(found_in(false, 1, kernel, y.map, 1).kind == "none");
  CHECK(found_in(false, 2, kernel, y.map, 1).kind == "unfenced");
  CHECK(found_in(false, 2, kernel, y.map, 0).kind == "none");
}

TEST_CASE("a launch without asynchronous words is as before after one with them", "[simt][hopper]") {
  const auto kernel = +[](TensorMap y, bool asynchronous) {
    st(box_memory<half>() + threadIdx.x, half{1});
    if (asynchronous) fence_shared_async();
    sync_block();
    if (asynchronous) store_all(y);
  };
  const Rows y;
  for (const bool asynchronous : {true, false, true}) CHECK(found_in(false, 2, kernel, y.map, asynchronous).kind == "none");
}

TEST_CASE("what cp_async copies is written at the wait: a fence before it is too early", "[simt][hopper]") {
  const auto kernel = +[](const half* x, TensorMap y, int how) {
    if (threadIdx.x < 16) cp_async<8>(box_memory<half>() + threadIdx.x * 4, x + threadIdx.x * 4);
    cp_async_commit();
    if (how == 1) fence_shared_async();
    cp_async_wait<0>();
    if (how == 0) fence_shared_async();
    sync_block();
    store_all(y);
  };
  const Buffer<half> x(64);
  const Rows y;
  for (const bool watch : {false, true}) {
    CHECK(found_in(watch, 1, kernel, x.get(), y.map, 0).kind == "none");
    CHECK(found_in(watch, 1, kernel, x.get(), y.map, 1).kind == "unfenced");
    CHECK(found_in(watch, 1, kernel, x.get(), y.map, 2).kind == "unfenced");
  }
}

}  // namespace
