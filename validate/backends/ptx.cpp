// SPDX-License-Identifier: Apache-2.0
#include "validate/backends/ptx.hpp"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <span>

#include "simt/ptx/ptx.hpp"
#include "simt/tensor_copy.hpp"
#include "validate/backends/cuda_ptx.hpp"
#include "validate/backends/launch_file.hpp"
#include "validate/backends/runtime/fidelity_text.hpp"
#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/problem/numerics/numerics_text.hpp"
#include "validate/worker/plugin.hpp"

namespace assay {

namespace {

// A loaded kernel.  The worker sees its functions, which find it again in AssayKernel::user.
struct PtxKernel {
  AssayKernel plugin{};
  LaunchFile file;
  std::vector<std::map<std::string, std::shared_ptr<const simt::ptx::Program>>> programs{};  // by launch and dtype; on simt
  std::string text{};                                                                        // of the module; on a GPU
  std::unique_ptr<cuda::PtxModule> on_gpu{};                                                 // compiled at the first case
};

const AssayCall& ptx_call(const void* args) { return static_cast<const PluginCall*>(args)->call(); }
const PtxKernel& ptx_kernel(const AssayCall& call) { return *static_cast<const PtxKernel*>(call.kernel->user); }

// Writes a tensor map for simt.
void encode_on_simt(const MappedTensor& t, std::byte* map) {
  using simt::device::Swizzle;
  const Swizzle swizzle = t.swizzle == 128  ? Swizzle::by_128
                          : t.swizzle == 64 ? Swizzle::by_64
                          : t.swizzle == 32 ? Swizzle::by_32
                                            : Swizzle::none;
  const auto m = simt::detail::make_tensor_map(t.data, t.element_bytes, t.element == MappedTensor::Element::single, t.extents,
                                               t.strides_bytes, t.box, t.rank, swizzle);
  std::memcpy(map, &m, sizeof m);
}

using EncodeMap = void (*)(const MappedTensor&, std::byte*);

void append(std::byte* at, const LaunchParameter::Member& m, const LaunchFile& file, const AssayCall& call, EncodeMap encode) {
  using Kind = LaunchParameter::Kind;
  const auto put = [&](auto v) { std::memcpy(at, &v, sizeof v); };
  switch (m.kind) {
    case Kind::pointer: return put(call.tensors[m.tensor] ? call.tensors[m.tensor]->dl.data : nullptr);
    case Kind::workspace: return put(static_cast<std::byte*>(call.workspace) + m.expression.whole(*file.op, call));
    case Kind::word: return put(static_cast<std::int32_t>(m.expression.whole(*file.op, call)));
    case Kind::wide: return put(m.expression.whole(*file.op, call));
    case Kind::single: return put(static_cast<float>(m.expression.value(*file.op, call)));
    case Kind::map: return encode(mapped(m, call), at);
  }
}

// Writes a parameter's bytes, with the padding of a struct.
void write_parameter(std::byte* at, const LaunchParameter& parameter, const LaunchFile& file, const AssayCall& call,
                     EncodeMap encode) {
  std::size_t offset = 0;
  for (const LaunchParameter::Member& m : parameter.members) {
    offset = (offset + m.bytes() - 1) / m.bytes() * m.bytes();
    append(at + offset, m, file, call, encode);
    offset += m.bytes();
  }
}

unsigned extent(const Expression& e, const FileLaunch& l, const LaunchFile& file, const AssayCall& call) {
  const std::int64_t n = e.whole(*file.op, call);
  if (n < 0 || n > 0x7fffffff)
    throw std::runtime_error(fmt::format("{}: '{}' is {}, which is no extent of a launch", l.where, e.text(), n));
  return static_cast<unsigned>(n);
}

// The extents of a launch; a grid of no blocks, of a case without elements, is not launched.
cuda::EntryLaunch shape_of(const FileLaunch& l, const LaunchFile& file, const AssayCall& call) {
  cuda::EntryLaunch shape{};
  for (std::size_t i = 0; i < 3; ++i) {
    shape.grid[i] = extent(l.grid[i], l, file, call);
    shape.block[i] = extent(l.block[i], l, file, call);
  }
  shape.dynamic_shared = extent(l.shared, l, file, call);
  shape.dependent = l.dependent;
  return shape;
}
bool is_empty(const cuda::EntryLaunch& shape) { return shape.grid[0] == 0 || shape.grid[1] == 0 || shape.grid[2] == 0; }

void run_on_simt(const void* args, const Launch& launch) {
  AssayCall call = ptx_call(args);
  call.workspace = launch.workspace;
  const PtxKernel& k = ptx_kernel(call);
  for (std::size_t i = 0; i < k.file.launches.size(); ++i) {
    const FileLaunch& l = k.file.launches[i];
    const simt::ptx::Program& program = *k.programs[i].at(call.dtype);
    const cuda::EntryLaunch s = shape_of(l, k.file, call);
    if (is_empty(s)) continue;
    std::vector<std::byte> bytes(program.parameter_bytes);
    for (std::size_t p = 0; p < l.parameters.size(); ++p)
      write_parameter(bytes.data() + program.parameter_at[p], l.parameters[p], k.file, call, encode_on_simt);
    const simt::ptx::Shape shape{
        {s.grid[0], s.grid[1], s.grid[2]}, {s.block[0], s.block[1], s.block[2]}, s.dynamic_shared, s.dependent};
    simt::ptx::launch(program, shape, launch.stream, bytes);
  }
}

void run_on_gpu(const void* args, const Launch& launch) {
  AssayCall call = ptx_call(args);
  call.workspace = launch.workspace;
  const PtxKernel& k = ptx_kernel(call);
  for (const FileLaunch& l : k.file.launches) {
    cuda::EntryLaunch shape = shape_of(l, k.file, call);
    shape.stream = launch.stream;
    if (is_empty(shape)) continue;
    std::vector<std::vector<std::byte>> bytes;
    std::vector<void*> parameters;
    for (const LaunchParameter& parameter : l.parameters) {
      write_parameter(bytes.emplace_back(parameter.bytes()).data(), parameter, k.file, call, cuda::encode_map);
      parameters.push_back(bytes.back().data());
    }
    k.on_gpu->launch(l.entries.at(call.dtype), shape, parameters);
  }
}

Legality ptx_supports(const void* args) {
  const AssayCall& call = ptx_call(args);
  const PtxKernel& k = ptx_kernel(call);
  for (const Expression& e : k.file.supports)
    if (e.value(*k.file.op, call) == 0) return Legality::no(fmt::format("the launch file asks for {}", e.text()));
  return Legality::yes();
}

// Note: the module is compiled here, before a launch, which may be captured into a graph.
Legality gpu_supports(const void* args) {
  auto& k = *static_cast<PtxKernel*>(ptx_call(args).kernel->user);
  if (!k.on_gpu) k.on_gpu = std::make_unique<cuda::PtxModule>(k.text);
  return ptx_supports(args);
}

std::size_t ptx_workspace(const void* args) {
  const AssayCall& call = ptx_call(args);
  const PtxKernel& k = ptx_kernel(call);
  return static_cast<std::size_t>(std::max<std::int64_t>(k.file.workspace.whole(*k.file.op, call), 0));
}

// The entry of a launch, whose parameters are those of the file.
const simt::ptx::Function& entry_of(const simt::ptx::Module& module, const FileLaunch& l, const std::string& name) {
  const simt::ptx::Function* entry = module.find(name);
  if (!entry || !entry->entry) {
    Names names;
    for (const auto& f : module.functions)
      if (f->entry) names.push_back(f->name);
    throw BadInput(fmt::format("{}/entry: {}", l.where, unknown("entry", name, names)));
  }
  if (entry->parameters.size() != l.parameters.size())
    throw BadInput(fmt::format("{}/parameters: '{}' takes {} parameters, and {} are given", l.where, name,
                               entry->parameters.size(), l.parameters.size()));
  for (std::size_t k = 0; k < l.parameters.size(); ++k)
    if (entry->parameters[k].bytes != l.parameters[k].bytes())
      throw BadInput(fmt::format("{}/parameters/{}: '{}' takes {} bytes there, and {} are given", l.where, k, name,
                                 entry->parameters[k].bytes, l.parameters[k].bytes()));
  return *entry;
}

// Decodes the entries, and says in words on which fidelity the kernel rests.
std::string decode_entries(PtxKernel& kernel, const std::shared_ptr<const simt::ptx::Module>& module) {
  std::vector<std::shared_ptr<const simt::ptx::Program>> all;
  for (const FileLaunch& l : kernel.file.launches) {
    kernel.programs.emplace_back();
    for (const auto& [dtype, name] : l.entries)
      all.push_back(kernel.programs.back()[dtype] = simt::ptx::decode(module, entry_of(*module, l, name)));
  }
  return fidelity_text(all, numerics_from(kernel.file.kernel.numerics, kernel.file.kernel.op));
}

}  // namespace

void use_ptx(const std::string& module_path, const std::string& launch_path, std::string_view backend) {
  static PtxKernel kernel;
  kernel.file = read_launch_file(launch_path);
  static ListedKernel listed = kernel.file.kernel;
  const bool on_simt = backend == "simt";
  std::string why;
  const auto text = read_file(module_path, why);
  if (!text) throw BadInput(fmt::format("{}: {}", module_path, why));
  try {
    const auto module = std::make_shared<const simt::ptx::Module>(simt::ptx::parse(*text, module_path));
    if (on_simt) listed.fidelity = decode_entries(kernel, module);
    for (const FileLaunch& l : kernel.file.launches)
      for (const auto& [dtype, name] : l.entries) entry_of(*module, l, name);
  } catch (const simt::ptx::Refused& e) {
    throw BadInput(e.what());
  }
  listed.code = text_hash(*text + kernel.file.text);
  if (!on_simt) kernel.text = *text;
  static std::vector<ListedKernel> list{listed};
  std::vector<Kernel> all = kernels_of(list);
  kernel.plugin.size = sizeof(AssayKernel);
  kernel.plugin.user = &kernel;
  Kernel& k = all[0];
  k.plugin = &kernel.plugin;
  k.available = [] { return Legality::yes(); };
  k.supports = on_simt ? ptx_supports : gpu_supports;
  k.workspace_bytes = ptx_workspace;
  (on_simt ? k.on_simt : k.on_gpu) = on_simt ? run_on_simt : run_on_gpu;
  use_kernels(std::move(all));
}

}  // namespace assay
