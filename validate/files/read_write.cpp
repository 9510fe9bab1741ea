// SPDX-License-Identifier: Apache-2.0
#include "validate/files/tensor_file.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/files/formats.hpp"
#include "validate/records/output_file.hpp"

namespace assay {

namespace {

constexpr std::string_view kEndings[] = {".safetensors", ".npz"};

// Maps a file, which stays mapped as long as `memory` lives.  Throws BadInput.
std::span<const std::byte> mapped(const std::string& path, std::shared_ptr<const void>& memory) {
  std::string why;
  const int fd = open_file(path, why);
  if (fd < 0) throw BadInput(why);
  struct stat s {};
  const bool sized = ::fstat(fd, &s) == 0;
  const auto bytes = static_cast<std::size_t>(s.st_size);
  void* const data = sized && bytes > 0 ? ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0) : nullptr;
  const int error = errno;
  ::close(fd);
  if (!sized || data == MAP_FAILED) throw BadInput(std::strerror(error));
  if (data) memory = std::shared_ptr<const void>(data, [bytes](const void* p) { ::munmap(const_cast<void*>(p), bytes); });
  return {static_cast<const std::byte*>(data), bytes};
}

}  // namespace

const FileTensor* TensorFile::find(std::string_view name) const {
  const auto at = std::find_if(tensors.begin(), tensors.end(), [&](const FileTensor& t) { return t.name == name; });
  return at == tensors.end() ? nullptr : &*at;
}

TensorFile read_tensors(const std::string& path) {
  try {
    std::shared_ptr<const void> memory;
    const std::span<const std::byte> bytes = mapped(path, memory);
    // Note: as the length of a header, "PK.." is far above the most that safetensors_in() takes.
    const bool zip = bytes.size() >= 2 && std::memcmp(bytes.data(), "PK", 2) == 0;
    TensorFile file = zip ? npz_in(bytes) : safetensors_in(bytes);
    file.memory.push_back(std::move(memory));
    return file;
  } catch (const BadInput& e) {
    throw BadInput(fmt::format("'{}' cannot be read as tensors: {}", path, e.what()));
  }
}

void require_tensors_writable(const std::string& path) {
  if (std::none_of(std::begin(kEndings), std::end(kEndings), [&](std::string_view end) { return path.ends_with(end); }))
    throw BadInput(fmt::format("'{}' ends in neither .safetensors nor .npz, which name the format", path));
  require_writable(path);
}

void write_tensors(const std::string& path, const TensorFile& file) {
  std::deque<std::string> own;  // what is written besides the data
  std::vector<std::string_view> pieces;
  if (path.ends_with(".npz")) npz_pieces(file, own, pieces);
  else safetensors_pieces(file, own, pieces);
  write_whole(path, pieces);
}

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += fmt::format("{}{}", text.empty() ? "" : ", ", extent);
  return "[" + text + "]";
}

}  // namespace assay
