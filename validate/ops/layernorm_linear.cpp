// SPDX-License-Identifier: Apache-2.0
// Judge hooks of layernorm_linear: exact probes, fills.
#include "ops/layernorm_linear.hpp"

#include <cmath>

#include "validate/ops/gemm_fills.hpp"
#include "validate/ops/norm_fills.hpp"
#include "validate/problem/op.hpp"

namespace assay {

namespace {

using draws::normal;
using gemm_fills::hidden_of;

// Rows m +- s, both signs equally often, s a power of two: with epsilon = 0, xhat = +-1 exactly for any order of the sums.  At
// most eight weights per feature are nonzero, their places shifting from feature to feature: y is an integer below 192.
double probe_signs(const FillSite& s, std::int64_t i) {
  if (s.tensor == "gamma") return static_cast<double>(i % 11 - 5);
  if (s.tensor == "beta") return static_cast<double>(i % 5 - 2);
  if (s.tensor == "bias") return static_cast<double>(i % 15 - 7);
  const std::int64_t hidden = hidden_of(s), row = i / hidden, h = i % hidden;
  if (s.role == Role::input) {
    const std::int64_t half = hidden / 2;
    const double sign = draws::shared_sign(s, row * half + h % half);
    return static_cast<double>(row % 5 - 2) + (h < half ? sign : -sign) * static_cast<double>(1 << row % 3);
  }
  const std::int64_t step = (hidden + 7) / 8, place = (h + hidden - row * 5 % hidden) % hidden;
  return place % step == 0 ? static_cast<double>((place / step + row) % 7 - 3) : 0;
}
bool even_hidden(const Dims& d, DType) { return d[Axis::hidden] % 2 == 0; }

// The second half of the channels cancels the first half's terms up to a part; beta is not involved.
double cancelling(const FillSite& s, std::int64_t i) {
  const std::int64_t half = hidden_of(s) / 2;
  if (s.tensor == "gamma") return normal(s, i < 2 * half ? i % half : i);
  if (s.tensor == "beta") return i < 2 * half ? 0 : normal(s, i);
  return gemm_fills::cancelling_but(s.dtype == bf16 ? 0x1p-2 : 0x1p-7, s, i);
}
// Weights with a nonzero sum for every feature, so that a mean left in the product shows.
double one_sided(const FillSite& s, std::int64_t i) {
  const double v = normal(s, i);
  if (s.role == Role::input) return v + 1000;
  return s.tensor == "weight" || s.tensor == "gamma" ? std::fabs(v) : v;
}

}  // namespace

static Hooks hooks() {
  return {.fills = {{.name = "probe_signs",
                     .shows = "a wrong index, gamma, beta or channel; exact with epsilon = 0",
                     .value = probe_signs,
                     .exact = even_hidden,
                     .exact_with = norm_fills::no_epsilon,
                     .applies = even_hidden},
                    norm_fills::kLarge,
                    {.name = "one_sided",
                     .shows = "a mean subtracted after the product, where it cancels",
                     .coherent = true,
                     .value = one_sided},
                    {.name = "cancelling",
                     .shows = "sums or products rounded to 16 bits before the end",
                     .value = cancelling,
                     .applies = gemm_fills::several_channels}}};
}

static const LinkedHooks<layernorm_linear> linked(hooks);

}  // namespace assay
