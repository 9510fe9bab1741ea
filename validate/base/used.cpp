// SPDX-License-Identifier: Apache-2.0
#include "validate/base/used.hpp"

#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

namespace assay {

void note_used(std::string_view op) {
  static const char* const path = std::getenv("ASSAY_USED");
  static std::set<std::string, std::less<>> noted;
  if (!path || !noted.emplace(op).second) return;
  std::ofstream(path, std::ios::app) << op << std::endl;
}

}  // namespace assay
