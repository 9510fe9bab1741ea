// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace assay {

// Notes that kernels of an op are judged, in the file that ASSAY_USED names, so that a test need not be run again when those of
// other ops change (cmake/tests/cached.py).  Nothing happens if it names none.
void note_used(std::string_view op);

}  // namespace assay
