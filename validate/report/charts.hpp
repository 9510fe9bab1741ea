// SPDX-License-Identifier: Apache-2.0
// The data of a page's charts, as reports/templates/report.html takes them.
#pragma once

#include <nlohmann/json.hpp>

#include "validate/report/report.hpp"

namespace assay {

nlohmann::ordered_json charts_of(const Report&);

}  // namespace assay
