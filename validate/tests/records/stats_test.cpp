// SPDX-License-Identifier: Apache-2.0
// Checks the statistics by values worked out by hand or by counting, and the rule of `compare` by synthetic times with a known
// difference.
#include "validate/records/stats.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "catch_shim.hpp"
#include "validate/records/regression.hpp"

using namespace assay;

namespace {

// Two-sided p of the rank sum by counting every way to choose a's ranks.
double counted_p(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> all = a;
  all.insert(all.end(), b.begin(), b.end());
  const auto u_of = [&](unsigned chosen) {
    double u = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t j = 0; j < all.size(); ++j)
        if ((chosen >> i & 1) && !(chosen >> j & 1)) u += all[i] > all[j] ? 1 : all[i] == all[j] ? 0.5 : 0;
    return u;
  };
  const double middle = 0.5 * static_cast<double>(a.size() * b.size()), seen = std::fabs(u_of((1u << a.size()) - 1) - middle);
  int ways = 0, as_far = 0;
  for (unsigned chosen = 0; chosen < 1u << all.size(); ++chosen)
    if (static_cast<std::size_t>(__builtin_popcount(chosen)) == a.size()) {
      ++ways;
      as_far += std::fabs(u_of(chosen) - middle) >= seen - 1e-9;
    }
  return static_cast<double>(as_far) / ways;
}

// Times like an H200's: 0.5 % from launch to launch with an upper tail, 0.3 % from process to process, steps of 32 ns.
struct SlowedClock {
  std::mt19937_64 bits;
  double of_launch = 0.005, of_process = 0.003;
  TimedRow row(double us, std::size_t processes = 6, std::size_t launches = 30) {
    std::normal_distribution<double> normal;
    std::exponential_distribution<double> tail(20);
    TimedRow r;
    r.op = "op";
    r.kernel = "kernel";
    r.dtype = "f16";
    r.shape = "rows=" + std::to_string(bits() % 1000000000);
    for (std::size_t p = 0; p < processes; ++p) {
      const double here = us * (1 + of_process * normal(bits));
      r.samples.emplace_back();
      for (std::size_t i = 0; i < launches; ++i) {
        const double t = here * (1 + of_launch * normal(bits)) + (bits() % 20 == 0 ? us * 0.2 * tail(bits) : 0);
        r.samples.back().push_back(0.032 * std::round(t / 0.032));
      }
    }
    r.time_us = summary_of(r.samples);
    return r;
  }
};

struct Tried {
  int alarms = 0, slower = 0, faster = 0, inconclusive = 0, rows = 0;
};
// Compares rows with the same rows times `factor`, 100 in a comparison, as in a suite of kernels.
Tried tried(double factor, int comparisons, std::uint64_t seed, double us = 100, double of_process = 0.003) {
  SlowedClock clock{std::mt19937_64(seed), 0.005, of_process};
  Tried t;
  for (int i = 0; i < comparisons; ++i) {
    std::vector<TimedRow> base, now;
    std::vector<RowPair> pairs;
    for (int r = 0; r < 100; ++r) {
      base.push_back(clock.row(us));
      now.push_back(clock.row(us * factor));
    }
    for (std::size_t r = 0; r < base.size(); ++r) pairs.push_back({&base[r], &now[r]});
    for (const TimeChange& c : time_changes(pairs, {})) {
      ++t.rows;
      t.slower += c.change == Change::slower;
      t.faster += c.change == Change::faster;
      t.inconclusive += c.change == Change::inconclusive;
    }
  }
  t.alarms = t.slower + t.faster;
  return t;
}

}  // namespace

TEST_CASE("stats: quantiles and summaries") {
  CHECK(quantile({4, 1, 3, 2}, 0.5) == 2.5);
  CHECK(quantile({4, 1, 3, 2}, 0) == 1);
  CHECK(quantile({4, 1, 3, 2}, 1) == 4);
  CHECK(quantile({7}, 0.99) == 7);
  CHECK(quantile({0, 10, 20, 30, 40}, 0.05) == Approx(2));
  const Summary s = summary_of({{1, 2}, {}, {3, 6}});
  CHECK(s.n == 4);
  CHECK(s.mean == 3);
  CHECK(s.std == Approx(std::sqrt(14.0 / 3)));
  CHECK(s.p50 == 2.5);
  CHECK_FALSE(s.p99);
  std::vector<double> many(1000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i);
  CHECK(summary_of({many}).p99.value() == Approx(989.01));
}

TEST_CASE("stats: Student's distribution") {
  CHECK(student_two_sided(0, 5) == Approx(1));
  CHECK(student_two_sided(1, 1) == Approx(0.5));                            // Cauchy: 1 - 2/pi atan t
  CHECK(student_two_sided(2, 2) == Approx(1 - 2 / std::sqrt(6.0)));         // 1 - t / sqrt(2 + t^2)
  CHECK(student_two_sided(2.228138852, 10) == Approx(0.05).epsilon(1e-8));  // of every table
  CHECK(student_two_sided(3, 1e7) == Approx(std::erfc(3 / std::sqrt(2.0))).epsilon(1e-5));
}

