/** Flows of control with stacks of their own, one at a time, that give way where they choose to. */
#pragma once

#include <cstddef>
#include <functional>

namespace stand_in {

/** Work items are numbered from 0; `fiber` is the number. */
class Fibers {
 public:
  /** Each runs `body` from its beginning when it is resumed for the first time. */
  void begin(size_t count, const std::function<void()>* body);
  /** Runs a fiber until it yields or ends. */
  void resume(size_t fiber);
  /** Called by the fiber that runs: goes back to who resumed it. */
  void yield();
  bool has_ended(size_t fiber) const;

 private:
  friend void fiber_main();
};

Fibers& fibers();

}  // namespace stand_in
