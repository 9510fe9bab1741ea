// SPDX-License-Identifier: Apache-2.0
#include "validate/backends/head.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <ctime>

#include "cuda/core/vendor/library.hpp"
#include "validate/backends/backends.hpp"
#include "validate/base/version.hpp"
#include "validate/tasks/loaded.hpp"

namespace assay {

namespace {

std::string now_utc() {
  const std::time_t t = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&t));
  return text;
}

std::string host_text() { return fmt::format("{} cores", ::sysconf(_SC_NPROCESSORS_ONLN)); }

}  // namespace

RunHead head_of(const std::string& backend, const Selection& selection) {
  RunHead h;
  h.version = version();
  h.commit = commit();
  h.compiler = fmt::format("{} {}.{}.{}",
#if defined(__clang__)
                           "clang", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
                           "g++", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
  h.build = build_flags();
  h.backend = backend;
  for (const BackendInfo& b : backends())
    if (b.name == backend) h.device = b.device;
  if (!kernels().empty() && kernels()[0].loaded) h.device = kernels()[0].loaded->device;
  h.host = host_text();
  h.date = now_utc();
  h.suite = selection.suite;
  h.seed = selection.seed;
  if (backend == "cuda")
    for (const vendor::Library* library : {&vendor::cublaslt_library(), &vendor::cudnn_library()})
      if (library->available()) h.libraries[library->name()] = library->version();
  return h;
}

}  // namespace assay
