/** Runs a grid of blocks of work items. */
#pragma once

#include <functional>

#include "driver-types.h"
#include "emulation.h"

namespace stand_in {

/**
 * @return CUDA_ERROR_ILLEGAL_ADDRESS where a work item reached beyond what is allocated,
 * CUDA_ERROR_LAUNCH_FAILED where work items of a block waited at different barriers, or some had ended.
 */
CUresult run_grid(const std::function<void()>& work_item, Index grid, Index block);

}  // namespace stand_in
