// SPDX-License-Identifier: Apache-2.0
// Preloaded by cmake/tests/aarch64.py.  qemu-user leaves what a program starts to the system, which cannot run it if it is for
// AArch64.  So a judge's workers, which are the same program, are started by the emulator too.
//   ASSAY_QEMU          the emulator
//   ASSAY_QEMU_PREFIX   the folder with the loader and the C library
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int (*Spawn)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*,
                     char* const*);

int posix_spawn(pid_t* pid, const char* program, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
                char* const arguments[], char* const environment[]) {
  Spawn next;
  *(void**)&next = dlsym(RTLD_NEXT, "posix_spawn");
  if (strcmp(program, "/proc/self/exe") != 0) return next(pid, program, actions, attributes, arguments, environment);

  char own[PATH_MAX] = "";
  if (readlink(program, own, sizeof own - 1) < 0) return errno;
  char preload[PATH_MAX + 16];
  snprintf(preload, sizeof preload, "LD_PRELOAD=%s", getenv("LD_PRELOAD"));
  char* const emulated[] = {getenv("ASSAY_QEMU"), "-L", getenv("ASSAY_QEMU_PREFIX"), "-E", preload, "-0", arguments[0], own};
  const size_t before = sizeof emulated / sizeof *emulated;

  size_t given = 1;  // with the null pointer at their end
  while (arguments[given - 1]) ++given;
  char** const all = calloc(before + given, sizeof *all);
  if (!all) return ENOMEM;
  memcpy(all, emulated, sizeof emulated);
  memcpy(all + before, arguments + 1, (given - 1) * sizeof *all);
  const int error = next(pid, emulated[0], actions, attributes, all, environment);
  free(all);
  return error;
}
