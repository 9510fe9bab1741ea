// SPDX-License-Identifier: Apache-2.0
// A kernel as the judge sees it, and where it comes from if it is not built in.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ops/core/kernel.hpp"

struct AssayKernel;  // include/assay.h

namespace assay {

// Where kernels come from that are not built in.
struct Loaded {
  std::string flags;                     // with which a command loads them again: "--plugin ./libmine.so"
  std::vector<std::string> command;      // program and arguments of their worker
  bool of_set = false;                   // the last word of the command is a backend, and may be another (tasks/sets.hpp)
  std::string backend, device;           // as in the head of a run's records
  std::vector<std::string> not_checked;  // those of kChecks (worker/listing.hpp) that their worker does not make
};

struct Kernel {
  std::string_view op, name;
  std::string_view about;  // the file's head comment
  bool broken = false;     // wrong on purpose
  bool variant = false;    // correct, with other sums or other declared numerics; used only to test the judge
  DTypes dtypes;           // this and the fields up to workspace_bytes: as in KernelTraits (ops/core/kernel.hpp)
  int min_arch = 0, only_arch = 0;
  bool deterministic = true;
  bool finite_inputs = false;
  bool position_matters = false;
  std::array<Tile, 3> tiles{};
  Numerics numerics;
  bool declares_numerics = true;      // false: `numerics` is the default, which any order of sums in f32 meets
  Legality (*available)() = nullptr;  // whether the library that it calls is installed; null: it calls none
  Legality (*supports)(const void* args) = nullptr;
  std::size_t (*workspace_bytes)(const void* args) = nullptr;
  Launcher on_simt = nullptr;  // null: not built for that backend
  Launcher on_gpu = nullptr;
  Launcher on_host = nullptr;
  std::vector<std::string_view> backends{};  // of a loaded kernel: those for which its worker has it, if it says so
  const AssayKernel* plugin = nullptr;  // of a plugin: the functions above take a PluginCall (worker/plugin.hpp), not the Args
  const Loaded* loaded = nullptr;       // null: built in
  std::string_view code;                // of a loaded kernel: hash of its code; empty: unknown
  std::string_view fidelity;            // what its worker says of how closely it does what a GPU does; empty: nothing
  std::string (*rests_on)(const Kernel&) = nullptr;  // the same of what has run since it was asked last; null: as `fidelity`
};

// The architecture that the kernel needs, if it cannot run on `arch`, such as "sm_90 alone"; empty: it can.
inline std::string needs_arch(const Kernel& k, int arch) {
  if (k.only_arch != 0 && k.only_arch != arch) return "sm_" + std::to_string(k.only_arch) + " alone";
  return k.min_arch > arch ? "sm_" + std::to_string(k.min_arch) : "";
}
// What launches the kernel on a backend; null: it is not built for that one.
inline Launcher launcher_on(std::string_view backend, const Kernel& k) {
  return backend == "cuda" ? k.on_gpu : backend == "simt" ? k.on_simt : k.on_host;
}
// Whether it is built for a backend, here or in its worker.
inline bool is_built_for(std::string_view backend, const Kernel& k) {
  return launcher_on(backend, k) || std::find(k.backends.begin(), k.backends.end(), backend) != k.backends.end();
}
// Whether the kernel calls a vendor's library.
inline bool is_vendor(const Kernel& k) { return k.name.starts_with("baseline_"); }
// Whether it is a framework's pipeline with one library call or kernel per step.
inline bool is_eager(const Kernel& k) { return k.name == "baseline_eager"; }

}  // namespace assay
