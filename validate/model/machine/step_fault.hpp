// SPDX-License-Identifier: Apache-2.0
// What a kernel breaks while it runs a step of a model, with the place where it did.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

#include "validate/base/error.hpp"
#include "validate/model/apart.hpp"

namespace assay {

// A kernel did something forbidden, or its launch failed, in a step.
struct StepFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Does work that a kernel may break, and says where it did.
template <class Work>
auto guarded(const std::string& where, const Work& work) {
  now_at(where);
  try {
    return work();
  } catch (const NoMemory&) {
    throw;
  } catch (const BadInput&) {
    throw;
  } catch (const std::runtime_error& e) {
    throw StepFault(fmt::format("{}: {}", where, e.what()));
  }
}

}  // namespace assay
