// SPDX-License-Identifier: Apache-2.0
// Words of numerics in texts that are older than `stores` and `ways`: a word each for what several ops store.
#pragma once

#include <string>
#include <string_view>

namespace assay {

// The same declaration of a kernel of this op, with what its old words stand for in `stores` and `ways`.
std::string with_new_words(std::string_view text, std::string_view op);

}  // namespace assay
