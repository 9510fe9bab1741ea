// SPDX-License-Identifier: Apache-2.0
#include "validate/problem/bounds.hpp"

#include <algorithm>

namespace assay {

std::span<const double> KeptBounds::of(Errors errors, const Numerics& numerics, int output,
                                       const std::function<std::vector<LazyArray>()>& make) {
  std::unique_lock lock(mutex_);
  auto at = std::ranges::find_if(kept_, [&](const Kept& k) { return k.errors == errors && k.numerics == numerics; });
  if (at == kept_.end()) at = kept_.emplace(kept_.end(), numerics, errors);
  lock.unlock();
  std::call_once(at->made, [&] { at->bounds = make(); });
  return at->bounds[static_cast<std::size_t>(output)].values();
}

}  // namespace assay
