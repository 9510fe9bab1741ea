// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "validate/records/record.hpp"
#include "validate/tasks/selection.hpp"

namespace assay {

// The head of a file of records: this build, this machine and now.
RunHead head_of(const std::string& backend, const Selection& selection = {});

}  // namespace assay
