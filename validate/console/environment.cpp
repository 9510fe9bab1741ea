// SPDX-License-Identifier: Apache-2.0
#include "validate/console/environment.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

#include "validate/base/error.hpp"
#include "validate/cases/datasets.hpp"

namespace assay {

namespace {

namespace fs = std::filesystem;

// What was expected in place of the value; empty: the value may be.
using Expected = std::string (*)(const std::string& value);

std::string datasets_expected(const std::string& value) {
  return has_datasets(value) ? "" : fmt::format("a folder of datasets, with {},", kCommonEdges);
}
// Whether each path of a list with colons between is of a kind.
template <class Is>
bool all_paths(std::string_view list, Is is) {
  std::error_code error;
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t end = std::min(list.find(':', from), list.size());
    if (!is(fs::path(list.substr(from, end - from)), error)) return false;
    from = end + 1;
  }
  return true;
}
std::string folders_expected(const std::string& value) {
  const auto is = [](const fs::path& path, std::error_code& error) { return fs::is_directory(path, error); };
  return all_paths(value, is) ? "" : "a list of folders, with colons between,";
}
std::string files_expected(const std::string& value) {
  const auto is = [](const fs::path& path, std::error_code& error) { return fs::is_regular_file(path, error); };
  return all_paths(value, is) ? "" : "a list of files, with colons between,";
}
std::string new_file_expected(const std::string& value) {
  std::error_code error;
  const fs::path folder = fs::absolute(value, error).parent_path();
  return fs::is_directory(folder, error) && !fs::is_directory(value, error) ? "" : "a file, in a folder that is there,";
}
std::string first_expected(const std::string& value) { return value == "first" ? "" : "'first'"; }
std::string one_expected(const std::string& value) { return value == "1" ? "" : "'1'"; }
std::string switch_expected(const std::string& value) { return value == "on" || value == "off" ? "" : "'on' or 'off'"; }
std::string library_expected(const std::string& value) { return value.empty() ? "the file of a library" : ""; }

constexpr struct {
  std::string_view name;
  Expected expected;
} kVariables[] = {
    {"ASSAY_CUBLASLT", first_expected}, {"ASSAY_DATASETS", datasets_expected}, {"ASSAY_NETWORK", switch_expected},
    {"ASSAY_NVRTC", library_expected},  {"ASSAY_OP_FILES", files_expected},    {"ASSAY_PARSE_ONLY", one_expected},
    {"ASSAY_SANDBOX", switch_expected}, {"ASSAY_USED", new_file_expected},     {"ASSAY_VENDOR_PATH", folders_expected}};
constexpr std::string_view kBeginning = "ASSAY_";
constexpr std::size_t kMistyped = 5;  // one letter in so many may differ where a name is almost another: ASSAY_USER is not

void check_variable(std::string_view name, const std::string& value) {
  std::string_view near;
  for (const auto& v : kVariables) {
    if (v.name == name) {
      if (const std::string expected = v.expected(value); !expected.empty())
        throw BadInput(fmt::format("{} is '{}' in the environment, and {} was expected", name, value.substr(0, 200), expected));
      return;
    }
    if (kMistyped * edit_distance(name, v.name) <= v.name.size() - kBeginning.size()) near = v.name;
  }
  if (!near.empty()) throw BadInput(fmt::format("the environment has '{}', which nothing reads. Did you mean '{}'?", name, near));
}

}  // namespace

void check_environment() {
  for (char** entry = ::environ; entry && *entry; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = std::min(text.find('='), text.size());
    if (!text.starts_with(kBeginning) || equals > 200) continue;
    check_variable(text.substr(0, equals), std::string(text.substr(std::min(equals + 1, text.size()))));
  }
}

}  // namespace assay
