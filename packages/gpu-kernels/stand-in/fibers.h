/** Flows of control with stacks of their own, one at a time, that give way where they choose to. */
#pragma once

#include <cstddef>
#include <functional>

namespace stand_in {

/** Numbered from 0. */
class Fibers {
 public:
  /** Makes the fiber run `body` from its beginning when it is resumed next. */
  void prepare(size_t fiber, const std::function<void()>* body);
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
