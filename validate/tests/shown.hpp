// SPDX-License-Identifier: Apache-2.0
// Captures what the code under test prints.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <string>

namespace assay::test {

// Runs `call` and returns what it wrote to standard output.  Note: messages of assertions inside are captured too, so not shown.
template <class Call>
std::string printed_by(Call&& call) {
  struct Redirected {
    std::FILE* file = std::tmpfile();
    int shown = (std::fflush(stdout), ::dup(STDOUT_FILENO));
    Redirected() {
      if (!file || shown < 0 || ::dup2(::fileno(file), STDOUT_FILENO) < 0) throw std::runtime_error("cannot redirect the output");
    }
    ~Redirected() {
      std::fflush(stdout);
      ::dup2(shown, STDOUT_FILENO);
      ::close(shown);
      std::fclose(file);
    }
  } to;
  call();
  std::fflush(stdout);
  std::string text;
  std::rewind(to.file);
  for (int c; (c = std::fgetc(to.file)) != EOF;) text += static_cast<char>(c);
  return text;
}

}  // namespace assay::test
