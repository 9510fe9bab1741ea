// SPDX-License-Identifier: Apache-2.0
#include "validate/console/file_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "validate/base/error.hpp"
#include "validate/records/output_file.hpp"

namespace assay {

namespace {

enum class FileUse { read, written };

// Of all options that name files.
std::map<const CLI::Option*, FileUse>& file_options() {
  static std::map<const CLI::Option*, FileUse> uses;
  return uses;
}

std::vector<std::string> files_of(const CLI::App& app, FileUse use) {
  std::vector<std::string> files;
  for (const CLI::Option* option : app.get_options()) {
    const auto at = file_options().find(option);
    if (at == file_options().end() || at->second != use) continue;
    for (const std::string& file : option->results()) {
      if (file.empty()) throw BadInput(fmt::format("{}: the name of a file is empty", option->get_name()));
      files.push_back(file);
    }
  }
  return files;
}

// Whether the path is a file of the folder, like the weights of a model.
bool lies_in(const std::string& path, const std::string& folder) {
  std::error_code error;
  return std::filesystem::is_directory(folder, error) && std::filesystem::exists(path, error) &&
         same_file(std::filesystem::absolute(path, error).parent_path(), folder);
}

}  // namespace

CLI::Option* reads_file(CLI::Option* option) {
  file_options()[option] = FileUse::read;
  return option;
}

CLI::Option* writes_file(CLI::Option* option) {
  file_options()[option] = FileUse::written;
  return option;
}

void require_files_apart(const CLI::App& subcommand) {
  const std::vector<std::string> read = files_of(subcommand, FileUse::read), written = files_of(subcommand, FileUse::written);
  for (std::size_t i = 0; i < written.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j)
      if (same_file(written[i], written[j])) throw BadInput(fmt::format("'{}' is named as two outputs", written[i]));
    for (const std::string& input : read) {
      if (same_file(written[i], input)) throw BadInput(fmt::format("'{}' is named as input and as output", written[i]));
      if (lies_in(written[i], input))
        throw BadInput(
            fmt::format("'{}' is a file of the folder '{}', which is read, and would be overwritten", written[i], input));
    }
  }
}

}  // namespace assay
