// SPDX-License-Identifier: Apache-2.0
#include "validate/worker/plugin.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <span>
#include <sstream>

#include "validate/base/error.hpp"

namespace assay {

namespace {

// Sizes of the structs in version 1 of the interface.  A plugin of a later one may have larger structs.
constexpr std::size_t kKernelBytes = offsetof(AssayKernel, run) + sizeof(AssayKernel::run);
constexpr std::size_t kPluginBytes = offsetof(AssayPlugin, kernels) + sizeof(AssayPlugin::kernels);

const AssayCall& call_of(const void* args) { return static_cast<const PluginCall*>(args)->call(); }

// Calls a plugin's function.  No exception but a std::exception leaves it.  Note: that memory has run out may be the machine's
// fault, which the worker decides.
template <class Work>
auto guarded(const char* function, Work work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    throw std::runtime_error(fmt::format("{}() threw: {}", function, e.what()));
  } catch (...) {
    throw std::runtime_error(fmt::format("{}() threw what is no std::exception", function));
  }
}

Legality supports(const void* args) {
  const AssayCall& call = call_of(args);
  if (!call.kernel->supports) return Legality::yes();
  const char* why = guarded("supports", [&] { return call.kernel->supports(&call); });
  return why ? Legality::no(*why ? why : "the plugin gives no reason") : Legality::yes();
}

std::size_t workspace_bytes(const void* args) {
  const AssayCall& call = call_of(args);
  return call.kernel->workspace_bytes ? guarded("workspace_bytes", [&] { return call.kernel->workspace_bytes(&call); }) : 0;
}

void run(const void* args, const Launch& l) {
  AssayCall call = call_of(args);
  call.stream = l.stream;
  call.workspace = l.workspace;
  if (const int error = guarded("run", [&] { return call.kernel->run(&call); }))
    throw std::runtime_error(fmt::format("run() returned the error {}", error));
}

// FNV-1a (Fowler, Noll, Vo): the hash of no text, and that of a text with more behind it.
constexpr std::uint64_t kNothing = 0xcbf29ce484222325;
std::uint64_t hashed(std::uint64_t hash, std::string_view more) {
  for (const char c : more) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// Whether dlopen() found no memory, which the C library tells in its text alone.  Note: where no file may be executed it cannot
// map one either.
bool lacked_memory(std::string_view why, const std::string& path) {
  struct statvfs on {};
  if (::statvfs(path.c_str(), &on) == 0 && (on.f_flag & ST_NOEXEC)) return false;
  for (const std::string_view text :
       {std::string_view(std::strerror(ENOMEM)), std::string_view("out of memory"),
        std::string_view("failed to map segment from shared object"), std::string_view("cannot map zero-fill pages")})
    if (why.ends_with(text)) return true;
  return false;
}

std::string text_or(const char* text, const char* otherwise) { return text ? text : otherwise; }

// "rows=4 cols=512B"
void read_tiles(const std::string& text, ListedKernel& list) {
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    const std::size_t equals = std::min(word.find('='), word.size());
    const bool of_bytes = word.ends_with('B');
    std::istringstream number(equals < word.size() ? word.substr(equals + 1, word.size() - equals - 1 - of_bytes) : "");
    std::int64_t extent = 0;
    if (!(number >> extent) || !number.eof())
      throw BadInput(fmt::format("'{}' is no tile; AXIS=EXTENT or AXIS=BYTESB was expected", word.substr(0, 80)));
    (of_bytes ? list.tile_bytes : list.tiles)[word.substr(0, equals)] = extent;
  }
}

ListedKernel listed(const AssayKernel* k, int index, const std::string& code) {
  if (!k) throw BadInput(fmt::format("its kernel {} is null", index));
  if (k->size < kKernelBytes)
    throw BadInput(fmt::format("its kernel {} has the size {}, at least {} was expected", index, k->size, kKernelBytes));
  if (!k->run) throw BadInput(fmt::format("its kernel {} has no run()", index));
  ListedKernel list{.op = text_or(k->op, ""),
                    .name = text_or(k->name, ""),
                    .about = text_or(k->about, ""),
                    .code = code,
                    .numerics = text_or(k->numerics, ""),
                    .dtypes = {},
                    .tiles = {}};
  read_tiles(text_or(k->tiles, ""), list);
  std::istringstream dtypes(text_or(k->dtypes, ""));
  list.dtypes.assign(std::istream_iterator<std::string>(dtypes), {});
  list.deterministic = !(k->flags & ASSAY_NONDETERMINISTIC);
  list.finite_inputs = k->flags & ASSAY_FINITE_INPUTS;
  list.position_matters = k->flags & ASSAY_POSITION_MATTERS;
  return list;
}

}  // namespace

