// SPDX-License-Identifier: Apache-2.0
// doctor: prints the machine, the backends, the vendors' libraries and the datasets, and what is missing of them.
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>

#include "cuda/core/vendor/library.hpp"
#include "validate/backends/backends.hpp"
#include "validate/base/version.hpp"
#include "validate/command/commands.hpp"
#include "validate/command/list.hpp"
#include "validate/worker/sandbox.hpp"

namespace assay {

namespace {

using Json = nlohmann::ordered_json;

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

// "works", or what is wrong with the backend.
std::string state_of(const BackendInfo& b) {
  if (!b.unavailable.empty()) return "not usable: " + b.unavailable;
  try {
    open_backend(b.name);
    return "works";
  } catch (const std::exception& e) {
    return fmt::format("broken: {}", e.what());
  }
}

}  // namespace

int doctor_command(bool json) {
  utsname system{};
  ::uname(&system);
  Json j{{"version", version()},
         {"commit", commit()},
         {"build", build_flags()},
         {"processor", processor_name()},
         {"cores", ::sysconf(_SC_NPROCESSORS_ONLN)},
         {"machine", system.machine},
         {"system", fmt::format("{} {}", system.sysname, system.release)}};
  j["sandbox"] = {{"kernels", sandbox_text(Confined::kernels)}, {"programs", sandbox_text(Confined::program)}};
  for (const BackendInfo& b : backends()) {
    const auto runs_there = [&](const Kernel& k) { return launcher_on(b.name, k) != nullptr; };
    j["backends"].push_back({{"backend", b.name},
                             {"device", b.device},
                             {"kernels", std::count_if(kernels().begin(), kernels().end(), runs_there)},
                             {"state", state_of(b)}});
  }
  for (const vendor::Library* library : {&vendor::cublaslt_library(), &vendor::cudnn_library()}) {
    const bool there = static_cast<bool>(library->available());
    j["libraries"].push_back({{"library", library->name()},
                              {"version", there ? library->version() : ""},
                              {"path", there ? library->path() : ""},
                              {"missing", there ? "" : library->missing()}});
  }
  try {
    const Datasets data = datasets_of({});
    check(data, op_shapes(), is_left_out);
    j["datasets"] = fmt::format("{} models, {} ops with edges of their own", data.models.size(), data.edges.size());
  } catch (const std::exception& e) {
    j["datasets"] = fmt::format("missing or broken: {}", e.what());
  }
  if (json) {
    print_json(j);
    return kAllPassed;
  }
  const auto text = [](const Json& of, const char* key) { return of.at(key).get<std::string>(); };
  fmt::print("Assay {} · commit {} · built {}\n\n", text(j, "version"), text(j, "commit"), text(j, "build"));
  fmt::print("  processor   {}, {} cores, {}\n", text(j, "processor"), j["cores"].get<long>(), text(j, "machine"));
  fmt::print("  system      {}\n", text(j, "system"));
  fmt::print("  sandbox     kernels: {}; other programs: {}\n", text(j["sandbox"], "kernels"), text(j["sandbox"], "programs"));
  for (const Json& b : j["backends"])
    fmt::print("  {:<11} {}{}\n", text(b, "backend"),
               text(b, "device").empty() ? "" : fmt::format("{}, {} kernels: ", text(b, "device"), b["kernels"].get<long>()),
               text(b, "state"));
  for (const Json& l : j["libraries"])
    fmt::print("  {:<11} {}\n", text(l, "library"),
               text(l, "missing").empty() ? text(l, "version") + ", " + text(l, "path") : "missing: " + text(l, "missing"));
  fmt::print("  datasets    {}\n", text(j, "datasets"));
  return kAllPassed;
}

}  // namespace assay
