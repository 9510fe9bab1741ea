// SPDX-License-Identifier: Apache-2.0
// nvcc compiles a .cu file to an object whose constructors register a binary, which holds the PTX, and for each kernel the host
// function that stands for it and the name of its entry.  A launch names that host function.
#include "validate/backends/runtime/cudart.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "simt/ptx/ptx.hpp"
#include "simt/tensor_copy.hpp"
#include "validate/worker/backend.hpp"

namespace assay::cudart {

namespace {

using simt::device::dim3;

// Codes of cudaError_t.
constexpr int kSuccess = 0, kInvalidValue = 1, kInvalidConfiguration = 9, kInvalidSymbol = 98, kNotSupported = 801;

struct Binary {
  RegisteredModule is;
  std::shared_ptr<const simt::ptx::Module> module{};                            // parsed at the first launch
  std::map<std::string, std::shared_ptr<const simt::ptx::Program>> programs{};  // decoded at their first launches
};
struct Entry {
  Binary* binary;
  std::string name;
  std::size_t granted = 48 * 1024;  // bytes of dynamic shared memory that a launch may ask for
};
struct Configuration {
  dim3 grid, block;
  std::size_t shared = 0;
  void* stream = nullptr;
  bool dependent = false;
};

// Note: objects register before main(), in an order that nobody knows.
struct State {
  std::deque<Binary> binaries;
  std::unordered_map<const void*, Entry> entries;
  std::vector<Configuration> configurations;  // of calls f<<<...>>>() under way
  std::vector<std::shared_ptr<const simt::ptx::Program>> launched;
};
State& state() {
  static State all;
  return all;
}

template <class T>
T read(const unsigned char* at) {
  T v;
  std::memcpy(&v, at, sizeof v);
  return v;
}

// OP/KERNEL.ptx of the path of a kernel.
std::string name_of(std::string_view path) {
  const std::string_view room = "cuda/";
  const std::size_t begin = path.rfind(room);
  if (begin != path.npos) path.remove_prefix(begin + room.size());
  return std::string(path.substr(0, path.rfind(".cu"))) + ".ptx";
}

// The PTX in a binary: a header (magic number, version, bytes of the header, bytes of the parts) and parts, each with a header of
// its own (kind, version, bytes of the header, bytes of the content; from byte 32 on where in it the name of the source lies).
RegisteredModule module_in(const unsigned char* binary) {
  constexpr std::uint32_t kMagic = 0xba55ed50;
  constexpr std::uint16_t kPtx = 1;
  if (read<std::uint32_t>(binary) != kMagic) throw std::logic_error("a binary of an unknown form was registered");
  const unsigned char* at = binary + read<std::uint16_t>(binary + 6);
  const unsigned char* const end = at + read<std::uint64_t>(binary + 8);
  while (at < end) {
    const std::size_t header = read<std::uint32_t>(at + 4), bytes = read<std::uint64_t>(at + 8);
    if (read<std::uint16_t>(at) == kPtx) {
      const std::string_view text(reinterpret_cast<const char*>(at + header), bytes);
      const std::string_view ptx = text.substr(0, text.find('\0'));
      if (ptx.find(".version") == ptx.npos) throw std::logic_error("the PTX in the object is compressed (nvcc --no-compress)");
      const std::size_t name_at = read<std::uint32_t>(at + 32), name_bytes = read<std::uint32_t>(at + 36);
      if (name_at + name_bytes > header) throw std::logic_error("a binary of an unknown form was registered");
      return {name_of({reinterpret_cast<const char*>(at + name_at), name_bytes}), ptx};
    }
    at += header + bytes;
  }
  throw std::logic_error("an object without PTX was registered");
}

std::shared_ptr<const simt::ptx::Module> parsed(const RegisteredModule& m) {
  simt::ptx::Module module = simt::ptx::parse(m.text, m.name);
  const std::string_view tree = ASSAY_TREE;  // messages name files relative to it
  for (auto& [number, file] : module.files) {
    file = std::filesystem::path(file).lexically_normal();
    if (file.starts_with(tree)) file.erase(0, tree.size());
  }
  return std::make_shared<const simt::ptx::Module>(std::move(module));
}

std::shared_ptr<const simt::ptx::Program> program_of(const Entry& e) {
  Binary& b = *e.binary;
  std::shared_ptr<const simt::ptx::Program>& program = b.programs[e.name];
  if (program) return program;
  try {
    if (!b.module) b.module = parsed(b.is);
    const simt::ptx::Function* entry = b.module->find(e.name);
    if (!entry) throw std::logic_error("the PTX lacks the entry '" + e.name + "'");
    program = simt::ptx::decode(b.module, *entry);
  } catch (const simt::ptx::Refused& why) {
    throw CannotRun(why.what());
  }
  return program;
}

int launch(const void* function, const Configuration& c, void** arguments) {
  const auto at = state().entries.find(function);
  if (at == state().entries.end()) return kInvalidSymbol;
  if (c.shared > at->second.granted) return kInvalidValue;
  const std::shared_ptr<const simt::ptx::Program> program = program_of(at->second);
  auto& launched = state().launched;
  if (std::find(launched.begin(), launched.end(), program) == launched.end()) launched.push_back(program);
  std::vector<std::byte> bytes(program->parameter_bytes);
  for (std::size_t k = 0; k < program->parameter_at.size(); ++k)
    std::memcpy(bytes.data() + program->parameter_at[k], arguments[k], program->function.parameters[k].bytes);
  simt::ptx::launch(*program, {c.grid, c.block, c.shared, c.dependent}, c.stream, bytes);
  return kSuccess;
}

}  // namespace

std::vector<std::shared_ptr<const simt::ptx::Program>> launched() { return std::exchange(state().launched, {}); }

std::vector<RegisteredModule> modules() {
  std::vector<RegisteredModule> all;
  for (const Binary& b : state().binaries) all.push_back(b.is);
  return all;
}

// The functions by the names and types that nvcc's host code calls.
extern "C" {

void** __cudaRegisterFatBinary(const void* wrapper) {
  const unsigned char* binary = read<const unsigned char*>(static_cast<const unsigned char*>(wrapper) + 8);
  return reinterpret_cast<void**>(&state().binaries.emplace_back(Binary{.is = module_in(binary)}));
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 1; }
void __cudaRegisterFunction(void** handle, const void* function, char*, const char* name, int, void*, void*, void*, void*, int*) {
  state().entries[function] = {reinterpret_cast<Binary*>(handle), name};
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, void* stream) {
  state().configurations.push_back({grid, block, shared, stream});
  return 0;
}
int __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  if (state().configurations.empty()) return kInvalidConfiguration;
  const Configuration c = state().configurations.back();
  state().configurations.pop_back();
  *grid = c.grid;
  *block = c.block;
  *shared = c.shared;
  *static_cast<void**>(stream) = c.stream;
  return kSuccess;
}
int __cudaGetKernel(const void** kernel, const void* function) {
  *kernel = function;
  return state().entries.contains(function) ? kSuccess : kInvalidSymbol;
}
int __cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared, void* stream) {
  return launch(kernel, {grid, block, shared, stream}, arguments);
}
int cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared, void* stream) {
  return launch(function, {grid, block, shared, stream}, arguments);
}
struct LaunchAttribute {  // as cudaLaunchAttribute is laid out
  int id, padding;
  std::int64_t value[8];
};
struct LaunchConfiguration {  // as cudaLaunchConfig_t is
  dim3 grid, block;
  std::size_t shared;
  void* stream;
  const LaunchAttribute* attributes;
  unsigned count;
};
int cudaLaunchKernelExC(const LaunchConfiguration* c, const void* function, void** arguments) {
  constexpr int kProgrammaticStreamSerialization = 6;
  bool dependent = false;
  for (unsigned i = 0; i < c->count; ++i) {
    if (c->attributes[i].id != kProgrammaticStreamSerialization) return kNotSupported;
    dependent = static_cast<int>(c->attributes[i].value[0]) != 0;
  }
  return launch(function, {c->grid, c->block, c->shared, c->stream, dependent}, arguments);
}
int cudaFuncSetAttribute(const void* function, int attribute, int value) {
  constexpr int kMaxDynamicSharedMemorySize = 8;
  const auto at = state().entries.find(function);
  if (at == state().entries.end()) return kInvalidSymbol;
  if (attribute == kMaxDynamicSharedMemorySize) at->second.granted = static_cast<std::size_t>(std::max(value, 0));
  return kSuccess;
}

