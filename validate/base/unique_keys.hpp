// SPDX-License-Identifier: Apache-2.0
// JSON that others wrote, in which no object may have a key twice: a parser alone keeps the last one, in silence.
#pragma once

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "validate/base/error.hpp"
#include "validate/base/input.hpp"

namespace assay {

// A callback for Json::parse(), which throws BadInput: "WHOSE has 'KEY' twice".
template <class Json>
auto unique_keys(std::string whose) {
  return [whose = std::move(whose), open = std::vector<std::set<std::string>>()](int, typename Json::parse_event_t event,
                                                                                 Json& value) mutable {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event != Json::parse_event_t::key) return true;
    const auto key = value.template get<std::string>();
    if (!open.back().insert(key).second) throw BadInput(fmt::format("{} has '{}' twice", whose, plain(key)));
    return true;
  };
}

}  // namespace assay
