// SPDX-License-Identifier: Apache-2.0
// Statistics of times that come from several processes.  Launches of one process share its memory's places and its clocks, so
// they are no independent samples: everything below that says how sure it is takes processes as clusters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace assay {

using Clusters = std::vector<std::vector<double>>;  // samples, by process

// The q-th quantile, between neighbours linearly (Hyndman & Fan 1996, type 7).  Needs at least one sample.
double quantile(std::vector<double> samples, double q);
double median_of(const Clusters& c);
std::size_t count_of(const Clusters& c);

struct Summary {
  std::size_t n = 0;
  double mean = 0, std = 0, min = 0, max = 0, p5 = 0, p50 = 0, p95 = 0;
  std::optional<double> p99;  // of 1000 samples or more: of fewer it would be one of the ten worst, by chance
};
Summary summary_of(const Clusters& c);

// P(|T| >= t) of Student's distribution.
double student_two_sided(double t, double degrees);

// Two-sided p of Mann and Whitney's U, by the normal approximation with the variance corrected for ties and a continuity
// correction (Mann & Whitney 1947; Lehmann 1975, 1.20).  1 where a side is empty or nothing differs.
double mann_whitney(std::span<const double> a, std::span<const double> b);

// The same for clusters: U's variance is multiplied by the design effect 1 + (m - 1) rho of the ranks (Kish 1965; Donner &
// Klar 2000), rho their correlation within a process, and z is held against Student's distribution with as many degrees as
// processes less two, since rho is estimated from no more than those.
double mann_whitney(const Clusters& a, const Clusters& b);

// Benjamini and Hochberg's q of each p (1995), in the order given.
std::vector<double> false_discovery_rates(const std::vector<double>& p);

struct Interval {
  double low = 0, high = 0;
};
// Of median(b) / median(a): processes drawn with replacement, then launches within each; percentiles at that confidence
// (Davison & Hinkley 1997, 3.8).  The same seed gives the same interval.
Interval ratio_interval(const Clusters& a, const Clusters& b, double confidence, std::uint64_t seed, int draws = 1000);

// The largest |ratio - 1| between the medians of two halves of the processes, over all ways to halve them (at most 70): what
// one and the same program differs from itself by.  0 where there are fewer than two.
double split_spread(const Clusters& c);

}  // namespace assay
