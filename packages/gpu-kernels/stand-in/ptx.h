/** Of a PTX file, what a driver refuses it for: version, target, kernels and their parameters. */
#pragma once

#include <map>
#include <string>
#include <vector>

#include "driver-types.h"

namespace stand_in {

struct Ptx {
  /** 10 · major + minor */
  int version = 0;
  /** 75 is sm_75 */
  int target = 0;
  /** Bytes of each parameter, by the kernel's name. */
  std::map<std::string, std::vector<size_t>> kernels;
};

/** @return whether it is PTX. */
bool read_ptx(const std::string& text, Ptx* ptx);

}  // namespace stand_in
