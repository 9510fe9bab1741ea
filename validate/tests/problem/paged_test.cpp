// SPDX-License-Identifier: Apache-2.0
// Kernels of the paged ops beyond single cases: pools of more than 2^31 elements, mapped and all but empty, and the same bits for
// a sequence alone and among others.  And what the judge has for such ops: rows that nobody reads, outputs with given values.
#include <cstring>
#include <vector>

#include "catch_shim.hpp"
#include "device_tensor.hpp"
#include "simt/machine.hpp"
#include "validate/base/error.hpp"
#include "validate/judge/compare.hpp"
#include "validate/problem/image.hpp"
#include "validate/problem/op.hpp"
#include "validate/values/random.hpp"

namespace assay {
namespace {

using test::Device;

constexpr std::int64_t kPages = (std::int64_t{1} << 21) + 3, kPageSize = 16, kDim = 64;  // 2^31 elements are 2^21 pages
constexpr std::int32_t kLast = static_cast<std::int32_t>(kPages - 1);

void attach(Problem& problem, const std::vector<const Device*>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) *problem.tensors()[i] = tensors[i]->t;
}

}  // namespace

TEST_CASE("paged ops: pages beyond 2^31 elements", "[far]") {
  // Two sequences of 40 and 17 positions, on the last pages of the pool and on its first.
  Device table(i32, {2, 3}), lengths(i32, {2}), k_pool(f16, {kPages, kPageSize, 1, kDim}),
      v_pool(f16, {kPages, kPageSize, 1, kDim});
  const std::vector<std::int32_t> pages{kLast, 0, kLast - 1, 1, kLast - 2, -1};
  table.set(pages);
  lengths.set({40, 17});
  for (const std::int32_t page : pages)
    if (page >= 0)
      for (Device* pool : {&k_pool, &v_pool})
        pool->fill(page * kPageSize * kDim, kPageSize * kDim, random::key(3, pool == &k_pool, random::Purpose::value));
  REQUIRE(k_pool.t.size() > std::int64_t{1} << 31);

  for (const Kernel& kernel : kernels()) {
    if (kernel.broken || !kernel.on_simt) continue;
    INFO(kernel.op << "/" << kernel.name);
    const std::unique_ptr<Problem> problem = find_op(kernel.op)->make();
    if (kernel.op == "paged_attention") {
      Device q(f16, {2, 1, 2, kDim}), o(f16, {2, 1, 2, kDim}), lse(f32, {2, 2, 1});
      q.fill(0, q.t.size(), 5);
      attach(*problem, {&q, &k_pool, &v_pool, &table, &lengths, &o, &lse});
      REQUIRE(kernel.supports(problem->args()));
      void* workspace = simt::allocate(kernel.workspace_bytes(problem->args()), 0, "workspace");
      kernel.on_simt(problem->args(), {.stream = nullptr, .workspace = workspace});
      simt::release(workspace);
      problem->solve({});
      CHECK(compare(*problem, kernel.numerics, 0, o.t, false).wrong == 0);
      CHECK(compare(*problem, kernel.numerics, 1, lse.t, false).wrong == 0);
    } else if (kernel.op == "kv_append") {
      Device k(f16, {2, 9, 1, kDim}), v(f16, {2, 9, 1, kDim});
      k.fill(0, k.t.size(), 7);
      v.fill(0, v.t.size(), 8);
      attach(*problem, {&k, &v, &table, &lengths, &k_pool, &v_pool});
      REQUIRE(kernel.supports(problem->args()));
      simt::reset_counts();
      kernel.on_simt(problem->args(), {});
      // Sequence 0's new rows are positions 31 ... 39, sequence 1's 8 ... 16; nothing else is written.
      for (std::int64_t i = 0; i < 18 * kDim; ++i) {
        const std::int64_t b = i / (9 * kDim), position = i / kDim % 9 + (b ? 8 : 31);
        const std::int64_t at =
            (pages[static_cast<std::size_t>(b * 3 + position / kPageSize)] * kPageSize + position % kPageSize) * kDim + i % kDim;
        if (k_pool.t.at(at) != k.t.at(i) || v_pool.t.at(at) != v.t.at(i)) FAIL("element " << i << " is not at " << at);
      }
      CHECK(simt::counts(k_pool.t.data).written_bytes == 18 * kDim * 2);
      CHECK(simt::counts(v_pool.t.data).written_bytes == 18 * kDim * 2);
    }
  }
}

