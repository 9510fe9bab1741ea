// SPDX-License-Identifier: Apache-2.0
#include "validate/worker/sandbox.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "validate/base/error.hpp"
#include "validate/worker/asked_calls.hpp"

namespace assay {

namespace {

// In the environment of a worker: "off" if it has no sandbox, "on" if a program has the network.
constexpr const char *kSwitch = "ASSAY_SANDBOX", *kNetwork = "ASSAY_NETWORK";

bool is(const char* variable, std::string_view value) {
  const char* given = std::getenv(variable);
  return given && given == value;
}

// --- Landlock, by its system calls, since the headers of older systems lack it --------------------------------------
struct Ruleset {
  std::uint64_t files, network, scoped;
};
struct __attribute__((packed)) Beneath {
  std::uint64_t allowed;
  std::int32_t folder;
};
constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
constexpr std::uint64_t kWriteFile = 1 << 1, kRemoveAndMake = 0x1ff0, kRefer = 1 << 13, kTruncate = 1 << 14,
                        kControlDevice = 1 << 15;
constexpr std::uint64_t kScopeSockets = 1 << 0, kScopeSignals = 1 << 1;

int landlock_version() {
  const long version = ::syscall(kCreateRuleset, nullptr, 0, 1);
  return version < 0 ? 0 : static_cast<int>(version);
}
bool has_scopes() { return landlock_version() >= 6; }

std::uint64_t changes_of_files() {
  const int version = landlock_version();
  return kWriteFile | kRemoveAndMake | (version >= 2 ? kRefer : 0) | (version >= 3 ? kTruncate : 0) |
         (version >= 5 ? kControlDevice : 0);
}

void allow(int ruleset, const char* path, std::uint64_t what) {
  const Beneath rule{what, ::open(path, O_PATH | O_CLOEXEC)};
  if (rule.folder < 0) return;
  ::syscall(kAddRule, ruleset, 1, &rule, 0);
  ::close(rule.folder);
}

// `names_threads`: whether this process may name its threads by itself.
bool lock_land(Confined how, const std::string& folder, bool names_threads) {
  const std::uint64_t all = changes_of_files();
  Ruleset rules{all, 0, has_scopes() ? kScopeSignals | kScopeSockets : 0};
  const std::size_t known = has_scopes() ? sizeof rules : sizeof rules.files;
  const int ruleset = static_cast<int>(::syscall(kCreateRuleset, &rules, known, 0));
  if (ruleset < 0) return false;
  const std::uint64_t write = all & (kWriteFile | kTruncate | kControlDevice);
  allow(ruleset, "/dev/null", write);
  if (how == Confined::program) {
    for (const char* device : {"/dev/zero", "/dev/full"}) allow(ruleset, device, write);
    if (!folder.empty()) allow(ruleset, folder.c_str(), all);
    // CUDA names its threads, and does not start without.  Note: a program that a shell starts as its child has another folder of
    // its own, which does not exist yet; so the judge gives it the names where it can (AskedCalls).
    if (names_threads) allow(ruleset, "/proc/self/task", write);
    for (const char* device : {"/dev/dri", "/dev/dxg", "/dev/nvmap"}) allow(ruleset, device, write);
    glob_t nodes{};
    for (const char* devices : {"/dev/nvidia*", "/dev/nvhost*"})
      if (::glob(devices, 0, nullptr, &nodes) == 0) {
        for (std::size_t i = 0; i < nodes.gl_pathc; ++i) allow(ruleset, nodes.gl_pathv[i], write);
        ::globfree(&nodes);
      }
  }
  const bool locked = ::syscall(kRestrictSelf, ruleset, 0) == 0;
  ::close(ruleset);
  return locked;
}

// --- Rights of root, beside those over files: no worker needs them -----------------------------------------------------
void drop_capabilities() {
  constexpr std::uint32_t kKept = 1u << CAP_CHOWN | 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH | 1u << CAP_FOWNER |
                                  1u << CAP_FSETID | 1u << CAP_SETGID | 1u << CAP_SETUID | 1u << CAP_IPC_LOCK;
  for (unsigned long right = 0; right < 64; ++right)
    if (right >= 32 || !(kKept >> right & 1)) ::prctl(PR_CAPBSET_DROP, right, 0, 0, 0);
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct rights[2] = {};
  if (::syscall(SYS_capget, &head, rights) != 0) return;
  rights[1] = {};
  for (std::uint32_t* const of : {&rights[0].effective, &rights[0].permitted, &rights[0].inheritable}) *of &= kKept;
  ::syscall(SYS_capset, &head, rights);
}

// Why no worker is confined here; empty if it is.
std::string why_off() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return "this build has sanitizers";
#endif
  if (is(kSwitch, "off")) return "--no-sandbox";
  const char* preloaded = std::getenv("LD_PRELOAD");
  const std::string_view library = preloaded ? preloaded : "";
  if (std::getenv("CUDA_INJECTION64_PATH") || library.find("njection") != library.npos ||
      library.find("sanitizer") != library.npos)
    return "a profiler or sanitizer is attached";
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("TracerPid:") && line.find_first_of("123456789") != line.npos) return "a debugger is attached";
  if (landlock_version() == 0 && !has_seccomp()) return "the system has neither Landlock nor seccomp";
  return {};
}

}  // namespace

