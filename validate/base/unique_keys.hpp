// SPDX-License-Identifier: Apache-2.0
// JSON that others wrote, in which no object may have a key twice: a parser alone keeps the last one, in silence.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace assay {

// A callback for Json::parse().  `refuse(key)` throws.
template <class Json, class Refuse>
auto unique_keys(Refuse refuse) {
  return [refuse, open = std::vector<std::set<std::string>>()](int, typename Json::parse_event_t event, Json& value) mutable {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(value.template get<std::string>()).second)
      refuse(value.template get<std::string>());
    return true;
  };
}

}  // namespace assay
