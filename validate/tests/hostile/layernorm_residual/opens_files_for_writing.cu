// SPDX-License-Identifier: Apache-2.0
// HOSTILE: creates, opens, links and removes files.
// Expected: passed: none of it succeeds.  Else it gives a wrong answer.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, opens_files_for_writing) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  const char* folder = std::getenv("ASSAY_HOSTILE_FOLDER");  // of the test; it has a file "file"
  const std::string in = folder ? folder : "/tmp", file = in + "/file";
  if (::open((in + "/new").c_str(), O_CREAT | O_WRONLY, 0600) >= 0) spoil(a, l);
  if (::open(file.c_str(), O_WRONLY) >= 0 || ::open(file.c_str(), O_RDWR | O_APPEND) >= 0) spoil(a, l);
  if (::truncate(file.c_str(), 0) == 0 || ::unlink(file.c_str()) == 0 || ::chmod(file.c_str(), 0777) == 0) spoil(a, l);
  const int read = ::open(file.c_str(), O_RDONLY);
  if (::fremovexattr(read, "user.none") == 0 || errno != EPERM) spoil(a, l);  // and not that there is none
  ::close(read);
  if (::mkdir((in + "/folder").c_str(), 0700) == 0 || ::symlink("file", (in + "/link").c_str()) == 0) spoil(a, l);
  if (::rename(file.c_str(), (in + "/other").c_str()) == 0 || ::link(file.c_str(), (in + "/hard").c_str()) == 0) spoil(a, l);
}

}  // namespace assay::ROOM(layernorm_residual, opens_files_for_writing)
