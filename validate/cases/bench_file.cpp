// SPDX-License-Identifier: Apache-2.0
#include "validate/cases/bench_file.hpp"

#include <fmt/format.h>

#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/base/unique_keys.hpp"

namespace assay {

namespace {

using Json = nlohmann::ordered_json;
using Texts = std::vector<std::string>;

BenchEntry entry_of(const Json& j) {
  return {j.at("shape").get<std::string>(), j.value("dtypes", Texts{}), j.value("kernels", Texts{})};
}

Json reported_in(const Json& row) {
  Json reported = row.value("reported", Json::object());
  if (!reported.is_object()) throw BadInput("'reported' must be an object");
  for (const Json& value : reported)
    if (!value.is_number() && !value.is_string()) throw BadInput("'reported' must hold numbers and texts, not " + value.dump());
  return reported;
}

// Returns read(text); errors are rethrown with the file's name.
template <class Read>
auto parsed(const std::string& text, const std::string& file, const Read& read) {
  if (nests_too_deeply(text)) throw BadInput(fmt::format("{}: its lists and objects lie too deep in each other", file));
  try {
    const auto twice = [](const std::string& key) { throw BadInput(fmt::format("it has '{}' twice", key)); };
    return read(Json::parse(text, unique_keys<Json>(twice)));
  } catch (const Json::exception& e) {
    throw BadInput(fmt::format("{}: {}", file, e.what()));
  } catch (const BadInput& e) {
    throw BadInput(fmt::format("{}: {}", file, e.what()));
  }
}

}  // namespace

BenchFile parse_bench(const std::string& text, const std::string& file) {
  return parsed(text, file, [](const Json& root) {
    BenchFile f;
    if (!root.at("shapes").is_array() || root.at("shapes").empty()) throw BadInput("'shapes' must be a list of shapes");
    for (const Json& j : root.at("shapes"))
      f.entries.push_back(j.is_string() ? BenchEntry{j.get<std::string>(), {}, {}} : entry_of(j));
    f.ladder = root.value("ladder", Texts{});
    return f;
  });
}

std::vector<SuiteTable> parse_bench_suite(const std::string& text, const std::string& file) {
  return parsed(text, file, [](const Json& root) {
    std::vector<SuiteTable> tables;
    for (const Json& table : root.at("tables")) {
      SuiteTable& t = tables.emplace_back();
      t.title = plain(table.at("title").get<std::string>());
      for (const Json& row : table.at("rows"))
        t.rows.push_back(
            {plain(row.at("label").get<std::string>()), row.at("op").get<std::string>(), entry_of(row), reported_in(row)});
    }
    return tables;
  });
}

}  // namespace assay
