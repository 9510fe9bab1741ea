// SPDX-License-Identifier: Apache-2.0
// A library that validate/tests/faults/faults_test.py preloads.  It counts the calls by which the judge and its workers allocate,
// write, read, open, map and start processes, and makes one of them fail once in a run.  A site is the kind of the call, the
// process (judge or worker) and four return addresses.
//   ASSAY_FAULTS_STATE=FILE  one page that the processes of a run share: whether the failure has happened, and the calls so far
//   ASSAY_FAULTS_SITES=FILE  receives a line for each site: its number, process, kind, and the addresses as MODULE+OFFSET
//   ASSAY_FAULTS_FAIL=SITE   the site of this number fails, the first time that it is reached
//   ASSAY_FAULTS_FAIL=j:N    the N-th call of the judge fails, w:N that of the workers taken together
//   ASSAY_FAULTS_FROM_MAIN=1 calls before main() count for nothing
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

constexpr int kDepth = 4;

// What the processes of a run share.
struct State {
  std::atomic<std::uint64_t> failed;    // 1 once a call has failed
  std::atomic<std::uint64_t> calls[2];  // of the judge, of the workers
};

struct Module {
  std::uintptr_t base, end;
  std::uint64_t name_hash;
  char name[64];
};

State* state;                              // null: this process is not watched
bool worker;                               // whether this process is one
int sites_fd = -1;                         // -1: sites are not written
std::uint64_t site_to_fail, call_to_fail;  // 0: none
Module modules[64];
int module_count;
std::atomic<std::uint64_t> seen[1 << 15];  // sites of this process, by their number

__attribute__((tls_model("initial-exec"))) thread_local bool inside = false;

std::uint64_t mixed(std::uint64_t h, std::uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
  h *= 0xbf58476d1ce4e5b9u;
  return h ^ (h >> 31);
}

std::uint64_t hash_of(const char* text) {
  std::uint64_t h = 0;
  for (; *text; ++text) h = mixed(h, static_cast<unsigned char>(*text));
  return h;
}

int add_module(dl_phdr_info* info, size_t, void*) {
  if (module_count == 64) return 1;
  Module& m = modules[module_count++];
  m.base = info->dlpi_addr;
  m.end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i)
    if (info->dlpi_phdr[i].p_type == PT_LOAD) {
      const std::uintptr_t end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
      if (end > m.end) m.end = end;
    }
  const char* slash = std::strrchr(info->dlpi_name, '/');
  const char* name = slash ? slash + 1 : info->dlpi_name[0] ? info->dlpi_name : "program";
  std::strncpy(m.name, name, sizeof m.name - 1);
  m.name_hash = hash_of(m.name);
  return 0;
}

const Module* module_of(std::uintptr_t address) {
  for (int i = 0; i < module_count; ++i)
    if (address >= modules[i].base && address < modules[i].end) return &modules[i];
  return nullptr;
}

struct Chain {
  std::uintptr_t first, at[kDepth];
  int count;
  bool begun;
};

_Unwind_Reason_Code step(_Unwind_Context* context, void* chain) {
  Chain& c = *static_cast<Chain*>(chain);
  const std::uintptr_t ip = _Unwind_GetIP(context);
  if (ip == 0) return _URC_END_OF_STACK;
  c.begun = c.begun || ip == c.first;
  if (c.begun) c.at[c.count++] = ip;
  return c.count == kDepth ? _URC_END_OF_STACK : _URC_NO_REASON;
}

void write_site(std::uint64_t number, const char* kind, const Chain& c) {
  char line[512];
  int n = snprintf(line, sizeof line, "%llu %s %s", static_cast<unsigned long long>(number), worker ? "worker" : "judge", kind);
  for (int i = 0; i < c.count; ++i) {
    const Module* m = module_of(c.at[i]);
    n += snprintf(line + n, sizeof line - static_cast<size_t>(n), " %s+%#llx", m ? m->name : "?",
                  static_cast<unsigned long long>(m ? c.at[i] - m->base : 0));
  }
  line[n++] = '\n';
  ::syscall(SYS_write, sites_fd, line, n);
}

bool see(std::uint64_t number) {  // whether the site is new to this process
  for (std::uint64_t i = number;; ++i) {
    std::uint64_t there = 0;
    auto& slot = seen[i % (sizeof seen / sizeof seen[0])];
    if (slot.compare_exchange_strong(there, number)) return true;
    if (there == number) return false;
  }
}

