// SPDX-License-Identifier: Apache-2.0
// Files that the command writes: record files, which grow line by line and have one writer at a time, and files written whole.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// The file name that means standard output.  After give_stdout_to_records(), all other prints go to standard error.
inline constexpr std::string_view kStdout = "-";
void give_stdout_to_records();

// A JSON Lines file.  It ends with a whole line after every write(), even a failed one.  An existing file keeps what it holds
// until the first write().  As long as this object lives, no other process can open the file for records.
class JsonLines {
 public:
  explicit JsonLines(const std::string& path);  // throws BadInput if it cannot be opened, or another run writes it
  ~JsonLines();
  JsonLines(const JsonLines&) = delete;
  JsonLines& operator=(const JsonLines&) = delete;
  void write(const std::string& line);  // throws BadInput on a full disk, std::system_error if the reader closed the pipe
  // Replaces what the file holds by these lines, at once: a process that is killed leaves the old lines or the new ones.
  void replace(const std::vector<std::string>& lines);

 private:
  void put(const std::string& text);
  std::string path_;
  int fd_ = -1;
  bool regular_ = false, made_here_ = false, begun_ = false;
  std::int64_t whole_ = 0;
};

// Whether two paths name one file, which need not exist.
bool same_file(const std::string& a, const std::string& b);
// Writes a file whole or not at all, by a rename; devices and pipes are written in place.  Throws BadInput.
void write_whole(const std::string& path, const std::string& text);
// The same of bytes in several pieces, which go to a file alone.
void write_whole(const std::string& path, std::span<const std::string_view> pieces);
// Throws BadInput if write_whole() could not write the file, and leaves it as it is.  Checks the flags before a long run.
void require_writable(const std::string& path);

}  // namespace assay
