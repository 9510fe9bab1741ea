// SPDX-License-Identifier: Apache-2.0
// Preloaded by cmake/tests/aarch64.sh: qemu-user runs one program, and leaves those that it starts to the system, which cannot run
// them.  So each child of a judge is started by qemu too.
//   ASSAY_QEMU          the emulator
//   ASSAY_QEMU_PREFIX   the folder with the loader and the C library
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int posix_spawn(pid_t* pid, const char* program, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
                char* const argv[], char* const environment[]) {
  typedef int (*Spawn)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*, char* const*);
  Spawn next;
  *(void**)&next = dlsym(RTLD_NEXT, "posix_spawn");
  char own[4096] = "";
  if (strcmp(program, "/proc/self/exe") == 0) {
    if (readlink(program, own, sizeof own - 1) < 0) return errno;
    program = own;
  }
  size_t given = 0;
  while (argv[given]) ++given;
  static const char preload[] = "LD_PRELOAD=";
  const char* const library = getenv("LD_PRELOAD");
  char set[4200] = "";
  strcat(set, preload);
  strncat(set, library ? library : "", sizeof set - sizeof preload);
  char* const emulated[] = {getenv("ASSAY_QEMU"), "-L", getenv("ASSAY_QEMU_PREFIX"), "-E", set, "-0", argv[0], (char*)program};
  const size_t before = sizeof emulated / sizeof *emulated;
  char** const all = calloc(before + given, sizeof *all);
  if (!all) return ENOMEM;
  memcpy(all, emulated, sizeof emulated);
  memcpy(all + before, argv + 1, given * sizeof *all);  // with the null pointer at its end
  const int error = next(pid, emulated[0], actions, attributes, all, environment);
  free(all);
  return error;
}
