// SPDX-License-Identifier: Apache-2.0
#include "validate/backends/ptx.hpp"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <span>

#include "simt/ptx/ptx.hpp"
#include "validate/backends/launch_file.hpp"
#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/worker/plugin.hpp"

namespace assay {

namespace {

// A loaded kernel.  The worker sees its functions, which find it again in AssayKernel::user.
struct PtxKernel {
  AssayKernel plugin{};
  LaunchFile file;
  std::vector<std::map<std::string, std::shared_ptr<const simt::ptx::Program>>> programs;  // by launch and dtype
};

const AssayCall& ptx_call(const void* args) { return static_cast<const PluginCall*>(args)->call(); }
const PtxKernel& ptx_kernel(const AssayCall& call) { return *static_cast<const PtxKernel*>(call.kernel->user); }

void append(std::vector<std::byte>& bytes, std::size_t at, const LaunchParameter::Member& m, const LaunchFile& file,
            const AssayCall& call) {
  using Kind = LaunchParameter::Kind;
  const auto put = [&](auto v) { std::memcpy(bytes.data() + at, &v, sizeof v); };
  switch (m.kind) {
    case Kind::pointer: return put(call.tensors[m.tensor] ? call.tensors[m.tensor]->dl.data : nullptr);
    case Kind::workspace: return put(static_cast<std::byte*>(call.workspace) + m.expression.whole(*file.op, call));
    case Kind::word: return put(static_cast<std::int32_t>(m.expression.whole(*file.op, call)));
    case Kind::wide: return put(m.expression.whole(*file.op, call));
    case Kind::single: return put(static_cast<float>(m.expression.value(*file.op, call)));
  }
}

std::vector<std::byte> parameter_bytes(const FileLaunch& l, const simt::ptx::Program& program, const LaunchFile& file,
                                       const AssayCall& call) {
  std::vector<std::byte> bytes(program.parameter_bytes);
  for (std::size_t k = 0; k < l.parameters.size(); ++k) {
    std::size_t at = program.parameter_at[k];
    for (const LaunchParameter::Member& m : l.parameters[k].members) {
      at = (at + m.bytes() - 1) / m.bytes() * m.bytes();
      append(bytes, at, m, file, call);
      at += m.bytes();
    }
  }
  return bytes;
}

void run_ptx(const void* args, const Launch& launch) {
  AssayCall call = ptx_call(args);
  call.workspace = launch.workspace;
  const PtxKernel& k = ptx_kernel(call);
  for (std::size_t i = 0; i < k.file.launches.size(); ++i) {
    const FileLaunch& l = k.file.launches[i];
    const simt::ptx::Program& program = *k.programs[i].at(call.dtype);
    const auto extent = [&](const Expression& e) {
      const std::int64_t n = e.whole(*k.file.op, call);
      if (n < 0 || n > 0x7fffffff)
        throw std::runtime_error(fmt::format("{}: '{}' is {}, which is no extent of a launch", l.where, e.text(), n));
      return static_cast<unsigned>(n);
    };
    const auto three = [&](const std::array<Expression, 3>& e) {
      return simt::device::dim3(extent(e[0]), extent(e[1]), extent(e[2]));
    };
    const std::vector<std::byte> parameters = parameter_bytes(l, program, k.file, call);
    const simt::ptx::Shape shape{three(l.grid), three(l.block), extent(l.shared)};
    if (shape.grid.x != 0 && shape.grid.y != 0 && shape.grid.z != 0)  // no elements: no launch
      simt::ptx::launch(program, shape, launch.stream, parameters);
  }
}

Legality ptx_supports(const void* args) {
  const AssayCall& call = ptx_call(args);
  const PtxKernel& k = ptx_kernel(call);
  for (const Expression& e : k.file.supports)
    if (e.value(*k.file.op, call) == 0) return Legality::no(fmt::format("the launch file asks for {}", e.text()));
  return Legality::yes();
}

std::size_t ptx_workspace(const void* args) {
  const AssayCall& call = ptx_call(args);
  const PtxKernel& k = ptx_kernel(call);
  return static_cast<std::size_t>(std::max<std::int64_t>(k.file.workspace.whole(*k.file.op, call), 0));
}

std::shared_ptr<const simt::ptx::Program> program_of(const std::shared_ptr<const simt::ptx::Module>& module, const FileLaunch& l,
                                                     const std::string& name) {
  const simt::ptx::Function* entry = module->find(name);
  if (!entry || !entry->entry) {
    Names names;
    for (const auto& f : module->functions)
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
  return simt::ptx::decode(module, *entry);
}

}  // namespace

void use_ptx(const std::string& module_path, const std::string& launch_path) {
  static PtxKernel kernel;
  kernel.file = read_launch_file(launch_path);
  std::string why;
  const auto text = read_file(module_path, why);
  if (!text) throw BadInput(fmt::format("{}: {}", module_path, why));
  try {
    const auto module = std::make_shared<const simt::ptx::Module>(simt::ptx::parse(*text, module_path));
    for (const FileLaunch& l : kernel.file.launches) {
      kernel.programs.emplace_back();
      for (const auto& [dtype, name] : l.entries) kernel.programs.back()[dtype] = program_of(module, l, name);
    }
  } catch (const simt::ptx::Refused& e) {
    throw BadInput(e.what());
  }
  static ListedKernel listed = kernel.file.kernel;
  listed.code = text_hash(*text + kernel.file.text);
  static std::vector<ListedKernel> list{listed};
  std::vector<Kernel> all = kernels_of(list);
  kernel.plugin.size = sizeof(AssayKernel), kernel.plugin.user = &kernel;
  Kernel& k = all[0];
  k.plugin = &kernel.plugin;
  k.available = [] { return Legality::yes(); };
  k.supports = ptx_supports, k.workspace_bytes = ptx_workspace;
  k.on_simt = run_ptx;
  use_kernels(std::move(all));
}

}  // namespace assay