PluginCall::PluginCall(const Op& op, const Kernel& kernel, const Order& order, std::span<Tensor* const> tensors, int device_type)
    : dtype_(name(order.dtype)) {
  names_.reserve(op.tensors.size() + op.attributes.size());
  words_.reserve(op.attributes.size());
  tensors_.reserve(op.tensors.size());
  attributes_.reserve(op.attributes.size());
  for (std::size_t i = 0; i < op.tensors.size(); ++i) {
    Tensor& t = *tensors[i];
    names_.emplace_back(op.tensors[i].name);
    tensors_.push_back({.size = sizeof(AssayTensor),
                        .name = names_.back().c_str(),
                        .dl = {.data = t.data,
                               .device_type = device_type,
                               .device_id = 0,
                               .ndim = t.rank,
                               .dtype_code = info(t.dtype).dlpack,
                               .dtype_bits = static_cast<std::uint8_t>(8 * size_of(t.dtype)),
                               .dtype_lanes = 1,
                               .shape = t.shape.data(),
                               .strides = t.stride.data(),
                               .byte_offset = 0}});
    tensor_list_.push_back(t.rank ? &tensors_.back() : nullptr);
  }
  for (const Attribute& a : op.attributes) {
    const auto given = order.attributes.find(std::string(a.name));
    const auto* word = given == order.attributes.end() ? nullptr : std::get_if<std::string>(&given->second);
    const auto* number = given == order.attributes.end() ? nullptr : std::get_if<double>(&given->second);
    names_.emplace_back(a.name);
    attributes_.push_back({.size = sizeof(AssayAttribute),
                           .name = names_.back().c_str(),
                           .word = nullptr,
                           .number = number ? *number : a.standard});
    if (!a.choices.empty()) {
      words_.push_back(word ? *word : text_of(a, a.standard));
      attributes_.back().word = words_.back().c_str();
    }
    attribute_list_.push_back(&attributes_.back());
  }
  call_ = {.size = sizeof(AssayCall),
           .kernel = kernel.plugin,
           .dtype = dtype_.c_str(),
           .tensor_count = static_cast<std::int32_t>(tensor_list_.size()),
           .attribute_count = static_cast<std::int32_t>(attribute_list_.size()),
           .tensors = tensor_list_.data(),
           .attributes = attribute_list_.data(),
           .stream = nullptr,
           .workspace = nullptr};
}

std::string text_hash(std::string_view text) { return fmt::format("{:016x}", hashed(kNothing, text)); }

std::string file_hash(const std::string& path) {
  std::uint64_t hash = kNothing;
  std::ifstream file(path, std::ios::binary);
  std::vector<char> block(1 << 20);
  while (file) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    hash = hashed(hash, {block.data(), static_cast<std::size_t>(file.gcount())});
  }
  return fmt::format("{:016x}", hash);
}

void use_plugin(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) throw BadInput("there is no such file");
  const std::string code = file_hash(path);
  // An absolute path, since dlopen() looks for a bare name elsewhere.
  void* object = ::dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!object) {
    const char* said = ::dlerror();
    const std::string why = said ? said : "no reason is given";
    if (lacked_memory(why, path)) throw std::bad_alloc();  // which is no fault of the plugin
    throw BadInput("it cannot be opened as a shared object: " + why);
  }
  const auto entry = reinterpret_cast<decltype(&assay_plugin)>(::dlsym(object, "assay_plugin"));
  if (!entry) throw BadInput("it exports no function assay_plugin()  (include/assay.h)");
  const AssayPlugin* plugin = guarded("assay_plugin", [&] { return entry(ASSAY_ABI_VERSION); });
  if (!plugin) throw BadInput(fmt::format("its assay_plugin({}) returns null", ASSAY_ABI_VERSION));
  if (plugin->size < kPluginBytes)
    throw BadInput(fmt::format("its AssayPlugin has the size {}, at least {} was expected", plugin->size, kPluginBytes));
  if (plugin->abi_version != ASSAY_ABI_VERSION)
    throw BadInput(
        fmt::format("it has version {} of the interface, version {} was expected", plugin->abi_version, ASSAY_ABI_VERSION));
  static std::vector<ListedKernel> list;
  for (int i = 0; plugin->kernels && i < plugin->kernel_count; ++i) list.push_back(listed(plugin->kernels[i], i, code));
  std::vector<Kernel> all = kernels_of(list);
  for (std::size_t i = 0; i < all.size(); ++i) {
    Kernel& k = all[i];
    k.plugin = plugin->kernels[i];
    k.available = [] { return Legality::yes(); };
    k.supports = supports;
    k.workspace_bytes = workspace_bytes;
    k.on_host = k.on_gpu = run;
  }
  use_kernels(std::move(all));
}

}  // namespace assay