const char* cudaGetErrorName(int code) {
  switch (code) {
    case kSuccess: return "cudaSuccess";
    case kInvalidValue: return "cudaErrorInvalidValue";
    case kInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case kInvalidSymbol: return "cudaErrorInvalidDeviceFunction";
    case kNotSupported: return "cudaErrorNotSupported";
    default: return "unknown";
  }
}
const char* cudaGetErrorString(int code) {
  switch (code) {
    case kSuccess: return "no error";
    case kInvalidValue: return "invalid argument";
    case kInvalidConfiguration: return "invalid configuration argument";
    case kInvalidSymbol: return "invalid device function";
    case kNotSupported: return "operation not supported";
    default: return "unrecognized error code";
  }
}

int cudaGetDevice(int* device) {
  *device = 0;
  return kSuccess;
}
int cudaDeviceGetAttribute(int* value, int attribute, int) {
  constexpr int kMultiProcessorCount = 16, kComputeCapabilityMajor = 75;
  if (attribute != kMultiProcessorCount && attribute != kComputeCapabilityMajor) return kNotSupported;
  *value = attribute == kComputeCapabilityMajor ? 9 : 2;  // 2: so that a block takes several tiles
  return kSuccess;
}
// Fills a CUtensorMap with the machine's own form of it.
static int encode_tiled(void* map, unsigned type, unsigned rank, const void* data, const std::uint64_t* extents,
                        const std::uint64_t* strides, const std::uint32_t* box, const std::uint32_t*, int, int swizzle, int,
                        int) {
  constexpr unsigned kFloat32 = 7;  // of CUtensorMapDataType; our kernels give it, f16 and bf16
  std::int64_t of_extents[5] = {}, bytes[5] = {};
  int of_box[5] = {};
  for (unsigned d = 0; d < rank; ++d) {
    of_extents[d] = static_cast<std::int64_t>(extents[d]);
    of_box[d] = static_cast<int>(box[d]);
    if (d + 1 < rank) bytes[d] = static_cast<std::int64_t>(strides[d]);
  }
  const simt::device::TensorMap made =
      simt::detail::make_tensor_map(data, type == kFloat32 ? 4 : 2, type == kFloat32, of_extents, bytes, of_box,
                                    static_cast<int>(rank), static_cast<simt::device::Swizzle>(swizzle));
  static_assert(sizeof made <= 128, "the size of a CUtensorMap");
  std::memcpy(map, &made, sizeof made);
  return kSuccess;
}
int cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long, int*) {
  const bool known = std::string_view(name) == "cuTensorMapEncodeTiled";
  *function = known ? reinterpret_cast<void*>(encode_tiled) : nullptr;
  return known ? kSuccess : kNotSupported;
}

}  // extern "C"

}  // namespace assay::cudart
