// SPDX-License-Identifier: Apache-2.0
// What others wrote: files, JSON and texts that may be anything.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

inline constexpr std::size_t kMostBytes = std::size_t{1} << 29;  // of a file that is read, decompressed: 512 MiB
inline constexpr int kMostNesting = 64;                          // of JSON; our own files nest to 8

// Opens a file for reading.  Returns -1, and says why, if it cannot be opened or is a folder, pipe or device.  Never waits.
int open_file(const std::string& path, std::string& why);
// The whole file, decompressed if it is gzip.  Nullopt and `why` if it cannot be opened or read, is a folder, pipe or device, is
// cut off or damaged, or holds more than kMostBytes.  Never waits.
std::optional<std::string> read_file(const std::string& path, std::string& why);
// Whether lists and objects of a JSON text lie deeper in each other than kMostNesting.  A parser's result of such a text could
// not be destroyed or printed, since that takes a call for each level.
bool nests_too_deeply(std::string_view json);
// Bytes of the UTF-8 sequence at the beginning of a text that is not empty; 0 if it is invalid.
std::size_t utf8_length(std::string_view text);
// The text with '?' for what a terminal or a page would obey and not show: control characters of ASCII and of Latin-1, marks that
// turn the direction of writing or end a line (U+200E, U+200F, U+061C, U+2028 to U+202E, U+2066 to U+2069), and bytes that are no
// UTF-8.
std::string plain(std::string_view text);
// The plain text for a page in Markdown, where none of it is markup: a cell of a table too.  Of code, between backticks.
std::string in_markdown(std::string_view text);
std::string in_markdown_code(std::string_view text);

}  // namespace assay
