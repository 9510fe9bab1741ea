// SPDX-License-Identifier: Apache-2.0
#include "validate/base/input.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>

namespace assay {

int open_file(const std::string& path, std::string& why) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // Note: else a pipe that nobody writes would block
  struct stat s {};
  if (fd < 0 || ::fstat(fd, &s) != 0) why = std::strerror(errno);
  else if (S_ISREG(s.st_mode)) return fd;
  else if (S_ISDIR(s.st_mode)) why = std::strerror(EISDIR);
  else why = S_ISFIFO(s.st_mode) ? "it is a pipe, not a file" : "it is a device, not a file";
  if (fd >= 0) ::close(fd);
  return -1;
}

std::optional<std::string> read_file(const std::string& path, std::string& why) {
  const int fd = open_file(path, why);
  if (fd < 0) return std::nullopt;
  gzFile file = ::gzdopen(fd, "rb");  // Note: zlib reads an uncompressed file as it is
  if (!file) {
    ::close(fd);
    why = std::strerror(ENOMEM);
    return std::nullopt;
  }
  std::string text;
  int n = 0, error = 0;
  for (char part[1 << 16]; text.size() <= kMostBytes && (n = ::gzread(file, part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(n));
  const int number = errno;
  if (n < 0) ::gzerror(file, &error);
  const int closed = ::gzclose(file);  // Note: only gzclose reports a truncated stream
  if (text.size() > kMostBytes) why = "it holds more than 512 MiB";
  else if (error == Z_ERRNO) why = std::strerror(number);
  else if (error != Z_OK || closed != Z_OK) why = "it is a gzip file that was cut off or damaged";
  return why.empty() ? std::optional(std::move(text)) : std::nullopt;
}

bool nests_too_deeply(std::string_view json) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (quoted) {
      if (c == '\\') ++i;
      else if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMostNesting) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

std::string plain(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]), next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (c < 0x20 || c == 0x7f) {
      out += '?';
    } else if (c == 0xc2 && next >= 0x80 && next < 0xa0) {  // U+0080 to U+009F in UTF-8
      out += '?', ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace assay