TEST_CASE("stats: Mann and Whitney's p is near the exact one, with ties and without") {
  const std::vector<std::pair<std::vector<double>, std::vector<double>>> sides{
      {{1, 2, 3, 4, 5, 6, 7, 8}, {5.5, 6.5, 7.5, 8.5, 9, 10, 11, 12}},
      {{1, 1, 2, 2, 3, 3, 4, 4}, {2, 3, 3, 4, 4, 5, 5, 5}},
      {{3, 1, 4, 1, 5, 9, 2, 6}, {2, 7, 1, 8, 2, 8, 1, 8}}};
  for (const auto& [a, b] : sides) {
    CHECK(std::fabs(mann_whitney(a, b) - counted_p(a, b)) < 0.02);
    CHECK(mann_whitney(a, b) == Approx(mann_whitney(b, a)));
  }
  // U = 12 of 64, variance 64/12 (17 - (9^3 - 9 + 7^3 - 7) / (16 15)) = 67.2.
  CHECK(mann_whitney(std::vector<double>{1, 1, 1, 1, 1, 1, 1, 2}, std::vector<double>{1, 1, 2, 2, 2, 2, 2, 2}) ==
        Approx(std::erfc(19.5 / std::sqrt(2 * 67.2))));
  CHECK(mann_whitney(std::vector<double>{1, 1}, std::vector<double>{1, 1}) == 1);
  CHECK(mann_whitney(std::vector<double>{}, std::vector<double>{1}) == 1);
}

TEST_CASE("stats: equal samples of one process do not count as independent") {
  // Two processes on each side with 100 launches each.  Only the processes differ, and two are too few to prove anything.
  Clusters a, b;
  for (double at : {10.0, 10.5}) a.emplace_back(100, at);
  for (double at : {10.4, 10.9}) b.emplace_back(100, at);
  CHECK(mann_whitney(a[0], b[0]) < 1e-6);
  CHECK(mann_whitney(a, b) > 0.05);
}

TEST_CASE("stats: without a difference small p are no more frequent than they say, though processes differ") {
  SlowedClock clock{std::mt19937_64(11), 0.005, 0.005};
  std::vector<double> p;
  for (int i = 0; i < 1000; ++i) p.push_back(mann_whitney(clock.row(50).samples, clock.row(50).samples));
  for (double level : {0.01, 0.05, 0.2}) {
    const auto below = std::count_if(p.begin(), p.end(), [&](double v) { return v < level; });
    CHECK(static_cast<double>(below) < 1000 * level + 4 * std::sqrt(1000 * level));
  }
}

TEST_CASE("stats: Benjamini and Hochberg") {
  const std::vector<double> q = false_discovery_rates({0.01, 0.04, 0.03, 0.005});
  CHECK(q[0] == Approx(0.02));
  CHECK(q[1] == Approx(0.04));
  CHECK(q[2] == Approx(0.04));
  CHECK(q[3] == Approx(0.02));
  CHECK(false_discovery_rates({}).empty());
  CHECK(false_discovery_rates({1, 1})[0] == 1);
}

TEST_CASE("stats: the interval of a ratio holds it about as often as it says, and repeats with its seed") {
  SlowedClock clock{std::mt19937_64(3)};
  int held = 0;
  for (int i = 0; i < 200; ++i) {
    const TimedRow a = clock.row(80), b = clock.row(84);
    const Interval ci = ratio_interval(a.samples, b.samples, 0.95, static_cast<std::uint64_t>(i), 400);
    held += ci.low <= 1.05 && 1.05 <= ci.high;
    if (i == 0) CHECK(ratio_interval(a.samples, b.samples, 0.95, 0, 400).low == ci.low);
  }
  CHECK(held >= 170);  // six clusters a side: a percentile interval is a little narrow, 0.85 at least
}

TEST_CASE("compare: a program against itself has at most 1 % false alarms") {
  const Tried t = tried(1, 10, 1);
  CHECK(t.rows == 1000);
  CHECK(t.alarms <= t.rows / 100);
  CHECK(t.inconclusive <= t.rows / 20);
  CHECK(tried(1, 2, 2, 4).alarms <= 2);          // short launches: the clock's steps
  CHECK(tried(1, 2, 3, 100, 0.02).alarms <= 2);  // processes that differ by 2 %
}

TEST_CASE("compare: shifts of 3, 5 and 10 % are found, in both directions") {
  CHECK(tried(1.03, 1, 4).slower >= 60);  // near the floor of 2 %: most
  CHECK(tried(1.05, 1, 5).slower >= 99);
  CHECK(tried(1.10, 1, 6).slower == 100);
  CHECK(tried(1 / 1.05, 1, 7).faster >= 99);
  CHECK(tried(1 / 1.10, 1, 8).faster == 100);
  CHECK(tried(1.05, 1, 9).faster == 0);
  CHECK(tried(1.015, 1, 10).alarms <= 1);    // below the floor
  CHECK(tried(1.05, 1, 12, 6).slower == 0);  // 0.3 us: below the clock's step
}
