// Activations, and their derivatives by their outputs. NaN stays NaN: a diverged network must show in its loss.

#define RELU 0
#define SIGMOID 1
#define TANGENT 2
#define IDENTITY 3

// In whichever form cannot overflow.
FUNCTION float sigmoid(const float z) {
  const float e = exp(-fabs(z));
  return (z >= 0 ? 1 : e) / (1 + e);
}

FUNCTION float activate(const u32 activation, const float z) {
  if (activation == RELU) return z < 0 ? 0 : z;
  if (activation == SIGMOID) return sigmoid(z);
  if (activation == TANGENT) return tanh(z);
  return z;
}

// derivatives *= the activation's own, which follows from its outputs.
KERNEL multiply_by_derivative(
  POINTER(const float, outputs),
  POINTER(float, derivatives),
  const u32 count,
  const u32 activation
) {
  OPEN(const float, outputs);
  OPEN(float, derivatives);
  const u32 i = GROUP(0) * LOCAL_SIZE(0) + LOCAL(0);
  if (i >= count) return;
  const float y = outputs[i];
  if (activation == RELU) {
    if (y <= 0) derivatives[i] = 0;
  } else if (activation == SIGMOID) {
    derivatives[i] *= y * (1 - y);
  } else {
    derivatives[i] *= 1 - y * y;
  }
}
