// SPDX-License-Identifier: Apache-2.0
#include "validate/records/policy_figures.hpp"

#include <cmath>
#include <limits>

#include "validate/problem/bounds.hpp"

namespace assay {

namespace {

struct Tolerance {
  double relative, absolute;
};
// The defaults of torch.testing.assert_close for each dtype (PyTorch documentation, torch.testing).
constexpr Tolerance assert_close_defaults(DType t) {
  return t == f16 ? Tolerance{1e-3, 1e-5} : t == bf16 ? Tolerance{1.6e-2, 1e-5} : Tolerance{1.3e-6, 1e-5};
}
// torch.allclose(rtol=1e-2, atol=1e-2), as in very many tests of kernels.
constexpr Tolerance kLoose{1e-2, 1e-2};

// torch.isclose with equal_nan=False: equal infinities are close, NaN is close to nothing.
bool close(double got, double expected, Tolerance t) {
  if (got == expected) return true;
  return std::isfinite(expected) && std::fabs(got - expected) <= t.absolute + t.relative * std::fabs(expected);
}

bool infinite_or_largest(double v) { return std::isinf(v) || std::fabs(v) == double{std::numeric_limits<float>::max()}; }

// max() as in torch and numpy: NaN if either is NaN.
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

}  // namespace

PolicyFigures policy_figures(const Problem& problem, int output, const Tensor& got) {
  PolicyFigures f;
  const std::span<const double> golden = problem.golden(output);
  const Tolerance defaults = assert_close_defaults(got.dtype);
  const SolvedElements solved(problem, output, got.size());
  for (std::int64_t k = 0; k < solved.count(); ++k) {
    const std::int64_t i = solved[k];
    const double value = got.at(i), expected = round_to(got.dtype, golden[static_cast<std::size_t>(i)]);
    ++f.compared;
    f.not_close += !close(value, expected, kLoose);
    f.not_assert_close += !close(value, expected, defaults);
    if (std::isnan(value) || std::isnan(expected)) f.class_differs = true;
    if (infinite_or_largest(value) != infinite_or_largest(expected) ||
        (infinite_or_largest(value) && std::signbit(value) != std::signbit(expected)))
      f.class_differs = true;
    const double error = value - expected;
    f.error_squares += error * error;
    f.got_squares += value * value;
    f.golden_squares += expected * expected;
    f.product += value * expected;
    f.max_error = larger(std::fabs(error), f.max_error);
  }
  return f;
}

}  // namespace assay
