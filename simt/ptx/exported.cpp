// SPDX-License-Identifier: Apache-2.0
// The C interface of libassay_ptx.so (include/assay_ptx.h).  No exception leaves it.
#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <string>

#include "assay_ptx.h"
#include "findings.hpp"
#include "machine.hpp"
#include "ptx.hpp"

using namespace simt;

struct AssayPtxEntry {
  std::shared_ptr<const ptx::Program> program;
  std::string fidelity;
};

struct AssayPtxModule {
  std::shared_ptr<const ptx::Module> module;
  std::map<std::string, AssayPtxEntry> entries{};  // decoded so far
};

namespace {

std::string why;
Finding last;

// The result of `work`, or of an exception `failed`, with its text as the reason.
template <class Result, class Work>
Result guarded(Result failed, Work work) noexcept {
  try {
    return work();
  } catch (const std::exception& e) {
    why = e.what();
  }
  return failed;
}

AssayPtxFinding told(const Where& where) {
  return {last.kind.c_str(), last.message.c_str(), last.file.c_str(), last.line, static_cast<int32_t>(where.column())};
}

const ptx::Function* entry_named(const ptx::Module& module, const std::string& name) {
  std::string names;
  const ptx::Function* only = nullptr;
  for (const auto& f : module.functions) {
    if (!f->entry) continue;
    if (f->name == name) return f.get();
    names += (names.empty() ? "" : ", ") + f->name;
    only = only == nullptr && name.empty() ? f.get() : nullptr;
  }
  if (only != nullptr) return only;
  why = module.file + ": there is no entry '" + name + "', but " + (names.empty() ? "none" : names);
  return nullptr;
}

std::string fidelity_of(const ptx::Program& program) {
  return in_words(program.rests, *program.module) + in_words(program.unordered, *program.module);
}

}  // namespace

#define ASSAY_EXPORT __attribute__((visibility("default")))
extern "C" {

ASSAY_EXPORT uint32_t assay_ptx_version(void) { return ASSAY_PTX_VERSION; }
ASSAY_EXPORT const char* assay_ptx_why(void) { return why.c_str(); }

ASSAY_EXPORT AssayPtxModule* assay_ptx_load(const char* text, size_t bytes, const char* name) {
  return guarded<AssayPtxModule*>(nullptr, [&] {
    return new AssayPtxModule{std::make_shared<const ptx::Module>(ptx::parse({text, bytes}, name))};
  });
}

ASSAY_EXPORT AssayPtxEntry* assay_ptx_entry(AssayPtxModule* module, const char* name) {
  return guarded<AssayPtxEntry*>(nullptr, [&]() -> AssayPtxEntry* {
    const ptx::Function* const function = entry_named(*module->module, name);
    if (function == nullptr) return nullptr;
    const auto known = module->entries.find(function->name);
    if (known != module->entries.end()) return &known->second;
    const auto program = ptx::decode(module->module, *function);
    return &(module->entries[function->name] = {program, fidelity_of(*program)});
  });
}

ASSAY_EXPORT void assay_ptx_unload(AssayPtxModule* module) { delete module; }

ASSAY_EXPORT const char* assay_ptx_name(const AssayPtxEntry* entry) { return entry->program->function.name.c_str(); }
ASSAY_EXPORT const char* assay_ptx_fidelity(const AssayPtxEntry* entry) { return entry->fidelity.c_str(); }

ASSAY_EXPORT size_t assay_ptx_parameters(const AssayPtxEntry* entry, uint64_t* offsets, uint64_t* sizes, size_t most) {
  const ptx::Program& p = *entry->program;
  for (std::size_t i = 0; i < std::min(most, p.parameter_at.size()); ++i) {
    offsets[i] = p.parameter_at[i];
    sizes[i] = p.function.parameters[i].bytes;
  }
  return p.parameter_at.size();
}
ASSAY_EXPORT uint64_t assay_ptx_parameter_bytes(const AssayPtxEntry* entry) { return entry->program->parameter_bytes; }

ASSAY_EXPORT void* assay_ptx_allocate(uint64_t bytes, uint64_t offset, const char* name) {
  return guarded<void*>(nullptr, [&] { return allocate(bytes, offset, name); });
}
ASSAY_EXPORT void assay_ptx_release(void* memory) { release(memory); }
ASSAY_EXPORT void assay_ptx_mark_written(const void* memory, uint64_t bytes) { mark_written(memory, bytes); }
ASSAY_EXPORT int32_t assay_ptx_touched(const void* memory) { return written(memory) ? 1 : 0; }
ASSAY_EXPORT void assay_ptx_written(const void* memory, uint64_t bytes, uint8_t* flags) {
  const auto* const begin = static_cast<const unsigned char*>(memory);
  for (std::uint64_t i = 0; i < bytes; ++i) flags[i] = first_unwritten(begin + i, 1) == 1 ? 1 : 0;
}

ASSAY_EXPORT void assay_ptx_configure(const AssayPtxOptions* options) {
  constexpr ThreadOrder kOrders[] = {ThreadOrder::forward, ThreadOrder::reverse, ThreadOrder::shuffle};
  configure({.order = kOrders[std::clamp(options->order, 0, 2)],
             .seed = options->seed,
             .time_limit_s = options->time_limit_s,
             .watch = options->watch != 0,
             .replicated = options->replicated != 0});
}

ASSAY_EXPORT int32_t assay_ptx_launch(const AssayPtxEntry* entry, const AssayPtxLaunch* launch, AssayPtxFinding* finding) {
  return guarded<int32_t>(2, [&] {
    const ptx::Shape shape{{launch->grid[0], launch->grid[1], launch->grid[2]},
                           {launch->block[0], launch->block[1], launch->block[2]},
                           launch->shared_bytes};
    try {
      ptx::launch(*entry->program, shape, nullptr, {static_cast<const std::byte*>(launch->parameters), launch->parameter_bytes});
      return 0;
    } catch (const Fault& fault) {
      last = fault.finding();
    }
    *finding = told(detail::findings.trouble.where);
    return 1;
  });
}

ASSAY_EXPORT int32_t assay_ptx_suspected(AssayPtxFinding* finding) {
  if (suspected() == nullptr) return 0;
  last = *suspected();
  *finding = told(detail::findings.suspicion.where);
  return 1;
}

}  // extern "C"
