// SPDX-License-Identifier: Apache-2.0
#include "validate/records/policy.hpp"

#include <cmath>

namespace assay {

bool passes(Policy policy, std::span<const PolicyFigures> outputs, std::span<const PolicyFigures> baseline) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const PolicyFigures& f = outputs[i];
    if (f.compared == 0) continue;
    bool ok = true;
    switch (policy) {
      case Policy::allclose: ok = f.not_close == 0; break;
      case Policy::assert_close: ok = f.not_assert_close == 0; break;
      // ggml, test-backend-ops: NaN and unequal infinities fail, then err > 5e-4.  A NaN err, from equal infinities, passes.
      // The error is relative to the squares of the output under test, not of the reference.
      case Policy::nmse: ok = !f.class_differs && !(f.error_squares / f.got_squares > 5e-4); break;
      // TileLang's Profiler.assert_allclose: 1 % of the elements may hold anything, even NaN (max_mismatched_ratio = 0.01).
      case Policy::matched_99: ok = f.not_close <= f.compared / 100; break;
      // FlashAttention, test_flash_attn: (out - ref).abs().max() <= 2 * (baseline - ref).abs().max().
      case Policy::twice_baseline: ok = i < baseline.size() && f.max_error <= 2 * baseline[i].max_error; break;
      // cosine_similarity(out.flatten(), ref.flatten()) > 0.99, as in tests of quantised kernels.
      case Policy::cosine: ok = f.product / std::sqrt(f.got_squares * f.golden_squares) > 0.99; break;
    }
    if (!ok) return false;
  }
  return true;
}

}  // namespace assay
