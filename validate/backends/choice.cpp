// SPDX-License-Identifier: Apache-2.0
#include "validate/backends/choice.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "cuda/core/vendor/library.hpp"
#include "validate/backends/backends.hpp"
#include "validate/base/build.hpp"
#include "validate/base/error.hpp"
#include "validate/base/version.hpp"
#include "validate/tasks/loaded.hpp"

namespace assay {

namespace {

// The backend that --backend means.  Sets `why_not` to the reason if it cannot be used.
std::string chosen_backend(const std::string& flag, bool plugin, std::string& why_not) {
  const bool gpu = flag == "auto" && backend_info("cuda").unavailable.empty();
  const std::string backend = flag != "auto" ? flag : gpu ? "cuda" : plugin ? "host" : "simt";
  why_not = backend_info(backend).unavailable;
  return backend;
}

std::string now_utc() {
  const std::time_t t = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&t));
  return text;
}

std::string host_text() { return fmt::format("{} cores", ::sysconf(_SC_NPROCESSORS_ONLN)); }

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

RunHead head_of(const std::string& backend, const Selection& selection) {
  RunHead h;
  h.version = version();
  h.commit = commit();
  h.compiler = compiler_text();
  h.build = build_flags();
  h.backend = backend;
  const Loaded* const loaded = kernels().empty() ? nullptr : kernels()[0].loaded;
  h.device = loaded && loaded->backend == backend ? loaded->device : backend_info(backend).device;
  h.host = host_text();
  h.date = now_utc();
  h.suite = selection.suite;
  h.seed = selection.seed;
  for (const Op& op : ops())
    if (selection.ops.empty() || std::find(selection.ops.begin(), selection.ops.end(), op.name) != selection.ops.end())
      h.judges[std::string(op.name)] = judge_hash(op.name);
  h.suites = suites_hash();
  if (backend == "cuda")
    for (const vendor::Library* library : {&vendor::cublaslt_library(), &vendor::cudnn_library()})
      if (library->available()) h.libraries[library->name()] = library->version();
  return h;
}

}  // namespace assay
