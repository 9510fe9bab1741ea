// SPDX-License-Identifier: Apache-2.0
#include "validate/backends/choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "validate/backends/backends.hpp"
#include "validate/base/error.hpp"

namespace assay {

namespace {

// The backend that --backend means.  Sets `why_not` to the reason if it cannot be used.
std::string chosen_backend(const std::string& flag, bool plugin, std::string& why_not) {
  const std::vector<BackendInfo> all = backends();
  const auto named = [&](std::string_view name) {
    return *std::find_if(all.begin(), all.end(), [&](const BackendInfo& b) { return b.name == name; });
  };
  const std::string backend = flag != "auto" ? flag : named("cuda").unavailable.empty() ? "cuda" : plugin ? "host" : "simt";
  why_not = named(backend).unavailable;
  return backend;
}

}  // namespace

bool not_ready(const BackendFlags& flags, const std::string& backend, const std::string& why_not, int& code) {
  if (flags.skip_exit < 0) throw BadInput(fmt::format("backend {} cannot be used: {}  (validate doctor)", backend, why_not));
  fmt::print("skipped: backend {} cannot be used: {}\n", backend, why_not);
  code = flags.skip_exit;
  return false;
}

bool backend_ready(const BackendFlags& flags, std::string& backend, int& code) {
  if (flags.backend == "ptx") throw BadInput("--backend ptx: only run and replay judge the kernels of this tree as PTX");
  std::string why_not;
  backend = chosen_backend(flags.backend, flags.plugin, why_not);
  if (flags.plugin && backend == "simt") throw BadInput("--backend simt: a plugin is compiled already; it runs on host or cuda");
  if (!flags.plugin && backend == "host") throw BadInput("--backend host: only the kernels of a --plugin run there");
  if (flags.require_gpu && (flags.backend == "simt" || flags.backend == "host"))
    throw BadInput(fmt::format("--require-gpu and --backend {} contradict each other", flags.backend));
  if (flags.require_gpu && (backend != "cuda" || !why_not.empty()))
    throw BadInput("--require-gpu: no GPU can be used here  (validate doctor)");
  return why_not.empty() || not_ready(flags, backend, why_not, code);
}

}  // namespace assay