// Whether this call is to fail.  `caller`: the return address of the interposed function.
bool fails(const char* kind, void* caller) {
  if (!state || inside) return false;
  const int error = errno;
  inside = true;
  bool fail = false;
  const std::uint64_t call = ++state->calls[worker];
  if (call_to_fail) {
    fail = call == call_to_fail;
  } else if (sites_fd >= 0 || (site_to_fail && !state->failed)) {
    Chain c{reinterpret_cast<std::uintptr_t>(caller), {}, 0, false};
    _Unwind_Backtrace(step, &c);
    std::uint64_t number = mixed(hash_of(kind), worker);
    for (int i = 0; i < c.count; ++i) {
      const Module* m = module_of(c.at[i]);
      number = mixed(mixed(number, m ? m->name_hash : 0), m ? c.at[i] - m->base : 0);
    }
    number |= 1;
    fail = number == site_to_fail && state->failed.exchange(1) == 0;
    if (sites_fd >= 0 && see(number)) write_site(number, kind, c);
  }
  if (fail) state->failed = 1;
  inside = false;
  errno = error;
  return fail;
}

template <class F>
F real(const char* name) {
  return reinterpret_cast<F>(::dlsym(RTLD_NEXT, name));
}

void begin(int argc, char** argv) {
  const char* path = std::getenv("ASSAY_FAULTS_STATE");
  const char* program = argc ? std::strrchr(argv[0], '/') : nullptr;
  worker = argc > 1 && std::strcmp(argv[1], "worker") == 0;  // the program itself, or a set
  if (!path || argc == 0 || (!worker && std::strncmp(program ? program + 1 : argv[0], "validate", 8) != 0)) return;
  const long fd = ::syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  void* page = reinterpret_cast<void*>(::syscall(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  ::syscall(SYS_close, fd);
  if (page == MAP_FAILED) return;
  ::dl_iterate_phdr(add_module, nullptr);
  if (const char* sites = std::getenv("ASSAY_FAULTS_SITES"))
    sites_fd = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, sites, O_WRONLY | O_APPEND | O_CLOEXEC));
  if (const char* which = std::getenv("ASSAY_FAULTS_FAIL")) {
    if (which[1] != ':') site_to_fail = std::strtoull(which, nullptr, 10);
    else if ((which[0] == 'w') == worker) call_to_fail = std::strtoull(which + 2, nullptr, 10);
  }
  Chain warm{};
  _Unwind_Backtrace(step, &warm);  // the unwinder allocates once
  state = static_cast<State*>(page);
}

// Runs when the library is loaded, with the arguments of main().
__attribute__((constructor)) void begin_at_once(int argc, char** argv) {
  if (!std::getenv("ASSAY_FAULTS_FROM_MAIN")) begin(argc, argv);
}

using Main = int (*)(int, char**, char**);
Main real_main;
int main_of_program(int argc, char** argv, char** environment) {
  begin(argc, argv);
  return real_main(argc, argv, environment);
}

}  // namespace

#define FAIL(kind, error, result)                 \
  if (fails(kind, __builtin_return_address(0))) { \
    errno = error;                                \
    return result;                                \
  }

