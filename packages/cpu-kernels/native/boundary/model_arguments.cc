// The arguments that describe layers and what their gradients do.
#include <cmath>

#include "arguments.h"

namespace heterosgd {

namespace {

constexpr double kMostSteps = 9007199254740991.0;

}  // namespace

Layer Arguments::layer() {
  Layer layer{};
  // The arrays come first but can be checked only against the sizes.
  const size_t arrays = next_;
  value();
  value();
  layer.inputs = whole("layer.inputs", 1, kMostUnits);
  layer.outputs = whole("layer.outputs", 1, kMostUnits);
  if (!ok_) return Layer{};
  const size_t after = next_;
  next_ = arrays;
  layer.weights = exact_floats("layer.weights", times(layer.inputs, layer.outputs)).data;
  layer.bias = exact_floats("layer.bias", layer.outputs).data;
  next_ = after;
  return layer;
}

Gradient Arguments::gradient(const Layer& layer) {
  Gradient gradient{};
  const Rule rule = static_cast<Rule>(whole("gradient.kind", 0, 3));
  if (!ok_) return gradient;
  constexpr size_t kOthers = 12;
  if (left() < kOthers) {
    fail(kArgumentCode, "%zu arguments are too few", count_);
    return gradient;
  }
  const size_t after = next_ + kOthers;
  if (rule == Rule::kNone) {
    next_ = after;
    return gradient;
  }

  gradient.scale = static_cast<float>(number("gradient.scale"));
  const bool has_rule = rule != Rule::kAdd;
  if (has_rule) {
    const double rate = number("gradient.learningRate");
    const double epsilon = number("gradient.rule.epsilon");
    if (ok_ && !(static_cast<float>(epsilon) > 0)) {
      fail(kArgumentCode, "gradient.rule.epsilon is %g, expected it to be above 0 in float32",
           epsilon);
    }
    gradient.rate = static_cast<float>(rate);
    gradient.epsilon = static_cast<float>(epsilon);
    if (rule == Rule::kAdam) {
      const double beta1 = number("gradient.rule.beta1");
      const double beta2 = number("gradient.rule.beta2");
      const double step = static_cast<double>(whole("gradient.step", 1, kMostSteps));
      if (ok_ && !(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1)) {
        fail(kArgumentCode,
             "gradient.rule has beta1 %g and beta2 %g, expected both from 0 to below 1", beta1,
             beta2);
      }
      gradient.beta1 = static_cast<float>(beta1);
      gradient.beta2 = static_cast<float>(beta2);
      gradient.rest1 = static_cast<float>(1 - beta1);
      gradient.rest2 = static_cast<float>(1 - beta2);
      gradient.rate = static_cast<float>(rate / (1 - std::pow(beta1, step)));
      gradient.correction = static_cast<float>(1 / (1 - std::pow(beta2, step)));
    }
  }
  if (!ok_) return Gradient{};

  next_ = after - 6;
  const size_t weights = times(layer.inputs, layer.outputs);
  gradient.weights = exact_floats("gradient.target.weights", weights).data;
  gradient.bias = exact_floats("gradient.target.bias", layer.outputs).data;
  const int states = !has_rule ? 0 : rule == Rule::kAdagrad ? 1 : 2;
  for (int i = 0; i < states; i++) {
    const char* name_weights = i == 0 ? "gradient.state[0].weights" : "gradient.state[1].weights";
    const char* name_bias = i == 0 ? "gradient.state[0].bias" : "gradient.state[1].bias";
    gradient.state_weights[i] = exact_floats(name_weights, weights).data;
    gradient.state_bias[i] = exact_floats(name_bias, layer.outputs).data;
  }
  if (!ok_) return Gradient{};
  next_ = after;
  gradient.rule = rule;
  return gradient;
}

Activation Arguments::activation() { return static_cast<Activation>(whole("activation", 0, 2)); }

Loss Arguments::loss() { return static_cast<Loss>(whole("loss", 0, 1)); }

}  // namespace heterosgd
