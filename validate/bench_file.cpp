// SPDX-License-Identifier: Apache-2.0
#include "validate/bench_file.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "validate/error.hpp"

namespace assay {

std::vector<BenchEntry> parse_bench(const std::string& text, const std::string& file) {
  using Json = nlohmann::json;
  using Texts = std::vector<std::string>;
  std::vector<BenchEntry> entries;
  try {
    const Json root = Json::parse(text);
    for (const Json& j : root.at("shapes")) {
      if (j.is_string()) entries.push_back({j.get<std::string>()});
      else entries.push_back({j.at("shape").get<std::string>(), j.value("dtypes", Texts{}), j.value("kernels", Texts{})});
    }
  } catch (const Json::exception& e) {
    throw BadInput(fmt::format("{}: {}", file, e.what()));
  }
  return entries;
}

}  // namespace assay
