// SPDX-License-Identifier: Apache-2.0
#include "validate/records/stats.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "validate/values/random.hpp"

namespace assay {

namespace {

// quantile() without a copy; reorders the samples.
double quantile_in_place(std::vector<double>& v, double q) {
  const double at = q * static_cast<double>(v.size() - 1);
  const auto low = static_cast<std::ptrdiff_t>(at);
  std::nth_element(v.begin(), v.begin() + low, v.end());
  const double below = v[static_cast<std::size_t>(low)], part = at - static_cast<double>(low);
  if (part == 0) return below;
  return below + part * (*std::min_element(v.begin() + low + 1, v.end()) - below);
}

std::vector<double> pooled(const Clusters& c) {
  std::vector<double> all;
  for (const auto& samples : c) all.insert(all.end(), samples.begin(), samples.end());
  return all;
}

// Midranks, from 1, and the sum of t^3 - t over groups of t equal values.
std::pair<std::vector<double>, double> ranks_of(const std::vector<double>& v) {
  std::vector<std::size_t> order(v.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return v[i] < v[j]; });
  std::vector<double> ranks(v.size());
  double ties = 0;
  for (std::size_t i = 0, j; i < order.size(); i = j) {
    for (j = i; j < order.size() && v[order[j]] == v[order[i]];) ++j;
    const double t = static_cast<double>(j - i);
    for (std::size_t k = i; k < j; ++k) ranks[order[k]] = 0.5 * static_cast<double>(i + j + 1);
    ties += t * t * t - t;
  }
  return {std::move(ranks), ties};
}

struct RankSum {
  double distance = 0;  // of U from its mean, less the continuity correction
  double variance = 0;
  std::vector<double> ranks;  // of a, then of b
};
RankSum rank_sum(std::span<const double> a, std::span<const double> b) {
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  auto [ranks, ties] = ranks_of(all);
  const double m = static_cast<double>(a.size()), n = static_cast<double>(b.size()), N = m + n;
  const double sum = std::accumulate(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(a.size()), 0.0);
  const double u = sum - m * (m + 1) / 2;
  return {std::max(0.0, std::fabs(u - m * n / 2) - 0.5), m * n / 12 * (N + 1 - ties / (N * (N - 1))), std::move(ranks)};
}

// 1 + (m - 1) rho, with rho from a one-way analysis of variance of the ranks less their side's mean; cluster sizes may differ.
double design_effect(const Clusters& a, const Clusters& b, const std::vector<double>& ranks) {
  double within = 0, between = 0, squares = 0, total = 0;
  std::size_t at = 0, groups = 0;
  for (const Clusters* side : {&a, &b}) {
    const double mean = std::accumulate(ranks.begin() + static_cast<std::ptrdiff_t>(at),
                                        ranks.begin() + static_cast<std::ptrdiff_t>(at + count_of(*side)), 0.0) /
                        static_cast<double>(count_of(*side));
    for (const auto& samples : *side) {
      if (samples.empty()) continue;
      const double size = static_cast<double>(samples.size());
      const auto first = ranks.begin() + static_cast<std::ptrdiff_t>(at), last = first + static_cast<std::ptrdiff_t>(size);
      const double own = std::accumulate(first, last, 0.0) / size;
      for (auto r = first; r != last; ++r) within += (*r - own) * (*r - own);
      between += size * (own - mean) * (own - mean);
      squares += size * size;
      total += size;
      ++groups;
      at += samples.size();
    }
  }
  const double g = static_cast<double>(groups);
  if (g < 3 || total <= g) return 1;
  const double size = (total - squares / total) / (g - 1);
  const double mean_within = within / (total - g), mean_between = between / (g - 2);
  const double of_clusters = std::max(0.0, (mean_between - mean_within) / size);
  const double rho = of_clusters + mean_within > 0 ? of_clusters / (of_clusters + mean_within) : 0;
  return 1 + (squares / total - 1) * rho;
}

// The regularised incomplete beta function by its continued fraction (Abramowitz & Stegun 26.5.8; Lentz's evaluation).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(b, a, 1 - x);
  constexpr double kTiny = 1e-300;
  const auto no_zero = [](double v) { return std::fabs(v) < kTiny ? kTiny : v; };
  double c = 1, d = 1 / no_zero(1 - (a + b) * x / (a + 1)), f = d;
  for (int m = 1; m <= 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / no_zero(1 + even * d);
    c = no_zero(1 + even / c);
    f *= c * d;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / no_zero(1 + odd * d);
    c = no_zero(1 + odd / c);
    const double step = c * d;
    f *= step;
    if (std::fabs(step - 1) < 1e-14) break;
  }
  return std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x)) / a * f;
}

}  // namespace

