// SPDX-License-Identifier: Apache-2.0
// The search for a smallest failing case, with a rule that says which cases fail.
#include "validate/judge/shrink.hpp"

#include <cmath>
#include <set>

#include "catch_shim.hpp"
#include "validate/judge/pattern.hpp"
#include "validate/tests/test_ops.hpp"

using namespace assay;

namespace {

using Fails = std::function<bool(const Case&)>;

const OpShape& attention() { return test::ops()[2]; }

Case usual() {
  Case c;
  c.op = "some_attention";
  c.dtype = f16;
  c.fill = "uniform01";
  c.layout = "padded";
  c.seed = 7;
  c.attributes = {{"mask", 1}, {"scale", 0.5}};
  for (const auto& [axis, extent] : {std::pair(Axis::batch, 2),
                                     {Axis::seq_q, 1000},
                                     {Axis::seq_k, 777},
                                     {Axis::heads, 8},
                                     {Axis::kv_heads, 4},
                                     {Axis::head_dim, 96}})
    c.dims[axis] = extent;
  return c;
}

Record judged(const Case& c, bool fails) {
  Record r;
  r.kernel = "kernel";
  r.c = c;
  r.repro = repro(c, attention(), "kernel");
  if (fails) {
    r.verdict = Verdict::failed;
    r.reason = "err/bound = 41.7";
    r.wrong = 3;
  }
  return r;
}

struct Found {
  Shrunk shrunk;
  std::set<std::string> tried;
  std::string smallest() const { return shrunk.smallest ? summary(shrunk.smallest->c, attention()) : "none"; }
};

Found search(const Fails& fails, const std::function<void(Record&)>& change = {}) {
  Found found;
  Kernel kernel;
  kernel.tiles[0] = tile(Axis::seq_q, 128);
  const TryCases trials = [&](std::span<const Case> cases, const auto& wanted, const auto& judged_one) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (!wanted(i)) continue;
      found.tried.insert(repro(cases[i], attention()));
      Record r = judged(cases[i], fails(cases[i]));
      if (change) change(r);
      judged_one(i, r);
    }
  };
  found.shrunk = shrink(judged(usual(), true), attention(), kernel, trials);
  return found;
}

}  // namespace

TEST_CASE("shrink: a fault of every case shrinks to extents of 1") {
  const Found f = search([](const Case&) { return true; });
  CHECK(f.smallest() == "batch=1 seq_q=1 seq_k=1 heads=1 kv_heads=1 head_dim=1");
  CHECK(f.shrunk.label == "deterministic");
  CHECK(f.shrunk.same_seed.failed == 2);
  CHECK(f.shrunk.other_seeds.failed == 2);
}

TEST_CASE("shrink: only what the fault needs stays") {
  CHECK(search([](const Case& c) { return c.dims[Axis::seq_q] > 128; }).smallest() ==
        "batch=1 seq_q=129 seq_k=1 heads=1 kv_heads=1 head_dim=1");
  CHECK(search([](const Case& c) { return c.dims[Axis::seq_q] > 128 && c.attributes.contains("mask"); }).smallest() ==
        "batch=1 seq_q=129 seq_k=1 heads=1 kv_heads=1 head_dim=1 mask=causal");
  CHECK(search([](const Case& c) { return c.layout == "padded" && c.dims[Axis::heads] > c.dims[Axis::kv_heads]; }).smallest() ==
        "batch=1 seq_q=1 seq_k=1 heads=2 kv_heads=1 head_dim=1 layout=padded");
  CHECK(search([](const Case& c) {
          return c.fill == "uniform01" && c.dims[Axis::seq_k] * c.dims[Axis::head_dim] >= 300;
        }).tried.size() < 600);
  CHECK(search([](const Case& c) { return c.dims[Axis::seq_k] % 64 == 9 && c.dims[Axis::seq_k] > 64; }).smallest() ==
        "batch=1 seq_q=1 seq_k=777 heads=1 kv_heads=1 head_dim=1");  // 73 is on no list: no search is complete
}

TEST_CASE("shrink: a fault of one case alone does not shrink") {
  const std::string only = repro(usual(), attention());
  const Found f = search([&](const Case& c) { return repro(c, attention()) == only; });
  CHECK_FALSE(f.shrunk.smallest);
  CHECK(f.shrunk.label == "seed-specific");
  CHECK(f.shrunk.tried > 20);
}

