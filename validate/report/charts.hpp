// SPDX-License-Identifier: Apache-2.0
// The data of the HTML page's charts, which reports/templates/report.html draws.
#pragma once

#include <nlohmann/json.hpp>

#include "validate/report/report.hpp"

namespace assay {

nlohmann::ordered_json charts_of(const Report&);

}  // namespace assay