Confined confined_on(const std::string& backend) { return backend == "cuda" ? Confined::program : Confined::kernels; }

std::string sandbox_text(Confined how) {
  if (const std::string why = why_off(); !why.empty()) return "off: " + why;
  const int version = landlock_version();
  if (how == Confined::program && version == 0) return "off: the system has no Landlock";
  std::string text = version ? fmt::format("landlock {}", version) : "";
  if (has_seccomp()) text += text.empty() ? "seccomp" : ", seccomp";
  return how == Confined::program && is(kNetwork, "on") ? text + ", with network" : text;
}

bool confine(Confined how, const std::string& folder) {
  if (sandbox_text(how).starts_with("off")) return true;
  const int version = landlock_version();
  drop_capabilities();
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  const LeftToFilter left{.signals = !has_scopes(), .writing = version == 0, .network = !is(kNetwork, "on")};
  const Filtered filtered = has_seccomp() ? filter_calls(how, left) : Filtered::alone;
  if (filtered == Filtered::not_at_all) return false;
  // Note: from scope 2 on, the judge may not read which file a worker names.
  int scope = 0;
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
  return version == 0 || lock_land(how, folder, filtered != Filtered::by_judge || scope >= 2);
}

void leave_out_sandbox() { ::setenv(kSwitch, "off", 1); }

void give_network() { ::setenv(kNetwork, "on", 1); }

// --- What a worker gets of the environment ------------------------------------------------------------------------------
namespace {

std::vector<std::string> passed_by_name;

// Names, and beginnings of names, of what finds programs and libraries, and tells them how to work.
constexpr std::string_view kVariables[] = {
    "PATH",         "HOME",       "USER",   "LOGNAME",        "SHELL", "PWD", "TERM",  "NO_COLOR",       "LANG",
    "LANGUAGE",     "TZ",         "TMPDIR", "XDG_CACHE_HOME", "CC",    "CXX", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH", "VIRTUAL_ENV"};
constexpr std::string_view kBeginnings[] = {
    "ASSAY_",  "LC_",   "LD_",      "GLIBC_",  "MALLOC_", "PYTHON", "PYENV_", "CONDA_", "MAMBA_",    "CUDA_", "CUDNN_",
    "CUBLAS",  "NVCC_", "NVRTC_",   "NVIDIA_", "NCCL_",   "NVPL_",  "OMP_",   "GOMP_",  "KMP_",      "MKL_",  "OPENBLAS_",
    "TRITON_", "TORCH", "PYTORCH_", "NUMBA_",  "CUPY_",   "JAX_",   "XLA_",   "TVM_",   "TILELANG_", "CUTE_", "CUTLASS_"};
// Parts of names of what nobody else should read, such as NVIDIA_API_KEY.
constexpr std::string_view kSecrets[] = {"KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH"};

}  // namespace

bool is_passed(std::string_view variable) {
  if (std::ranges::find(passed_by_name, variable) != passed_by_name.end()) return true;
  if (std::ranges::find(kVariables, variable) != std::end(kVariables)) return true;
  const auto holds = [&](std::string_view part) { return variable.find(part) != variable.npos; };
  return std::ranges::any_of(kBeginnings, [&](std::string_view text) { return variable.starts_with(text); }) &&
         std::ranges::none_of(kSecrets, holds);
}

void pass_on(const std::string& variable) {
  if (variable.empty() || variable.find('=') != variable.npos)
    throw BadInput(fmt::format("--pass-env: '{}' is no name of a variable", variable));
  if (!std::getenv(variable.c_str())) throw BadInput(fmt::format("--pass-env: the environment has no '{}'", variable));
  passed_by_name.push_back(variable);
}

}  // namespace assay
