// SPDX-License-Identifier: Apache-2.0
// The pairs of queries and keys that an attention's cost counts are those that its masks leave, whatever the extents.
#include "ops/attention_backward.hpp"
#include "ops/attention_forward.hpp"
#include "ops/attention_scores.hpp"
#include "ops/core/dense.hpp"
#include "ops/paged_attention.hpp"

#include "catch_shim.hpp"

using namespace assay;

namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 40;

// Queries [batch, seq, 1, 1] or keys.
Tensor rows(std::int64_t batch, std::int64_t seq) { return dense(nullptr, f16, {batch, seq, 1, 1}); }

attention_forward::Args forward(std::int64_t batch, std::int64_t queries, std::int64_t keys) {
  return {.q = rows(batch, queries), .k = rows(batch, keys), .v = rows(batch, keys), .o = rows(batch, queries)};
}

}  // namespace

TEST_CASE("a clamped sum is the sum of its terms", "[cost]") {
  for (std::int64_t count = 0; count < 6; ++count)
    for (std::int64_t begin = -8; begin < 9; ++begin)
      for (std::int64_t most = 0; most < 6; ++most) {
        std::int64_t sum = 0;
        for (std::int64_t i = 0; i < count; ++i) sum += std::clamp<std::int64_t>(begin + i, 0, most);
        CAPTURE(count, begin, most);
        CHECK(clamped_sum(count, begin, most) == static_cast<double>(sum));
      }
}

TEST_CASE("the cost of attention counts the visible pairs under every mask and window", "[cost]") {
  for (const auto mask :
       {attention_forward::Mask::none, attention_forward::Mask::causal, attention_forward::Mask::causal_top_left})
    for (const auto& [queries, keys] : {std::pair{5, 3}, {3, 5}, {4, 4}, {0, 3}, {3, 0}})
      for (const double window : {0.0, 1.0, 2.0, 9.0}) {
        attention_forward::Args a = forward(1, queries, keys);
        a.mask = mask;
        a.window = window;
        const Sequence s = a.sequence(0);
        std::int64_t pairs = 0;
        for (std::int64_t i = 0; i < queries; ++i) pairs += a.visible(s, i) - a.first_visible(s, i);
        CAPTURE(static_cast<int>(mask), queries, keys, window);
        CHECK(attention_forward::cost(a).flops == 4.0 * static_cast<double>(pairs));

        attention_scores::Args scores{.q = a.q, .k = a.k, .p = dense(nullptr, f16, {1, 1, queries, keys})};
        scores.mask = static_cast<attention_scores::Mask>(mask);
        attention_backward::Args back{
            .q = a.q, .k = a.k, .v = a.k, .o = a.q, .lse = {}, .d_o = a.q, .dq = a.q, .dk = a.k, .dv = a.k};
        back.mask = static_cast<attention_backward::Mask>(mask);
        std::int64_t of_scores = 0, of_back = 0;
        for (std::int64_t i = 0; i < queries; ++i) {
          of_scores += scores.visible(i);
          of_back += back.visible(i);
        }
        CHECK(attention_scores::cost(scores).flops == 2.0 * static_cast<double>(of_scores));
        CHECK(attention_backward::cost(back).flops == 10.0 * static_cast<double>(of_back));
      }
}

// Note: a loop over such an axis would take minutes.
TEST_CASE("an empty attention with an axis of 2^40 costs nothing", "[cost]") {
  CHECK(attention_forward::cost(forward(0, kHuge, 1)).flops == 0);
  CHECK(attention_forward::cost(forward(kHuge, 0, 0)).flops == 0);
  CHECK(
      attention_scores::cost({.q = rows(0, kHuge), .k = rows(0, kHuge), .p = dense(nullptr, f16, {0, 1, kHuge, kHuge})}).flops ==
      0);
  attention_backward::Args back{};
  back.q = back.o = back.d_o = back.dq = rows(0, kHuge);
  back.k = back.v = back.dk = back.dv = rows(0, 1);
  CHECK(attention_backward::cost(back).flops == 0);
  paged_attention::Args paged{};
  paged.q = paged.o = rows(0, kHuge);
  paged.k_pool = paged.v_pool = rows(1, 16);
  paged.page_table = dense(nullptr, i32, {0, 1});
  paged.lengths = dense(nullptr, i32, {0});
  CHECK(paged_attention::cost(paged).flops == 0);
}
