// SPDX-License-Identifier: Apache-2.0
// Packed sequences beyond single cases: what is legal, where fills let them start, and the same bits for a sequence alone and
// among others.
#include <cstring>
#include <vector>

#include "catch_shim.hpp"
#include "device_tensor.hpp"
#include "simt/machine.hpp"
#include "validate/problem/image.hpp"
#include "validate/problem/op.hpp"
#include "validate/values/random.hpp"

namespace assay {
namespace {

using test::Device;

constexpr std::int64_t kHeads = 2, kDim = 40;

// Rows [first, first + count) of all batches' as one sequence's.
Tensor rows(const Tensor& t, std::int64_t first, std::int64_t count) {
  Tensor part = t;
  part.data = static_cast<std::byte*>(t.data) + first * t.stride[1] * size_of(t.dtype);
  part.shape[0] = 1;
  part.shape[1] = count;
  return part;
}

std::unique_ptr<Problem> problem(const std::vector<Tensor>& tensors, bool packed, double mask) {
  std::unique_ptr<Problem> p = find_op("attention_forward")->make();
  for (std::size_t i = 0; i < tensors.size(); ++i) *p->tensors()[i] = tensors[i];
  p->set_attribute("packed", packed);
  p->set_attribute("mask", mask);
  return p;
}

// What is given as the starts of queries, to three sequences that have four tokens each in the mean.
Legality legal(const std::vector<std::int32_t>& starts) {
  Device q(f16, {3, 4, 1, 8}), lse(f32, {3, 1, 4}), of_queries(i32, {4}), of_keys(i32, {4});
  of_queries.set(starts);
  of_keys.set({0, 0, 12, 12});
  return problem({q.t, q.t, q.t, of_queries.t, of_keys.t, q.t, lse.t}, true, 0)->legal();
}

}  // namespace

TEST_CASE("packed: starts rise from nothing to all tokens") {
  CHECK(legal({0, 4, 8, 12}));
  CHECK(legal({0, 0, 12, 12}));
  CHECK_FALSE(legal({0, 5, 4, 12}));
  CHECK_FALSE(legal({1, 4, 8, 12}));
  CHECK_FALSE(legal({0, 4, 8, 11}));
  CHECK_FALSE(legal({0, 4, 13, 12}));
}

TEST_CASE("packed: a refused total says why") {
  CHECK(legal({0, 4, 8, 11}).why ==
        "cu_seqlens_q[3] is 11, and the last start must be the number of tokens, batch x seq_q = 12; no "
        "seq_q gives a number that batch does not divide");
  CHECK(legal({0, 4, 8, 9}).why == "cu_seqlens_q[3] is 9, and the last start must be the number of tokens, batch x seq_q = 12");
  CHECK(legal({0, 5, 4, 12}).why == "cu_seqlens_q[2] is 4, and the starts must rise from 0 to 12");
}

TEST_CASE("packed: every fill's starts are legal, and those of some_empty leave both ends empty") {
  const Op& op = *find_op("attention_forward");
  for (const std::string_view fill : {"normal", "lengths_equal", "lengths_tile", "some_empty", "one_has_all", "one_side_empty"})
    for (const std::int64_t batch : {0, 1, 2, 3, 7})
      for (const std::int64_t seq : {0, 1, 5, 97}) {
        Case c{.op = "attention_forward", .dtype = f16, .fill = std::string(fill), .seed = 5, .source = {}, .reduced = {}};
        c.attributes["packed"] = 1;
        for (const AxisUse& use : op.axes) c.dims[use.axis] = 1;
        c.dims[Axis::batch] = batch;
        c.dims[Axis::seq_q] = c.dims[Axis::seq_k] = seq;
        INFO(repro(c, op.shape()));
        const std::vector<Placement> placements = place(op, c);
        for (const std::size_t t : {3, 4}) {
          Tensor starts = placements[t].tensor;
          std::vector<std::int32_t> values(static_cast<std::size_t>(batch + 1), -1);
          starts.data = values.data();
          REQUIRE(starts.size() == batch + 1);
          fill_image(op, c, static_cast<int>(t), placements[t], reinterpret_cast<std::byte*>(values.data()), {});
          CHECK(values.front() == 0);
          CHECK(values.back() == batch * seq);
          CHECK(std::is_sorted(values.begin(), values.end()));
          if (fill == "some_empty" && batch > 2 && values.size() > 2) {
            CHECK(values[1] == 0);
            CHECK(values[values.size() - 2] == batch * seq);
          }
        }
      }
}

TEST_CASE("packed: a sequence has the bits that it has alone", "[simt]") {
  const std::vector<std::int32_t> of_queries{0, 0, 33, 130, 131, 195}, of_keys{0, 7, 140, 140, 204, 205};
  Device q(f16, {5, 39, kHeads, kDim}), k(f16, {5, 41, 1, kDim}), v(f16, {5, 41, 1, kDim}), o(f16, {5, 39, kHeads, kDim});
  Device lse(f32, {5, kHeads, 39}), q_starts(i32, {6}), k_starts(i32, {6});
  q.fill(1);
  k.fill(2);
  v.fill(3);
  q_starts.set(of_queries);
  k_starts.set(of_keys);
  for (const Kernel& kernel : kernels()) {
    if (kernel.op != "attention_forward" || kernel.broken || !kernel.on_simt) continue;
    const auto run = [&](Problem& p) {
      const Device workspace(i32, {static_cast<std::int64_t>(kernel.workspace_bytes(p.args()) / 4 + 1)});
      kernel.on_simt(p.args(), {.stream = nullptr, .workspace = workspace.t.data});
    };
    for (const double mask : {0, 1, 2}) {
      INFO(kernel.name << " mask " << mask);
      const auto packed = problem({q.t, k.t, v.t, q_starts.t, k_starts.t, o.t, lse.t}, true, mask);
      if (!kernel.dtypes.has(f16) || !kernel.supports(packed->args())) continue;
      run(*packed);
      for (std::size_t b = 0; b < 5; ++b) {
        const std::int64_t queries = of_queries[b + 1] - of_queries[b], keys = of_keys[b + 1] - of_keys[b];
        Device o_alone(f16, {1, queries, kHeads, kDim}), lse_alone(f32, {1, kHeads, queries});
        const auto alone = problem({rows(q.t, of_queries[b], queries), rows(k.t, of_keys[b], keys), rows(v.t, of_keys[b], keys),
                                    Tensor{}, Tensor{}, o_alone.t, lse_alone.t},
                                   false, mask);
        run(*alone);
        for (std::int64_t i = 0; i < o_alone.t.size(); ++i) REQUIRE(o_alone.t.at(i) == rows(o.t, of_queries[b], queries).at(i));
        for (std::int64_t i = 0; i < lse_alone.t.size(); ++i) {
          const std::int64_t head = i / queries, row = of_queries[b] + i % queries;
          REQUIRE(lse_alone.t.at(i) == lse.t.at((row / 39 * kHeads + head) * 39 + row % 39));
        }
      }
    }
  }
}

}  // namespace assay