TEST_CASE("paged_attention: batch_invariant gives a sequence the same bits alone and among others", "[paged]") {
  // Sequence 1 of three, 1500 positions on 94 pages of a pool of 200.
  constexpr std::int64_t kSome = 200, kRoom = 200;
  Device k_pool(f16, {kSome, kPageSize, 2, kDim}), v_pool(f16, {kSome, kPageSize, 2, kDim});
  k_pool.fill(0, k_pool.t.size(), 1);
  v_pool.fill(0, v_pool.t.size(), 2);
  std::vector<std::int32_t> pages(3 * kRoom);
  for (std::size_t i = 0; i < pages.size(); ++i) pages[i] = static_cast<std::int32_t>(i * 37 % kSome);

  const auto answer = [&](const Kernel& kernel, bool alone) {
    const std::int64_t batch = alone ? 1 : 3, room = alone ? 94 : kRoom;
    Device q(f16, {batch, 1, 8, kDim}), o(f16, {batch, 1, 8, kDim}), lse(f32, {batch, 8, 1}), table(i32, {batch, room}),
        lengths(i32, {batch});
    for (std::int64_t i = 0; i < q.t.size(); ++i)
      q.t.set(i, random::normal(5, static_cast<std::uint64_t>(i + (alone ? 8 * kDim : 0))));
    table.set({pages.begin() + (alone ? kRoom : 0), pages.begin() + (alone ? kRoom + room : 3 * kRoom)});
    alone ? lengths.set({1500}) : lengths.set({1600, 1500, 3});
    const std::unique_ptr<Problem> problem = find_op("paged_attention")->make();
    attach(*problem, {&q, &k_pool, &v_pool, &table, &lengths, &o, &lse});
    void* workspace = simt::allocate(kernel.workspace_bytes(problem->args()), 0, "workspace");
    kernel.on_simt(problem->args(), {.stream = nullptr, .workspace = workspace});
    simt::release(workspace);
    const auto* bytes = static_cast<const char*>(o.t.data) + (alone ? 0 : 8 * kDim * 2);
    const auto* sums = static_cast<const char*>(lse.t.data) + (alone ? 0 : 8 * 4);
    return std::string(bytes, 8 * kDim * 2) + std::string(sums, 8 * 4);
  };
  const Kernel& invariant = *find_kernel("paged_attention", "batch_invariant");
  CHECK((answer(invariant, true) == answer(invariant, false)));
  // Which is not so of any kernel.
  const Kernel& split_keys = *find_kernel("paged_attention", "split_keys");
  CHECK((answer(split_keys, true) != answer(split_keys, false)));
}

TEST_CASE("rows that nobody reads hold NaN, and an updated output begins with the fill's values", "[paged]") {
  const auto image_of = [](const char* op_name, std::size_t i, Dims dims) {
    const Op& op = *find_op(op_name);
    const Case c{.op = op_name, .dtype = f16, .dims = dims, .fill = "lengths_few", .seed = 4};
    const Placement p = place(op, c)[i];
    std::vector<std::uint16_t> image(p.bytes / 2);
    fill_image(op, c, static_cast<int>(i), p, reinterpret_cast<std::byte*>(image.data()), std::byte{0x5a});
    return image;
  };
  Dims dims;
  for (const auto& [axis, extent] : {std::pair<Axis, std::int64_t>{Axis::batch, 3},
                                     {Axis::seq_q, 1},
                                     {Axis::pages, 8},
                                     {Axis::page_size, 2},
                                     {Axis::max_pages, 2},
                                     {Axis::heads, 1},
                                     {Axis::kv_heads, 1},
                                     {Axis::head_dim, 1}})
    dims[axis] = extent;
  // Lengths 1, 2, 3 of the sixteen slots.
  const auto is_nan = [](std::uint16_t bits) { return (bits & 0x7fff) > 0x7c00; };
  for (const std::size_t pool : {1u, 2u}) {
    const auto image = image_of("paged_attention", pool, dims);
    CHECK(std::count_if(image.begin(), image.end(), is_nan) == 16 - 6);
  }
  dims[Axis::heads] = 0;
  const auto given = image_of("kv_append", 4, dims);
  CHECK(given.size() == 16);
  CHECK(std::count_if(given.begin(), given.end(), is_nan) == 0);
  CHECK(std::count(given.begin(), given.end(), 0x5a5a) == 0);
}

TEST_CASE("pages count where they are more than the tables have entries, and not twice", "[paged]") {
  const OpShape op = find_op("paged_attention")->shape();
  Case c{.op = "paged_attention"};
  for (const AxisUse& use : op.axes) c.dims[use.axis] = 2;
  CHECK(elements(c, op) == 64);  // kv_heads does not count beside heads
  c.dims[Axis::pages] = 4;
  CHECK(elements(c, op) == 64);
  c.dims[Axis::pages] = 5;
  CHECK(elements(c, op) == 128);
  c.dims[Axis::pages] = kMostExtent;
  c.dims[Axis::head_dim] = 1 << 20;
  CHECK(elements(c, op) == kMostElements + 1);
  CHECK_THROWS_AS(check(c, op), BadInput);
}

}  // namespace assay