TEST_CASE("shrink: every case that is tried has a repro line") {
  for (const std::string& line : search([](const Case& c) { return c.dims[Axis::heads] >= 3; }).tried)
    CHECK(repro(parse_repro(line, test::ops()).what, attention()) == line);
}

TEST_CASE("shrink: failures of another kind do not count") {
  const Found f = search([](const Case&) { return true; },
                         [](Record& r) {
                           if (r.c.dims[Axis::seq_q] < 500) {
                             r.wrong = 0;
                             r.reason = "wrote outside 'o': 2 bytes past its end";
                           }
                         });
  CHECK(f.smallest() == "batch=1 seq_q=500 seq_k=1 heads=1 kv_heads=1 head_dim=1");
  const auto kind = [](Verdict v, std::string reason) {
    Record r;
    r.verdict = v;
    r.reason = std::move(reason);
    return failure_kind(r);
  };
  CHECK(kind(Verdict::failed, "wrote outside 'y': 2 bytes") == kind(Verdict::failed, "wrote outside 'y': 64 bytes"));
  CHECK(kind(Verdict::failed, "err/bound = 3") ==
        kind(Verdict::failed, "rows that were not sampled: err/bound = 7 in a check of all"));
  CHECK(kind(Verdict::crashed, "killed by signal 6") != kind(Verdict::crashed, "killed by signal 11"));
  CHECK(kind(Verdict::timeout, "no answer within 60 s") == kind(Verdict::timeout, "no answer within 2 s"));
  CHECK(kind(Verdict::suspect, "proves nothing").empty());
}

TEST_CASE("shrink: a NaN stays a NaN, and a wrong number a number", "[shrink]") {
  for (const bool nan : {true, false}) {
    Record found = judged(usual(), true);
    const auto worst = [](bool is_nan) { return Record::Worst{"o", {0, 0, 0, 0}, is_nan ? std::nan("") : 2.0, 1.0, 1e-3}; };
    found.worst = worst(nan);
    const TryCases trials = [&](std::span<const Case> cases, const auto& wanted, const auto& judged_one) {
      for (std::size_t i = 0; i < cases.size(); ++i) {
        if (!wanted(i)) continue;
        Record r = judged(cases[i], true);
        r.worst = worst(nan == (cases[i].dims[Axis::seq_q] >= 500));
        judged_one(i, r);
      }
    };
    const Shrunk s = shrink(found, attention(), Kernel{}, trials);
    REQUIRE(s.smallest);
    CHECK(s.smallest->c.dims[Axis::seq_q] == 500);
    CHECK(s.label == "deterministic");
  }
}

TEST_CASE("shrink: a kernel that fails only sometimes, or whose runs differ, is racy") {
  int n = 0;
  CHECK(search([&](const Case&) { return ++n != 2; }).shrunk.label == "racy");
  n = 0;
  CHECK(search([](const Case&) { return true; }, [&](Record& r) { r.digest = static_cast<std::uint64_t>(n++); }).shrunk.label ==
        "deterministic");  // the failing record has no digest to compare with
  Kernel kernel;
  Record failed = judged(usual(), true);
  failed.deterministic = false;
  const TryCases none = [](auto, const auto&, const auto&) {};
  CHECK(shrink(failed, attention(), kernel, none).label.empty());
  const TryCases always = [](std::span<const Case> cases, const auto& wanted, const auto& judged_one) {
    for (std::size_t i = 0; i < cases.size(); ++i)
      if (wanted(i)) judged_one(i, judged(cases[i], true));
  };
  CHECK(shrink(failed, attention(), kernel, always).label == "racy");
  failed.reads_like = std::string(kNeverWritten);
  CHECK(shrink(failed, attention(), kernel, always).label == "deterministic");
}

TEST_CASE("shrink: the difference from the smaller case is told") {
  Case to = usual();
  to.dims[Axis::seq_q] = 129;
  to.attributes.erase("mask");
  to.fill = "normal";
  CHECK(difference(usual(), to, attention()) == "seq_q=1000 mask=causal fill=uniform01");
}