double quantile(std::vector<double> samples, double q) { return quantile_in_place(samples, q); }
double median_of(const Clusters& c) { return quantile(pooled(c), 0.5); }

std::size_t count_of(const Clusters& c) {
  std::size_t n = 0;
  for (const auto& samples : c) n += samples.size();
  return n;
}

Summary summary_of(const Clusters& c) {
  std::vector<double> all = pooled(c);
  std::sort(all.begin(), all.end());
  Summary s;
  s.n = all.size();
  for (double v : all) s.mean += v / static_cast<double>(all.size());
  for (double v : all) s.std += (v - s.mean) * (v - s.mean);
  s.std = all.size() > 1 ? std::sqrt(s.std / static_cast<double>(all.size() - 1)) : 0;
  s.min = all.front();
  s.max = all.back();
  s.p5 = quantile_in_place(all, 0.05);
  s.p50 = quantile_in_place(all, 0.5);
  s.p95 = quantile_in_place(all, 0.95);
  if (all.size() >= 1000) s.p99 = quantile_in_place(all, 0.99);
  return s;
}

double student_two_sided(double t, double degrees) { return incomplete_beta(0.5 * degrees, 0.5, degrees / (degrees + t * t)); }

double mann_whitney(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return 1;
  const RankSum r = rank_sum(a, b);
  return r.variance > 0 ? std::erfc(r.distance / std::sqrt(2 * r.variance)) : 1;
}

double mann_whitney(const Clusters& a, const Clusters& b) {
  if (count_of(a) == 0 || count_of(b) == 0) return 1;
  const RankSum r = rank_sum(pooled(a), pooled(b));
  if (!(r.variance > 0)) return 1;
  const auto filled = [](const Clusters& c) {
    return std::count_if(c.begin(), c.end(), [](const auto& s) { return !s.empty(); });
  };
  const double degrees = static_cast<double>(filled(a) + filled(b) - 2);
  if (degrees < 1) return 1;
  return student_two_sided(r.distance / std::sqrt(r.variance * design_effect(a, b, r.ranks)), degrees);
}

std::vector<double> false_discovery_rates(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return p[i] > p[j]; });
  std::vector<double> q(p.size());
  double least = 1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    least = std::min(least, p[order[i]] * static_cast<double>(p.size()) / static_cast<double>(p.size() - i));
    q[order[i]] = least;
  }
  return q;
}

Interval ratio_interval(const Clusters& a, const Clusters& b, double confidence, std::uint64_t seed, int draws) {
  std::uint64_t state = seed;
  const auto below = [&](std::size_t n) {
    return static_cast<std::size_t>((random::mix(state += random::kGamma) >> 32) * n >> 32);
  };
  std::vector<double> drawn, ratios;
  const auto drawn_median = [&](const Clusters& c) {
    drawn.clear();
    for (std::size_t i = 0; i < c.size(); ++i) {
      const std::vector<double>& samples = c[below(c.size())];
      for (std::size_t j = 0; j < samples.size(); ++j) drawn.push_back(samples[below(samples.size())]);
    }
    return drawn.empty() ? 0 : quantile_in_place(drawn, 0.5);
  };
  for (int i = 0; i < draws; ++i) {
    const double of_a = drawn_median(a), of_b = drawn_median(b);
    if (of_a > 0) ratios.push_back(of_b / of_a);
  }
  if (ratios.empty()) return {0, HUGE_VAL};
  return {quantile(ratios, 0.5 * (1 - confidence)), quantile(ratios, 0.5 * (1 + confidence))};
}

double split_spread(const Clusters& c) {
  const unsigned n = static_cast<unsigned>(std::min<std::size_t>(c.size(), 8));  // eight have 70 splits
  double most = 0;
  for (unsigned chosen = 0; chosen < 1u << n; ++chosen) {
    if (std::popcount(chosen) != static_cast<int>(n / 2)) continue;
    Clusters halves[2];
    for (unsigned i = 0; i < n; ++i) halves[chosen >> i & 1].push_back(c[i]);
    if (count_of(halves[0]) && count_of(halves[1]))
      most = std::max(most, std::fabs(median_of(halves[1]) / median_of(halves[0]) - 1));
  }
  return most;
}

}  // namespace assay
