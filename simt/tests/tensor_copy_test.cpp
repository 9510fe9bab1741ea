// SPDX-License-Identifier: Apache-2.0
// Tensor copies of every rank and swizzle, within a tensor and beyond its ends; misuse of boxes, barriers and registers.
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "device_hopper.hpp"
#include "simt_testing.hpp"

namespace {

using namespace simt::device;
using namespace simt::testing;
using simt::Finding;
using simt::ThreadOrder;

constexpr int kBarrierAt = 16 * 1024, kBytes = kBarrierAt + 64;

// Runs one watched block in every order; checks that the findings are of one kind and returns the first.
template <class... Params, class... Args>
Finding found(void (*kernel)(Params...), unsigned threads, Args... args) {
  Finding first;
  for (const ThreadOrder order : kOrders) {
    const Configured configured({.order = order, .seed = 3, .time_limit_s = kHang_s, .watch = true});
    const Finding f =
        finding_of([&] { launch(kernel, {.grid = dim3(1), .block = dim3(threads), .shared_bytes = kBytes}, nullptr, args...); });
    INFO(f.message);
    if (order != ThreadOrder::forward) CHECK(f.kind == first.kind);
    if (order == ThreadOrder::forward) first = f;
  }
  return first;
}

Barrier* made_barrier(int arrivals = 1) {
  auto* const b = box_memory<Barrier>(kBarrierAt);
  if (threadIdx.x == 0) {
    barrier_init(b, arrivals);
    barriers_ready();
  }
  sync_block();
  return b;
}

using At = std::array<int, 5>;

template <int Rank>
void copy_at(void* to, const TensorMap& map, Barrier* b, const At& at) {
  auto* const shared = static_cast<unsigned char*>(to);
  if constexpr (Rank == 1) copy_box(shared, map, b, at[0]);
  else if constexpr (Rank == 2) copy_box(shared, map, b, at[0], at[1]);
  else if constexpr (Rank == 3) copy_box(shared, map, b, at[0], at[1], at[2]);
  else if constexpr (Rank == 4) copy_box(shared, map, b, at[0], at[1], at[2], at[3]);
  else copy_box(shared, map, b, at[0], at[1], at[2], at[3], at[4]);
}
template <int Rank>
void store_at(const TensorMap& map, const unsigned char* shared, const At& at) {
  if constexpr (Rank == 1) store_box(map, shared, at[0]);
  else if constexpr (Rank == 2) store_box(map, shared, at[0], at[1]);
  else if constexpr (Rank == 3) store_box(map, shared, at[0], at[1], at[2]);
  else if constexpr (Rank == 4) store_box(map, shared, at[0], at[1], at[2], at[3]);
  else store_box(map, shared, at[0], at[1], at[2], at[3], at[4]);
}

// Copies a box of x to y through shared memory, and the box as it lies in shared memory to `seen`.
template <int Rank>
void through(TensorMap x, TensorMap y, At at, At to, std::uint16_t* seen, int bytes) {
  Barrier* const b = made_barrier();
  if (threadIdx.x == 0) {
    barrier_arrive_expect(b, bytes);
    copy_at<Rank>(box_memory<unsigned char>(), x, b, at);
  }
  barrier_wait(b, 0);
  for (int i = static_cast<int>(threadIdx.x); i < bytes / 2; i += 32) st(seen + i, ld(box_memory<std::uint16_t>() + i));
  if (threadIdx.x == 0) {
    store_at<Rank>(y, box_memory<unsigned char>(), to);
    store_commit();
    store_wait<0>();
  }
}

template <int Rank>
void check_boxes(Swizzle swizzle) {
  const std::array<std::int64_t, 5> extents{75, 5, 3, 4, 2},
      box{swizzle == Swizzle::none ? 24 : 8 << static_cast<int>(swizzle), 9, 2, 3, 2};
  std::int64_t e[Rank], strides[5] = {};
  int b[Rank];
  std::size_t elements = 80, of_box = 1;
  for (int d = 0; d < Rank; ++d) {
    e[d] = extents[static_cast<std::size_t>(d)];
    b[d] = static_cast<int>(box[static_cast<std::size_t>(d)]);
  }
  for (int d = 1; d < Rank; ++d) {
    strides[d - 1] = static_cast<std::int64_t>(elements);
    elements *= static_cast<std::size_t>(e[d]);
  }
  for (int d = 0; d < Rank; ++d) of_box *= static_cast<std::size_t>(b[d]);
  const At places[] = {{0, 0, 0, 0, 0}, {-8, -2, -1, -1, -1}, {64, 3, 2, 2, 1},
                       {8, 0, 1, 1, 0}, {80, 0, 0, 0, 0},     {-200, 0, 0, 0, 0}};
  for (const At& at : places)
    for (const ThreadOrder order : kOrders) {
      const Configured configured({.order = order, .seed = 2, .watch = true});
      const Buffer<half> x(elements, "x"), y(elements, "y");
      const Buffer<std::uint16_t> seen(of_box, "seen");
      for (std::size_t i = 0; i < elements; ++i) {
        x[i].bits = static_cast<std::uint16_t>(i * 13 + 1);
        y[i].bits = 7;
      }
      const TensorMap from = tensor_map<half>(x.get(), e, strides, b, swizzle),
                      to = tensor_map<half>(y.get(), e, strides, b, swizzle);
      const Finding f = finding_of([&] {
        launch(through<Rank>, {.grid = dim3(1), .block = dim3(32), .shared_bytes = kBytes}, nullptr, from, to, at, at, seen.get(),
               static_cast<int>(of_box * 2));
      });
      INFO(f.message);
      CHECK(f.kind == "none");
      unsigned wrong = 0;
      std::vector<bool> in_box(elements, false);
      std::vector<std::size_t> past;
      for (std::size_t i = 0; i < of_box; ++i) {
        std::size_t left = i, offset = 0;
        bool inside = true;
        for (int d = 0; d < Rank; ++d) {
          const auto size = static_cast<std::size_t>(b[d]);
          const std::int64_t c = at[static_cast<std::size_t>(d)] + static_cast<std::int64_t>(left % size);
          left /= size;
          inside = inside && c >= 0 && c < e[d];
          offset += static_cast<std::size_t>(c * (d == 0 ? 1 : strides[d - 1]));
        }
        // The place is computed independently of the machine: address bits 7 to 9, as many as the swizzle uses, move a chunk.
        const std::size_t byte = i * 2, bits = swizzle == Swizzle::by_128  ? 7
                                               : swizzle == Swizzle::by_64 ? 3
                                               : swizzle == Swizzle::by_32 ? 1
                                                                           : 0;
        const std::size_t lies = byte ^ (byte / 128 & bits) * 16;
        wrong += seen[lies / 2] != (inside ? x[offset].bits : 0);
        if (!inside) continue;
        in_box[offset] = true;
        // A row of 75 elements ends 5 before a 16-byte piece does; the store writes these too, as zeros.
        if (offset % 80 == 74 && i % static_cast<std::size_t>(b[0]) + 1 != static_cast<std::size_t>(b[0])) past.push_back(offset);
      }
      for (const std::size_t end : past)
        for (std::size_t i = end + 1; i < end + 6; ++i) {
          wrong += y[i].bits != 0;
          y[i].bits = 7;
        }
      for (std::size_t i = 0; i < elements; ++i) wrong += y[i].bits != (in_box[i] ? x[i].bits : 7);
      CHECK(wrong == 0);
    }
}

}  // namespace

