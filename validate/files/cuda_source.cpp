// SPDX-License-Identifier: Apache-2.0
#include "validate/files/cuda_source.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "validate/base/child.hpp"
#include "validate/base/error.hpp"
#include "validate/base/input.hpp"

namespace assay {

namespace {

namespace fs = std::filesystem;
constexpr const char* kVariable = "ASSAY_NVRTC";

// A folder that is removed when this process ends.
class Folder {
 public:
  Folder() {
    const char* const set = std::getenv("TMPDIR");
    path_ = fmt::format("{}/assay-cu-XXXXXX", set && *set ? set : "/tmp");
    if (!::mkdtemp(path_.data()))
      throw BadInput(fmt::format("--cu: no folder can be made in '{}'", fs::path(path_).parent_path().string()));
  }
  ~Folder() { remove(); }
  void remove() noexcept {
    std::error_code ignored;
    if (owner_ == ::getpid()) fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  pid_t owner_ = ::getpid();  // Note: a forked process leaves it
};

Folder* the_folder = nullptr;  // once there is one

// The compiler's first error, on one line.
std::string first_error(const std::string& said) {
  std::string first;
  for (std::size_t at = 0; at < said.size();) {
    const std::size_t end = std::min(said.find('\n', at), said.size());
    const std::string line = said.substr(at, end - at);
    if (first.empty()) first = line;
    if (line.find("error") != line.npos) return line;
    at = end + 1;
  }
  return first.empty() ? "it does not say why" : first;
}

std::string on_path(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    const std::string full = fmt::format("{}/{}", folder, program);
    if (!folder.empty() && ::access(full.c_str(), X_OK) == 0) return full;
  }
  return "";
}

void by_nvcc(const std::string& nvcc, const std::string& source, const std::string& ptx) {
  std::string said;
  if (output_of({nvcc, "-O3", "-std=c++17", "-arch=sm_80", "-lineinfo", "-ptx", source, "-o", ptx}, said) != 0)
    throw BadInput(fmt::format("{}: nvcc refuses it: {}", source, first_error(said)));
}

// --- NVRTC, without its header.
struct Nvrtc {
  using Program = struct Opaque*;
  int (*create)(Program*, const char* text, const char* name, int headers, const char* const*, const char* const*);
  int (*compile)(Program, int count, const char* const* options);
  int (*ptx_size)(Program, std::size_t*);
  int (*ptx)(Program, char*);
  int (*log_size)(Program, std::size_t*);
  int (*log)(Program, char*);
  std::string include;  // the folder of its headers, where it is beside the library's
};

Nvrtc open_nvrtc(const std::string& source) {
  const char* const named = std::getenv(kVariable);
  const std::vector<std::string> names =
      named ? std::vector<std::string>{named} : std::vector<std::string>{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  void* library = nullptr;
  for (const std::string& name : names)
    if (!library) library = ::dlopen(name.c_str(), RTLD_NOW);
  if (!library)
    throw BadInput(named ? fmt::format("{} names '{}', which cannot be opened: {}", kVariable, named, ::dlerror())
                         : fmt::format("--cu {}: there is no nvcc on the PATH and no libnvrtc.so: 'pip install "
                                       "nvidia-cuda-nvrtc nvidia-cuda-runtime', "
                                       "and let {} name its libnvrtc.so",
                                       source, kVariable));
  Nvrtc n{};
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    if (!function)
      throw BadInput(fmt::format("{} is no NVRTC: it lacks {}",
                                 named ? fmt::format("{} names '{}', which", kVariable, named)
                                       : fmt::format("--cu {}: the library that was opened", source),
                                 name));
  };
  find(n.create, "nvrtcCreateProgram");
  find(n.compile, "nvrtcCompileProgram");
  find(n.ptx_size, "nvrtcGetPTXSize");
  find(n.ptx, "nvrtcGetPTX");
  find(n.log_size, "nvrtcGetProgramLogSize");
  find(n.log, "nvrtcGetProgramLog");
  Dl_info where{};
  if (::dladdr(reinterpret_cast<void*>(n.create), &where) && where.dli_fname)
    for (const char* folder : {"../include", "../../include", "../../../include"}) {
      const fs::path include = fs::path(where.dli_fname).parent_path() / folder;
      if (n.include.empty() && fs::exists(include / "cuda_fp16.h")) n.include = include.lexically_normal();
    }
  return n;
}

void by_nvrtc(const std::string& source, const std::string& ptx) {
  const Nvrtc n = open_nvrtc(source);
  std::string why;
  const auto text = read_file(source, why);
  if (!text) throw BadInput(fmt::format("{}: {}", source, why));
  std::vector<std::string> options{"--gpu-architecture=compute_80", "-lineinfo", "--std=c++17",
                                   "-DINFINITY=__int_as_float(0x7f800000)", "-DNAN=__int_as_float(0x7fffffff)"};
  options.push_back(fmt::format("-I{}", fs::absolute(source).parent_path().string()));
  if (!n.include.empty()) options.push_back(fmt::format("-I{}", n.include));
  std::vector<const char*> words;
  for (const std::string& o : options) words.push_back(o.c_str());
  Nvrtc::Program program = nullptr;
  std::size_t size = 0;
  if (n.create(&program, text->c_str(), source.c_str(), 0, nullptr, nullptr) != 0)
    throw BadInput(fmt::format("{}: NVRTC makes no program of it", source));
  if (n.compile(program, static_cast<int>(words.size()), words.data()) != 0) {
    n.log_size(program, &size);
    std::string log(size, '\0');
    n.log(program, log.data());
    throw BadInput(fmt::format("{}: NVRTC refuses it: {}", source, first_error(log.c_str())));
  }
  n.ptx_size(program, &size);
  std::string made(size, '\0');
  n.ptx(program, made.data());
  std::ofstream(ptx) << made.c_str();
}

}  // namespace

std::string ptx_of(const std::string& source) {
  if (::access(source.c_str(), R_OK) != 0) throw BadInput(fmt::format("{}: there is no such file that can be read", source));
  static Folder folder;
  the_folder = &folder;
  const std::string ptx = fmt::format("{}/{}.ptx", folder.path(), fs::path(source).stem().string());
  if (fs::exists(ptx)) return ptx;
  const std::string nvcc = std::getenv(kVariable) ? "" : on_path("nvcc");
  if (nvcc.empty()) by_nvrtc(source, ptx);
  else by_nvcc(nvcc, source, ptx);
  return ptx;
}

void remove_compiled() noexcept {
  if (the_folder) the_folder->remove();
}

}  // namespace assay
