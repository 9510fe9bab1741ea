// SPDX-License-Identifier: Apache-2.0
// A plugin for the tests of --plugin.  Each of its kernels computes softmax and then misbehaves in its own way.  With
// ASSAY_HOSTILE_LIST or ASSAY_HOSTILE_OPENED in the environment, its list or its constructor does.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "include/assay.h"

namespace {

std::string_view asked(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

float* answer(const AssayCall* call) {
  const AssayDLTensor *x = assay_tensor(call, "x"), *y = assay_tensor(call, "y");
  auto* const to = static_cast<float*>(y->data);
  for (int64_t r = 0; r < x->shape[0]; ++r) {
    const float* const in = static_cast<const float*>(x->data) + r * x->strides[0];
    float* const out = to + r * y->strides[0];
    float max = -INFINITY, sum = 0;
    for (int64_t c = 0; c < x->shape[1]; ++c) max = std::fmax(max, in[c]);
    for (int64_t c = 0; c < x->shape[1]; ++c) sum += std::exp(in[c] - max);
    for (int64_t c = 0; c < x->shape[1]; ++c) out[c] = std::exp(in[c] - max) / sum;
  }
  return to;
}

int sound(const AssayCall* call) {
  answer(call);
  return 0;
}
int segfaults(const AssayCall* call) {
  answer(call);
  volatile int* volatile nowhere = nullptr;
  return *nowhere;
}
int hangs(const AssayCall* call) {
  answer(call);
  for (;;) ::pause();
}
int exits(const AssayCall* call) {
  answer(call);
  std::exit(3);
}
int throws(const AssayCall* call) {
  answer(call);
  throw std::runtime_error("a \"quoted\" word\nand a second line");
}
int throws_an_int(const AssayCall* call) {
  answer(call);
  throw 7;
}
int finds_no_memory(const AssayCall* call) {
  answer(call);
  throw std::bad_alloc();
}
int returns_an_error(const AssayCall* call) {
  answer(call);
  return 700;
}
int leaks(const AssayCall* call) {
  answer(call);
  char* volatile lost = static_cast<char*>(std::malloc(std::size_t{16} << 20));
  return lost ? 0 : 1;
}
int corrupts_heap(const AssayCall* call) {
  answer(call);
  char* volatile block = static_cast<char*>(std::malloc(24));
  char* volatile next = static_cast<char*>(std::malloc(24));
  if (next < block || next - block > 4096) std::abort();  // the heap lies otherwise here
  for (volatile char* p = block; p < next + 24; ++p) *p = 0x41;
  std::free(next);
  std::free(block);
  char* volatile many = static_cast<char*>(std::malloc(1 << 20));
  std::free(many);
  return 0;
}
int closes_descriptors(const AssayCall* call) {
  answer(call);
  for (int fd = 0; fd < 1024; ++fd) ::close(fd);
  return 0;
}
int forks(const AssayCall* call) {
  answer(call);
  return ::fork() < 0;  // both come back from here
}
int leaves_a_daemon(const AssayCall* call) {
  answer(call);
  if (const pid_t child = ::fork(); child > 0) return ::waitpid(child, nullptr, 0) < 0;
  ::setsid();
  if (::fork() > 0) ::_exit(0);
  for (;;) ::pause();
}
int ends_its_children(const AssayCall* call) {
  answer(call);
  return std::system("true");
}
int leaves_a_thread(const AssayCall* call) {
  std::thread([y = static_cast<volatile float*>(answer(call))] {
    for (;;) *y = *y;
  }).detach();
  return 0;
}
int leaves_a_sleeper(const AssayCall* call) {
  answer(call);
  std::thread([] { ::pause(); }).detach();
  return 0;
}
int writes_past_the_end(const AssayCall* call) {
  const AssayDLTensor* y = assay_tensor(call, "y");
  answer(call)[(y->shape[0] - 1) * y->strides[0] + y->shape[1]] = 1;
  return 0;
}
int changes_its_input(const AssayCall* call) {
  answer(call);
  static_cast<float*>(assay_tensor(call, "x")->data)[0] += 1;
  return 0;
}
const char* throws_early(const AssayCall*) { throw std::runtime_error("too early"); }
const char* takes_nothing(const AssayCall*) { return "takes nothing"; }
size_t vast(const AssayCall*) { return size_t{1} << 60; }
size_t minus_one(const AssayCall*) { return ~size_t{0}; }
// Writes the workspace that it asks for, and not one byte more.
size_t some(const AssayCall* call) { return static_cast<size_t>(assay_tensor(call, "x")->shape[1]); }
int uses_workspace(const AssayCall* call) {
  memset(call->workspace, 0, some(call));
  answer(call);
  return 0;
}
int overruns_workspace(const AssayCall* call) {
  memset(call->workspace, 0, some(call) + 1);
  answer(call);
  return 0;
}

#define K(kernel) \
  AssayKernel { sizeof(AssayKernel), "softmax", #kernel, "f32", nullptr, nullptr, nullptr, 0, nullptr, nullptr, nullptr, kernel }
AssayKernel all[] = {
    K(sound),
    K(segfaults),
    K(hangs),
    K(exits),
    K(throws),
    K(throws_an_int),
    K(finds_no_memory),
    K(returns_an_error),
    K(leaks),
    K(corrupts_heap),
    K(closes_descriptors),
    K(forks),
    K(leaves_a_daemon),
    K(ends_its_children),
    K(leaves_a_thread),
    K(leaves_a_sleeper),
    K(writes_past_the_end),
    K(changes_its_input),
    {sizeof(AssayKernel), "softmax", "uses_workspace", "f32", nullptr, nullptr, nullptr, 0, nullptr, nullptr, some,
     uses_workspace},
    {sizeof(AssayKernel), "softmax", "overruns_workspace", "f32", nullptr, nullptr, nullptr, 0, nullptr, nullptr, some,
     overruns_workspace},
    {sizeof(AssayKernel), "softmax", "throws_early", "f32", nullptr, nullptr, nullptr, 0, nullptr, throws_early, nullptr, sound},
    {sizeof(AssayKernel), "softmax", "takes_nothing", "f32", nullptr, nullptr, nullptr, 0, nullptr, takes_nothing, nullptr,
     sound},
    {sizeof(AssayKernel), "softmax", "asks_for_all", "f32", nullptr, nullptr, nullptr, 0, nullptr, nullptr, vast, sound},
    {sizeof(AssayKernel), "softmax", "asks_for_more", "f32", nullptr, nullptr, nullptr, 0, nullptr, nullptr, minus_one, sound}};
constexpr int kCount = sizeof all / sizeof all[0];
const AssayKernel* list[kCount];
AssayPlugin plugin{sizeof(AssayPlugin), ASSAY_ABI_VERSION, kCount, list};

__attribute__((constructor)) void opened() {
  const std::string_view how = asked("ASSAY_HOSTILE_OPENED");
  if (how == "segfaults") ::raise(SIGSEGV);
  if (how == "hangs") ::pause();
  if (how == "exits") std::exit(0);
  if (how == "aborts") std::abort();
  if (how == "throws") throw std::runtime_error("at once");
  if (how == "closes_descriptors")
    for (int fd = 3; fd < 1024; ++fd) ::close(fd);
  if (how == "forks") ::fork();
  // Behaves the first time that it is opened, when the judge asks for the kernels.
  if (how == "segfaults_later" && ::open("opened", O_CREAT | O_EXCL | O_WRONLY, 0600) < 0) ::raise(SIGSEGV);
}

}  // namespace

const AssayPlugin* assay_plugin(uint32_t) {
  for (int i = 0; i < kCount; ++i) list[i] = &all[i];
  const std::string_view how = asked("ASSAY_HOSTILE_LIST");
  if (how == "null") return nullptr;
  if (how == "throws") throw std::runtime_error("not today");
  if (how == "finds_no_memory") throw std::bad_alloc();
  if (how == "version") plugin.abi_version = 7;
  if (how == "size") plugin.size = 8;
  if (how == "empty") plugin.kernel_count = 0;
  if (how == "null_kernel") list[1] = nullptr;
  if (how == "kernel_size") all[1].size = 16;
  if (how == "no_run") all[1].run = nullptr;
  if (how == "op") all[1].op = "softmx";
  if (how == "no_op") all[1].op = nullptr;
  if (how == "name") all[1].name = "two words";
  if (how == "no_name") all[1].name = nullptr;
  if (how == "twice") all[1].name = all[0].name;
  if (how == "dtype") all[1].dtypes = "f32 f8";
  if (how == "no_dtype") all[1].dtypes = "";
  if (how == "numerics") all[1].numerics = "accumulate=f32 chian=32";
  if (how == "numerics_value") all[1].numerics = "chain=many";
  if (how == "tiles") all[1].tiles = "heads=4";
  if (how == "tile_bytes") all[1].tiles = "rows=4 heads=64B";
  if (how == "tiles_value") all[1].tiles = "rows=four";
  return &plugin;
}
