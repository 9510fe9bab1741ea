// SPDX-License-Identifier: Apache-2.0
// Pools of more than 2^31 elements, mapped and all but empty: offsets into a pool need 64 bits.
#include <cstring>
#include <vector>

#include "catch_shim.hpp"
#include "simt/machine.hpp"
#include "validate/compare.hpp"
#include "validate/op.hpp"
#include "validate/random.hpp"

namespace assay {
namespace {

constexpr std::int64_t kPages = (std::int64_t{1} << 21) + 3, kPageSize = 16, kDim = 64;  // 2^31 elements are 2^21 pages
constexpr std::int32_t kLast = static_cast<std::int32_t>(kPages - 1);

// A tensor in the simulated machine's memory, released at the end.
struct Device {
  Tensor t;
  Device(DType dtype, std::vector<std::int64_t> shape) {
    t.dtype = dtype, t.rank = static_cast<int>(shape.size());
    std::copy(shape.begin(), shape.end(), t.shape.begin());
    std::int64_t stride = 1;
    for (int i = t.rank - 1; i >= 0; --i) t.stride[i] = stride, stride *= t.shape[i];
    t.data = simt::allocate(static_cast<std::size_t>(t.bytes()), 0, "tensor");
  }
  Device(const Device&) = delete;
  ~Device() { simt::release(t.data); }
  void fill(std::int64_t first, std::int64_t count, std::uint64_t key) {
    for (std::int64_t i = first; i < first + count; ++i) t.set(i, random::normal(key, static_cast<std::uint64_t>(i)));
  }
  void set(std::vector<std::int32_t> values) { std::memcpy(t.data, values.data(), values.size() * sizeof(std::int32_t)); }
};

void attach(Problem& problem, const std::vector<const Device*>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) *problem.tensors()[i] = tensors[i]->t;
}

}  // namespace

TEST_CASE("paged ops: pages beyond 2^31 elements", "[far]") {
  // Two sequences of 40 and 17 positions, on the last pages of the pool and on its first.
  Device table(i32, {2, 3}), lengths(i32, {2}), k_pool(f16, {kPages, kPageSize, 1, kDim}), v_pool(f16, {kPages, kPageSize, 1, kDim});
  const std::vector<std::int32_t> pages{kLast, 0, kLast - 1, 1, kLast - 2, -1};
  table.set(pages), lengths.set({40, 17});
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
      k.fill(0, k.t.size(), 7), v.fill(0, v.t.size(), 8);
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

}  // namespace assay
