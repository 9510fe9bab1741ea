// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/declared.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "catch_shim.hpp"
#include "ops/core/stored.hpp"

using namespace assay;

namespace {

Kernel kernel(const Numerics& numerics) {
  Kernel k;
  k.op = "softmax";
  k.name = "mine";
  k.numerics = numerics;
  return k;
}

Record passed(DType dtype, double margin, std::optional<double> rms_ratio = {}) {
  Record r;
  r.verdict = Verdict::passed;
  r.c.dtype = dtype;
  r.compared = 1;
  r.margin = margin;
  r.rms_ratio = rms_ratio;
  return r;
}

}  // namespace

TEST_CASE("declared: words that no case needs are told, with what fits without them", "[declared]") {
  Numerics n;
  n.accumulate = f16;
  n.stores = "h,z";
  n.flushes_subnormals = true;
  n.function_error = 2;
  const Kernel k = kernel(n);
  Declared all;
  for (int i = 0; i < 40; ++i)
    all.look(k, passed(f16, 0.4), [&](const Numerics& tried) {
      if (i == 3 && tried.accumulate != f16) return 1.2;  // one case needs the sums in f16
      if (!lists(tried.stores, "h")) return 1.5;          // one of the steps is needed
      return lists(tried.stores, "z") ? 0.4 : 0.8;
    });
  REQUIRE(all.looser().size() == 1);
  const DeclaredLine line = all.looser()[0];
  CHECK(line.cases == 40);
  CHECK(line.spare == std::vector<std::string>{"stores=z", "flushes_subnormals"});
  CHECK(line.fits == "accumulate=f16 chain=1 stores=h function_error=2");
  CHECK(line.words_spare());
  CHECK_FALSE(line.error_spare());
  CHECK(nlohmann::json::parse(to_json(line)).at("fits") == line.fits);
}

TEST_CASE("declared: words that are needed together, or that hardly widen the bound, are not told", "[declared]") {
  Numerics n;
  n.stores = "z";
  n.fused_exponent = true;
  const Kernel k = kernel(n);
  Declared either, slight, few;
  for (int i = 0; i < 40; ++i) {
    // One of the two is enough, so one is told.
    either.look(k, passed(f16, 0.3), [&](const Numerics& t) { return t.fused_exponent || !t.stores.empty() ? 0.5 : 2.0; });
    slight.look(k, passed(f16, 0.5), [](const Numerics&) { return 0.6; });
  }
  for (int i = 0; i < 31; ++i) few.look(k, passed(f16, 0.2), [](const Numerics&) { return 0.8; });
  REQUIRE(either.looser().size() == 1);
  CHECK(either.looser()[0].spare.size() == 1);
  CHECK(slight.looser().empty());
  CHECK(few.looser().empty());
}

TEST_CASE("declared: errors in f32 that stay below half of what is predicted are told", "[declared]") {
  const auto told = [](DType dtype, double largest) {
    const Kernel k = kernel({});
    Declared all;
    for (int i = 0; i < 40; ++i) all.look(k, passed(dtype, 0.1, i == 7 ? largest : 0.1), [](const Numerics&) { return 0.1; });
    return !all.looser().empty();
  };
  CHECK(told(f32, 0.49));
  CHECK_FALSE(told(f32, 0.51));
  CHECK_FALSE(told(bf16, 0.2));
}

namespace {

Numerics every_word(const Numerics& n) { return n; }
// Of an op that has one way to compute.
Numerics one_way(Numerics n) {
  n.cancelling_gelu = n.tanh_sigmoid = n.folded_affine = n.running_moments = false;
  n.ways = {};
  return n;
}
// Of an op that reads one word beside those of every sum.
Numerics only_gelu(const Numerics& n) {
  return {.accumulate = n.accumulate, .chain = n.chain, .cancelling_gelu = n.cancelling_gelu};
}

}  // namespace

TEST_CASE("suggested: the first of the list that every case meets, and none if a case meets none", "[declared]") {
  const Kernel k = kernel({});
  Suggested all;
  for (int i = 0; i < 3; ++i)
    all.look(
        k, passed(f16, 0.4),
        [&](const Numerics& n) {
          if (i == 1) return n.mma_terms != 0;  // one case shows tensor cores, one stored steps
          return i == 2 ? n.stores == "exps" : true;
        },
        every_word);
  Record empty = passed(f16, 0.4);
  empty.compared = 0;
  all.look(
      k, empty, [](const Numerics&) { return false; }, every_word);
  REQUIRE(all.lines().size() == 1);
  CHECK(all.lines()[0].numerics == "accumulate=f32 chain=1 mma_terms=8 stores=exps");
  CHECK(all.lines()[0].cases == 3);
  CHECK(text_of(all.lines()[0]).find("fits all 3 cases; no verdict") != std::string::npos);
  all.look(
      k, passed(f16, 0.4), [](const Numerics&) { return false; }, every_word);
  CHECK(all.lines()[0].numerics.empty());
  CHECK(text_of(all.lines()[0]).find("no usual declaration fits") == 0);
  CHECK(nlohmann::json::parse(to_json(all.lines()[0])).at("record") == "suggested");
}

TEST_CASE("suggested: only words that the op reads, and none of the others excuses an exact answer", "[declared]") {
  const Kernel k = kernel({});
  Suggested all;
  all.look(
      k, passed(f32, 0.4), [](const Numerics& n) { return n.cancelling_gelu; }, only_gelu);
  CHECK(all.lines()[0].numerics == "accumulate=f32 chain=1 cancelling_gelu");
  all.look(
      k, passed(f32, 0.4), [](const Numerics& n) { return !n.exact_where_representable(f32); }, only_gelu);
  CHECK(all.lines()[0].numerics.empty());
}

TEST_CASE(
    "suggested: what the tightest allows is asked once, and what no declaration allows once for each that the op tells apart",
    "[declared]") {
  const Kernel k = kernel({});
  Suggested right, wrong;
  int asked = 0;
  const auto meets = [&](bool met) {
    return [&asked, met](const Numerics&) {
      ++asked;
      return met;
    };
  };
  right.look(k, passed(f32, 0.4), meets(true), one_way);
  CHECK(std::exchange(asked, 0) == 1);
  right.look(k, passed(f32, 0.4), meets(true), only_gelu);  // the word stands for another way to compute
  CHECK(std::exchange(asked, 0) == 2);
  wrong.look(k, passed(f32, 0.4), meets(false), only_gelu);
  CHECK(std::exchange(asked, 0) == 4);  // sums in f32, these with the word, sums in f16, sums in bf16
  Suggested none;
  none.look(k, passed(f32, 0.4), meets(true), [](const Numerics&) -> std::optional<Numerics> { return {}; });
  CHECK(none.lines()[0].numerics.empty());
  CHECK(asked == 0);
  const auto differ = [](const Numerics& a, const Numerics& b) { return a.root_error != b.root_error; };
  CHECK(words_that_differ({.accumulate = bf16, .quotient_error = 2, .root_error = 2}, differ) ==
        Numerics{.accumulate = bf16, .root_error = 2});
}
