// SPDX-License-Identifier: Apache-2.0
#include "validate/tasks/sets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "validate/base/error.hpp"
#include "validate/worker/process.hpp"

namespace assay {

namespace fs = std::filesystem;

namespace {

// The folder of the sets of this build, or of this installation.
fs::path folder_of_sets() {
  std::error_code error;
  const fs::path program = fs::read_symlink(kOwnProgram, error).parent_path();
  const fs::path of_installation = program.parent_path() / "lib/assay/sets";
  return fs::is_directory(of_installation, error) ? of_installation : program / "sets";
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::vector<std::string> worker_of_set(const std::string& set, std::string_view backend) {
  std::error_code error;
  const bool is_name = set.find('/') == set.npos;
  const fs::path folder = folder_of_sets(), path = is_name ? folder / set : fs::absolute(set, error);
  if (!fs::is_regular_file(path, error)) {
    if (!is_name) throw BadInput(fmt::format("--set: there is no file '{}'", set));
    const std::vector<std::string> there = names_in(folder);
    const std::string what = there.empty() ? fmt::format("there is no set beside this program, and '{}' is asked for", set)
                                           : unknown("set", set, Names(there.begin(), there.end()));
    throw BadInput(fmt::format("--set: {}  (cmake --build BUILD --target set_trial, set_watch or set_hostile)", what));
  }
  if (::access(path.c_str(), X_OK) != 0) throw BadInput(fmt::format("--set: '{}' is no program", set));
  if (fs::equivalent(path.parent_path(), folder, error)) return {path, kServe, std::string(backend)};
  return {"/bin/sh", "-c", fmt::format("exec \"$0\" {} \"$1\"", kServe), path, std::string(backend)};
}

}  // namespace assay
