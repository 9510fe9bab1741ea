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

std::size_t utf8_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t n = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (n > text.size()) return 0;
  for (std::size_t i = 1; i < n; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  return n;
}

namespace {

// Whether the character, in UTF-8, is obeyed and not shown.
bool is_obeyed(std::string_view c) {
  if (c.size() == 1) return static_cast<unsigned char>(c[0]) < 0x20 || c[0] == 0x7f;
  if (c.size() == 2) return (c[0] == '\xc2' && static_cast<unsigned char>(c[1]) < 0xa0) || c == "\xd8\x9c";
  if (!c.starts_with("\xe2")) return false;
  return c == "\xe2\x80\x8e" || c == "\xe2\x80\x8f" || (c >= "\xe2\x80\xa8" && c <= "\xe2\x80\xae") ||
         (c >= "\xe2\x81\xa6" && c <= "\xe2\x81\xa9");
}

}  // namespace

std::string plain(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t n = utf8_length(text);
    const std::string_view character = text.substr(0, n ? n : 1);
    if (n == 0 || is_obeyed(character)) out += '?';
    else out += character;
    text.remove_prefix(character.size());
  }
  return out;
}

std::string in_markdown(std::string_view text) {
  std::string out;
  for (const char c : plain(text))
    if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else if (c == '|') out += '/';
    else if (c == '(' && out.ends_with(']')) out += "\\(";  // no link, no picture
    else out += c;
  return out;
}

std::string in_markdown_code(std::string_view text) {
  std::string out = plain(text);
  for (char& c : out)
    if (c == '`') c = '\'';
    else if (c == '|') c = '/';
  return out;
}

}  // namespace assay
