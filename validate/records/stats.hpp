// SPDX-License-Identifier: Apache-2.0
// Statistics of times from several processes.  Launches of one process share addresses and clocks, so they are not independent
// samples: the tests and intervals for Clusters take each process as one cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace assay {

using Clusters = std::vector<std::vector<double>>;  // samples, by process

// The q-quantile, 0 <= q <= 1, by linear interpolation (Hyndman & Fan 1996, type 7).  Needs at least one sample.
double quantile(std::vector<double> samples, double q);
double median_of(const Clusters& c);
std::size_t count_of(const Clusters& c);

struct Summary {
  std::size_t n = 0;
  double mean = 0, std = 0, min = 0, max = 0, p5 = 0, p50 = 0, p95 = 0;
  std::optional<double> p99;  // only of 1000 samples or more: of fewer, it would rest on fewer than ten of them
};
Summary summary_of(const Clusters& c);

// P(|T| >= t) of Student's distribution.
double student_two_sided(double t, double degrees);

// Two-sided p of the Mann-Whitney U test, by the normal approximation with corrections for ties and continuity (Mann & Whitney
// 1947; Lehmann 1975, 1.20).  1 if a side is empty or all values are equal.
double mann_whitney(std::span<const double> a, std::span<const double> b);

// The same for clusters.  The variance of U is multiplied by the design effect 1 + (m - 1) rho of the ranks (Kish 1965; Donner &
// Klar 2000): m is the mean number of samples of a process, rho the correlation of ranks within a process.  z is compared with
// Student's distribution with as many degrees of freedom as there are processes, less two, since rho is estimated from these.
double mann_whitney(const Clusters& a, const Clusters& b);

// The q-value of each p by Benjamini and Hochberg (1995), in the order given.
std::vector<double> false_discovery_rates(const std::vector<double>& p);

struct Interval {
  double low = 0, high = 0;
};
// Bootstrap interval of median(b) / median(a): draws processes with replacement, then launches within each, and takes percentiles
// (Davison & Hinkley 1997, 3.8).  The same seed gives the same interval.
Interval ratio_interval(const Clusters& a, const Clusters& b, double confidence, std::uint64_t seed, int draws = 1000);

// How much a program differs from itself: the largest |ratio - 1| of the medians of two halves of its processes, over all splits
// of the first eight processes (at most 70).  0 if there are fewer than two.
double split_spread(const Clusters& c);

}  // namespace assay
