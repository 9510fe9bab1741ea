// SPDX-License-Identifier: Apache-2.0
// Preloaded by validate/tests/command/machine_test.py.  ASSAY_FAULTY_ARITHMETIC: the state of the floating-point unit (MXCSR)
// that a process begins with.  ASSAY_FAULTY_THREADS: how many threads can be started.  ASSAY_FAULTY_SIGNALS: SIGCHLD is ignored,
// SIGTERM blocked.  ASSAY_FAULTY_WORKERS: only workers are at fault.  ASSAY_FAULTY_FILE: the file FILE of "BYTES FILE" is cut to
// so many bytes once it is mapped.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

static int concerned(void) {
  char line[4096] = "";
  if (!getenv("ASSAY_FAULTY_WORKERS")) return 1;
  const int file = open("/proc/self/cmdline", O_RDONLY);
  const ssize_t n = read(file, line, sizeof line - 1);
  close(file);
  return n > 0 && strcmp(line + strlen(line) + 1, "worker") == 0;
}

__attribute__((constructor)) static void begin(void) {
#if defined(__x86_64__)
  const char* const state = getenv("ASSAY_FAULTY_ARITHMETIC");
  if (state && concerned()) _mm_setcsr((unsigned)strtoul(state, NULL, 0));
#endif
  if (!getenv("ASSAY_FAULTY_SIGNALS") || !concerned()) return;
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigprocmask(SIG_BLOCK, &blocked, NULL);
  signal(SIGCHLD, SIG_IGN);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  static atomic_int started;
  const char* const most = getenv("ASSAY_FAULTY_THREADS");
  if (most && concerned() && atomic_fetch_add(&started, 1) >= atoi(most)) return EAGAIN;
  int (*next)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  *(void**)&next = dlsym(RTLD_NEXT, "pthread_create");
  return next(thread, attributes, run, argument);
}

void* mmap(void* at, size_t bytes, int access, int flags, int file, off_t from) {
  static void* (*next)(void*, size_t, int, int, int, off_t);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "mmap");
  void* const mapped = next(at, bytes, access, flags, file, from);
  const char* const what = getenv("ASSAY_FAULTY_FILE");
  const char* const name = what ? strchr(what, ' ') + 1 : NULL;
  struct stat of_name, of_file;
  if (name && file >= 0 && stat(name, &of_name) == 0 && fstat(file, &of_file) == 0 && of_name.st_ino == of_file.st_ino &&
      truncate(name, atol(what)) != 0)
    perror(name);
  return mapped;
}