TEST_CASE("boxes of every rank are copied, within their tensor and beyond each of its ends", "[simt][hopper]") {
  check_boxes<1>(Swizzle::none);
  check_boxes<2>(Swizzle::none);
  check_boxes<3>(Swizzle::none);
  check_boxes<4>(Swizzle::none);
  check_boxes<5>(Swizzle::none);
}

TEST_CASE("boxes of every swizzle are copied", "[simt][hopper]") {
  check_boxes<2>(Swizzle::by_32);
  check_boxes<2>(Swizzle::by_64);
  check_boxes<2>(Swizzle::by_128);
  check_boxes<3>(Swizzle::by_128);
}

TEST_CASE("add_box adds", "[simt][hopper]") {
  const auto kernel = +[](TensorMap y) {
    st(box_memory<float>() + threadIdx.x, static_cast<float>(threadIdx.x));
    fence_shared_async();
    sync_block();
    if (threadIdx.x != 0) return;
    for (int i = 0; i < 2; ++i) add_box(y, box_memory<float>(), 4, 0);
    store_commit();
    store_wait<0>();
  };
  for (const ThreadOrder order : kOrders) {
    const Configured configured({.order = order, .seed = 2, .watch = true});
    const Buffer<float> y(32);
    for (std::size_t i = 0; i < 32; ++i) y[i] = 100;
    const std::int64_t stride[] = {16};
    const TensorMap map = tensor_map<float>(y.get(), {12, 2}, stride, {16, 2}, Swizzle::none);
    launch(kernel, {.grid = dim3(1), .block = dim3(32), .shared_bytes = kBytes}, nullptr, map);
    unsigned wrong = 0;
    for (std::size_t i = 0; i < 32; ++i) wrong += y[i] != 100 + (i % 16 >= 4 && i % 16 < 12 ? 2 * static_cast<float>(i - 4) : 0);
    CHECK(wrong == 0);
  }
}

