// SPDX-License-Identifier: Apache-2.0
// Tensors of a case as a file has them, and why a file is refused.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "validate/base/error.hpp"
#include "validate/tasks/given.hpp"
#include "validate/tasks/selection.hpp"

namespace assay::test {

inline TensorFile filled(const std::string& line) {
  const std::vector<OpShape> shapes = op_shapes();
  const Case c = parse_repro(line, shapes).what;
  return filled_tensors(op_named(c.op), c);
}

// The sentence by which a call is refused.
inline std::string why_not(const std::function<void()>& call) {
  try {
    call();
  } catch (const BadInput& e) {
    return e.what();
  }
  return "it was taken";
}

inline bool holds(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace assay::test
