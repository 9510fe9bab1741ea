// SPDX-License-Identifier: Apache-2.0
#include "validate/cases/bench_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/base/unique_keys.hpp"

namespace assay {

namespace {

using Json = nlohmann::ordered_json;
using Texts = std::vector<std::string>;

// Checks that it is an object with only these keys.
const Json& object(const Json& j, const Names& allowed) {
  if (!j.is_object()) throw BadInput("an object was expected in place of " + plain(j.dump().substr(0, 60)));
  for (const auto& [key, value] : j.items())
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) throw BadInput(unknown("key", key, allowed));
  return j;
}

// A text that is not empty; if it may be missing, "" in its place.
std::string text_in(const Json& j, const char* key, bool may_lack = false) {
  if (may_lack && !j.contains(key)) return "";
  if (!j.contains(key) || !j[key].is_string() || j[key].get_ref<const std::string&>().empty())
    throw BadInput(fmt::format("'{}' must be a text", key));
  return plain(j[key].get<std::string>());
}

Texts texts_in(const Json& j, const char* key) {
  if (!j.contains(key)) return {};
  const Json& list = j[key];
  const auto is_text = [](const Json& v) { return v.is_string() && !v.get_ref<const std::string&>().empty(); };
  if (!list.is_array() || list.empty() || !std::all_of(list.begin(), list.end(), is_text))
    throw BadInput(fmt::format("'{}' must be a list of texts", key));
  return list.get<Texts>();
}

const Json& list_in(const Json& j, const char* key, const char* of) {
  if (!j.contains(key) || !j[key].is_array() || j[key].empty()) throw BadInput(fmt::format("'{}' must be a list of {}", key, of));
  return j[key];
}

BenchEntry entry_of(const Json& j) { return {text_in(j, "shape"), texts_in(j, "dtypes"), texts_in(j, "kernels")}; }

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
    return read(Json::parse(text, unique_keys<Json>("it")));
  } catch (const Json::exception& e) {
    throw BadInput(fmt::format("{}: {}", file, e.what()));
  } catch (const BadInput& e) {
    throw BadInput(fmt::format("{}: {}", file, e.what()));
  }
}

}  // namespace

BenchFile parse_bench(const std::string& text, const std::string& file) {
  return parsed(text, file, [](const Json& root) {
    object(root, {"about", "op", "ladder", "shapes"});
    text_in(root, "about", true);
    BenchFile f{.op = text_in(root, "op", true), .entries = {}, .ladder = texts_in(root, "ladder")};
    for (const Json& j : list_in(root, "shapes", "shapes"))
      f.entries.push_back(j.is_string() ? BenchEntry{j.get<std::string>(), {}, {}}
                                        : entry_of(object(j, {"shape", "dtypes", "kernels"})));
    return f;
  });
}

std::vector<SuiteTable> parse_bench_suite(const std::string& text, const std::string& file) {
  return parsed(text, file, [&](const Json& root) {
    object(root, {"about", "suite", "tables"});
    text_in(root, "about", true);
    const std::filesystem::path path(file);
    const std::string suite = text_in(root, "suite", true);
    if (!suite.empty() && path.extension() == ".json" && suite != path.stem())
      throw BadInput(fmt::format("'suite' is '{}', and the name of its file, '{}', was expected", suite, path.stem().string()));
    std::vector<SuiteTable> tables;
    for (const Json& table : list_in(root, "tables", "tables")) {
      object(table, {"title", "rows"});
      SuiteTable& t = tables.emplace_back();
      t.title = text_in(table, "title");
      for (const Json& row : list_in(table, "rows", "rows")) {
        object(row, {"label", "op", "shape", "dtypes", "kernels", "reported"});
        t.rows.push_back({text_in(row, "label"), text_in(row, "op"), entry_of(row), reported_in(row)});
      }
    }
    return tables;
  });
}

void check(const BenchFile& f, std::string_view op, const Names& known, const std::string& file) {
  if (!f.op.empty() && f.op != op) throw BadInput(fmt::format("{}: 'op' is '{}', and '{}' was expected", file, f.op, op));
  std::vector<std::string> named = f.ladder;
  for (const BenchEntry& e : f.entries) named.insert(named.end(), e.kernels.begin(), e.kernels.end());
  for (const std::string& kernel : named)
    if (std::find(known.begin(), known.end(), kernel) == known.end())
      throw BadInput(fmt::format("{}: {}", file, unknown(fmt::format("kernel of {}", op), kernel, known)));
}

}  // namespace assay