TEST_CASE("tensor_map refuses what the driver refuses", "[simt][hopper]") {
  const Buffer<half> x(4096);
  const auto refused = [&](std::size_t offset, std::int64_t width, std::int64_t stride, int box, Swizzle swizzle) {
    try {
      const std::int64_t strides[] = {stride};
      tensor_map<half>(x.get() + offset, {width, 4}, strides, {box, 4}, swizzle);
    } catch (const std::invalid_argument& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(refused(0, 60, 64, 64, Swizzle::by_128).empty());
  CHECK(refused(4, 60, 64, 64, Swizzle::by_128) == "a tensor map needs an address that is a multiple of 16");
  CHECK(refused(0, 60, 60, 64, Swizzle::by_128) == "a tensor map needs strides that are multiples of 16 bytes, below 2^40");
  CHECK(refused(0, 0, 64, 64, Swizzle::by_128) == "a tensor map needs extents of 1 to 2^32");
  CHECK(refused(0, 60, 64, 257, Swizzle::none) == "a tensor map needs a box of 1 to 256 elements along each axis");
  CHECK(refused(0, 60, 64, 20, Swizzle::none) == "a tensor map needs a box whose rows are multiples of 16 bytes");
  CHECK(refused(0, 60, 64, 128, Swizzle::by_128) == "a tensor map needs a box whose rows are as long as the swizzle");
}

TEST_CASE("impossible boxes are findings", "[simt][hopper]") {
  const Buffer<half> x(64 * 64, "x");
  const std::int64_t stride[] = {64}, far[] = {640};
  const TensorMap map = tensor_map<half>(x.get(), {64, 64}, stride, {64, 8}, Swizzle::by_128);
  const auto copy = +[](TensorMap m, int at, int coordinates, int first) {
    Barrier* const b = made_barrier();
    if (threadIdx.x == 0) {
      barrier_arrive_expect(b, 1024);
      auto* const to = box_memory<unsigned char>() + at;
      if (coordinates == 2) copy_box(to, m, b, first, 0);
      else copy_box(to, m, b, 0, 0, 0);
    }
    barrier_wait(b, 0);
  };
  CHECK(found(copy, 32, map, 1024, 2, 0).kind == "none");
  CHECK(found(copy, 32, map, 512, 2, 0).kind == "bad_box");
  CHECK(found(copy, 32, map, 1024, 2, -8).kind == "none");
  CHECK(says(found(copy, 32, map, 1024, 2, 12), "its first coordinate, 12, is no multiple of 16 bytes"));
  CHECK(found(copy, 32, map, 1024, 3, 0).kind == "bad_box");
  CHECK(found(copy, 32, map, kBarrierAt - 1024, 2, 0).kind == "none");
  CHECK(found(copy, 32, map, kBarrierAt, 2, 0).kind == "bad_box");
  CHECK(found(copy, 32, TensorMap{}, 0, 2, 0).kind == "bad_box");
  const TensorMap beyond = tensor_map<half>(x.get(), {64, 64}, far, {64, 8}, Swizzle::by_128);
  CHECK(says(found(copy, 32, beyond, 0, 2, 0), "past the end of 'x' (8192 bytes)"));
}

TEST_CASE("misused barriers are findings", "[simt][hopper]") {
  const auto says_of = [](const Finding& f) { return f.kind + ": " + f.message; };
  CHECK(found(
            +[] { barrier_init(box_memory<Barrier>(4), 1); }, 1)
            .kind == "bad_barrier");
  CHECK(found(
            +[] { barrier_init(box_memory<Barrier>(8), 0); }, 1)
            .kind == "bad_barrier");
  CHECK(found(
            +[] { barrier_arrive(box_memory<Barrier>(8)); }, 1)
            .kind == "bad_barrier");
  CHECK(found(
            +[] {
              barrier_init(box_memory<Barrier>(8), 1);
              barrier_init(box_memory<Barrier>(8), 1);
            },
            1)
            .kind == "bad_barrier");
  CHECK(found(
            +[] { st(made_barrier(), Barrier{0}); }, 1)
            .kind == "bad_barrier");
  CHECK(found(
            +[] { ld(reinterpret_cast<const unsigned*>(made_barrier()) + 1); }, 1)
            .kind == "bad_barrier");
  const Finding alone = found(
      +[] { barrier_wait(made_barrier(2), 0); }, 1);
  CHECK(alone.kind == "deadlock");
  CHECK(says(alone, "phase 0 of the barrier at +16384 lacks 2 of 2 arrivals"));
  const Finding bytes = found(
      +[] {
        Barrier* const b = made_barrier();
        if (threadIdx.x == 0) barrier_arrive_expect(b, 1024);
        barrier_wait(b, 0);
      },
      32);
  INFO(says_of(bytes));
  CHECK(says(bytes, "32 threads at barrier_wait: phase 0 of the barrier at +16384 lacks 1024 of 1024 bytes"));
}

TEST_CASE("a barrier in memory orders accesses before an arrival and after a wait, and no others", "[simt][hopper][watch]") {
  const auto kernel = +[](int how) {
    Barrier* const b = made_barrier(32);
    float* const s = box_memory<float>();
    const unsigned other = (threadIdx.x + 32) % 64;
    if (threadIdx.x < 32) {
      if (how != 1) st(s + threadIdx.x, 1.0f);
      barrier_arrive(b);
      if (how == 1) st(s + threadIdx.x, 1.0f);
    } else {
      if (how != 2) barrier_wait(b, 0);
      st(s + other, 2.0f);
    }
  };
  CHECK(found(kernel, 64, 0).kind == "none");
  CHECK(found(kernel, 64, 1).kind == "shared_race");
  CHECK(found(kernel, 64, 2).kind == "shared_race");
  const auto handed = +[](int how) {
    float* const s = box_memory<float>() + threadIdx.x % 32;
    if (threadIdx.x < 32) {
      if (how == 0) st(s, 1.0f);
      arrive_named(1, 64);
      if (how == 1) st(s, 1.0f);
    } else {
      sync_named(1, 64);
      st(s, 2.0f);
    }
  };
  CHECK(found(handed, 64, 0).kind == "none");
  CHECK(found(handed, 64, 1).kind == "shared_race");
}

TEST_CASE("a warpgroup can give registers to the others, within limits", "[simt][hopper]") {
  const auto take = +[](int how) {
    const unsigned group = threadIdx.x / 128;
    if (how == 0) group == 0 ? give_registers<24>() : take_registers<240>();
    if (how == 1) group == 0 ? give_registers<32>() : take_registers<240>();
    if (how == 2 && threadIdx.x % 128 < 96) group == 0 ? give_registers<24>() : void();
    if (how == 3) give_registers<28>();
    if (how == 4) give_registers<176>();
  };
  CHECK(found(take, 384, 0).kind == "none");
  const Finding f = found(take, 384, 1);
  CHECK(f.kind == "bad_registers");
  CHECK(says(f, "32 + 240 + 240 = 512 registers a thread, of 504 that the launch gave"));
  CHECK(found(take, 384, 2).kind == "bad_registers");
  CHECK(found(take, 384, 3).kind == "bad_registers");
  CHECK(found(take, 384, 4).kind == "bad_registers");
  CHECK(found(take, 96, 0).kind == "bad_registers");
}

TEST_CASE("stmatrix stores what ldmatrix loads", "[simt][hopper]") {
  const auto kernel = +[](unsigned* out) {
    auto* const s = box_memory<half>();
    unsigned r[4], back[4];
    for (unsigned i = 0; i < 4; ++i) r[i] = threadIdx.x * 8 + i;
    stmatrix<4>(s + lane_id() * 8, r);
    sync_warp();
    ldmatrix<4>(back, s + lane_id() * 8);
    for (unsigned i = 0; i < 4; ++i) st(out + threadIdx.x * 4 + i, back[i]);
  };
  const Buffer<unsigned> out(128);
  CHECK(found(kernel, 32, out.get()).kind == "none");
  unsigned wrong = 0;
  for (std::size_t i = 0; i < 128; ++i) wrong += out[i] != i / 4 * 8 + i % 4;
  CHECK(wrong == 0);
}
