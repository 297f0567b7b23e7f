/**
 * What device the stand-in plays, and what is to go wrong. Each setting is an environment variable, read
 * at the first call of the driver, and may be changed by the exported `standInSet` (README.md).
 */
#pragma once

#include <cstdint>
#include <string>

namespace stand_in {

/** In which order work items, and blocks, take their turns. */
enum class Order { kForward, kBackward, kShuffled };

/** When what was asked for on a stream is done. */
enum class Streams {
  /** As late as can be: when something waits for it. */
  kLazy,
  /** At once. */
  kEager,
  /** Copies from the host at once, all else as late as can be. */
  kCopiesFirst,
};

struct Settings {
  int devices = 1;
  uint64_t memory = uint64_t{1} << 30;
  int driver_version = 13000;
  int capability = 75;
  Order order = Order::kForward;
  Streams streams = Streams::kLazy;
  /** NAME@N=CODE: the Nth call of NAME (* any) from now on returns CODE. */
  std::string fail_name;
  uint64_t fail_after = 0;
  int fail_code = 0;
};

Settings& settings();

/** @return whether there is such a setting and the text is a value of it. */
bool set(const std::string& name, const std::string& value);

}  // namespace stand_in
