#include "ptx.h"

#include <cstdio>
#include <cstdlib>

namespace stand_in {

/** Bytes of each `.param .TYPEBITS` in a list. */
static std::vector<size_t> parameter_sizes(const std::string& list) {
  static const std::string parameter = ".param .";
  std::vector<size_t> sizes;
  for (size_t at = list.find(parameter); at != std::string::npos; at = list.find(parameter, at + 1)) {
    sizes.push_back(std::strtoul(list.c_str() + at + parameter.size() + 1, nullptr, 10) / 8);
  }
  return sizes;
}

bool read_ptx(const std::string& text, Ptx* ptx) {
  int major, minor;
  const size_t version = text.find("\n.version ");
  const size_t target = text.find("\n.target sm_");
  if (version == std::string::npos || target == std::string::npos) return false;
  if (std::sscanf(text.c_str() + version, "\n.version %d.%d", &major, &minor) != 2) return false;
  ptx->version = 10 * major + minor;
  if (std::sscanf(text.c_str() + target, "\n.target sm_%d", &ptx->target) != 1) return false;

  static const std::string entry = ".entry ";
  for (size_t at = text.find(entry); at != std::string::npos; at = text.find(entry, at + 1)) {
    const size_t begin = at + entry.size();
    const size_t open = text.find('(', begin);
    const size_t close = text.find(')', begin);
    if (open == std::string::npos || close == std::string::npos) return false;
    ptx->kernels[text.substr(begin, open - begin)] =
        parameter_sizes(text.substr(open, close - open));
  }
  return true;
}

}  // namespace stand_in
