#pragma once

#include <functional>

#include "context.h"

namespace stand_in {

/** Adds to a stream, and does at once what STREAMS says. */
CUresult enqueue(Context& context, CUstream stream, Kind kind, std::function<CUresult()> operation);

}  // namespace stand_in
