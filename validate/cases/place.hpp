// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace assay {

// A place in a file for messages: the file and a JSON pointer.
struct Place {
  std::string file{}, pointer{};
  std::string text() const { return file + ": " + (pointer.empty() ? "/" : pointer); }
};

}  // namespace assay