extern "C" {

// The C library's, which runs what comes before main(), and then main().
int __libc_start_main(Main program, int argc, char** argv, void (*init)(), void (*fini)(), void (*fini_of_linker)(),
                      void* stack) {
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  real_main = program;
  const bool from_main = std::getenv("ASSAY_FAULTS_FROM_MAIN") != nullptr;
  return real<Start>("__libc_start_main")(from_main ? main_of_program : program, argc, argv, init, fini, fini_of_linker, stack);
}

void* malloc(size_t n) {
  FAIL("malloc", ENOMEM, nullptr);
  return __libc_malloc(n);
}
void* calloc(size_t n, size_t m) {
  FAIL("calloc", ENOMEM, nullptr);
  return __libc_calloc(n, m);
}
void* realloc(void* p, size_t n) {
  FAIL("realloc", ENOMEM, nullptr);
  return __libc_realloc(p, n);
}
void* aligned_alloc(size_t alignment, size_t n) {
  FAIL("aligned_alloc", ENOMEM, nullptr);
  return __libc_memalign(alignment, n);
}
int posix_memalign(void** p, size_t alignment, size_t n) {
  if (fails("posix_memalign", __builtin_return_address(0))) return ENOMEM;
  *p = __libc_memalign(alignment, n);
  return *p ? 0 : ENOMEM;
}

ssize_t write(int fd, const void* p, size_t n) {
  FAIL("write", ENOSPC, -1);
  return ::syscall(SYS_write, fd, p, n);
}
ssize_t writev(int fd, const iovec* p, int n) {
  FAIL("writev", ENOSPC, -1);
  return ::syscall(SYS_writev, fd, p, n);
}
size_t fwrite(const void* p, size_t size, size_t n, FILE* f) {
  FAIL("fwrite", EIO, 0);
  static const auto next = real<size_t (*)(const void*, size_t, size_t, FILE*)>("fwrite");
  return next(p, size, n, f);
}
int fflush(FILE* f) {
  FAIL("fflush", EIO, EOF);
  static const auto next = real<int (*)(FILE*)>("fflush");
  return next(f);
}
ssize_t send(int fd, const void* p, size_t n, int flags) {
  FAIL("send", ENOBUFS, -1);
  return ::syscall(SYS_sendto, fd, p, n, flags, nullptr, 0);
}
ssize_t sendmsg(int fd, const msghdr* m, int flags) {
  FAIL("sendmsg", ENOBUFS, -1);
  return ::syscall(SYS_sendmsg, fd, m, flags);
}
ssize_t read(int fd, void* p, size_t n) {
  FAIL("read", EIO, -1);
  return ::syscall(SYS_read, fd, p, n);
}
ssize_t recv(int fd, void* p, size_t n, int flags) {
  FAIL("recv", ENOMEM, -1);
  return ::syscall(SYS_recvfrom, fd, p, n, flags, nullptr, nullptr);
}
ssize_t recvmsg(int fd, msghdr* m, int flags) {
  FAIL("recvmsg", ENOMEM, -1);
  return ::syscall(SYS_recvmsg, fd, m, flags);
}
FILE* fopen64(const char* path, const char* mode) {
  FAIL("fopen", EMFILE, nullptr);
  static const auto next = real<FILE* (*)(const char*, const char*)>("fopen64");
  return next(path, mode);
}
FILE* fopen(const char* path, const char* mode) {
  FAIL("fopen", EMFILE, nullptr);
  static const auto next = real<FILE* (*)(const char*, const char*)>("fopen64");
  return next(path, mode);
}
int open64(const char* path, int flags, ...) {
  FAIL("open", EMFILE, -1);
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
int open(const char* path, int flags, ...) {
  FAIL("open", EMFILE, -1);
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
void* mmap64(void* p, size_t n, int protection, int flags, int fd, off_t offset) {
  FAIL("mmap", ENOMEM, MAP_FAILED);
  return reinterpret_cast<void*>(::syscall(SYS_mmap, p, n, protection, flags, fd, offset));
}
void* mmap(void* p, size_t n, int protection, int flags, int fd, off_t offset) {
  FAIL("mmap", ENOMEM, MAP_FAILED);
  return reinterpret_cast<void*>(::syscall(SYS_mmap, p, n, protection, flags, fd, offset));
}
int mprotect(void* p, size_t n, int protection) {
  FAIL("mprotect", ENOMEM, -1);
  return static_cast<int>(::syscall(SYS_mprotect, p, n, protection));
}
int memfd_create(const char* name, unsigned flags) noexcept {
  FAIL("memfd_create", EMFILE, -1);
  return static_cast<int>(::syscall(SYS_memfd_create, name, flags));
}
int ftruncate64(int fd, off_t n) noexcept {
  FAIL("ftruncate", EIO, -1);
  return static_cast<int>(::syscall(SYS_ftruncate, fd, n));
}
int ftruncate(int fd, off_t n) noexcept {
  FAIL("ftruncate", EIO, -1);
  return static_cast<int>(::syscall(SYS_ftruncate, fd, n));
}
int socketpair(int domain, int type, int protocol, int* ends) noexcept {
  FAIL("socketpair", EMFILE, -1);
  return static_cast<int>(::syscall(SYS_socketpair, domain, type, protocol, ends));
}
int pipe2(int* ends, int flags) noexcept {
  FAIL("pipe", EMFILE, -1);
  return static_cast<int>(::syscall(SYS_pipe2, ends, flags));
}
pid_t fork() noexcept {
  FAIL("fork", EAGAIN, -1);
  static const auto next = real<pid_t (*)()>("fork");
  return next();
}
int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
                char* const* argv, char* const* environment) {
  if (fails("posix_spawn", __builtin_return_address(0))) return EAGAIN;
  static const auto next = real<decltype(&posix_spawn)>("posix_spawn");
  return next(pid, path, actions, attributes, argv, environment);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  if (fails("pthread_create", __builtin_return_address(0))) return EAGAIN;
  static const auto next = real<decltype(&pthread_create)>("pthread_create");
  return next(thread, attributes, run, argument);
}

}  // extern "C"
