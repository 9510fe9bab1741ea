// SPDX-License-Identifier: Apache-2.0
#include "validate/base/exit.hpp"

namespace assay {

std::atomic<bool> stop_requested{false};

}  // namespace assay
