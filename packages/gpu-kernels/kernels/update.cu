// How a gradient takes effect on parameters. Adagrad: Duchi, Hazan, Singer 2011. Adam: Kingma, Ba 2015, Algorithm 1. In both, ε
// is added to the root.

#define ADD 0
#define ADAGRAD 1
#define ADAM 2

typedef struct {
  GLOBAL float *target;
  // Adagrad's sums of squares, or Adam's first moments; its second moments.
  GLOBAL float *first;
  GLOBAL float *second;
  u32 rule;
  float scale;
  // The learning rate; Adam's divided by 1 − β₁^step.
  float rate;
  float epsilon;
  float beta1;
  float rest1;
  float beta2;
  float rest2;
  // 1 / (1 − β₂^step).
  float correction;
} Update;

#define UPDATE_PARAMETERS                                                                              \
  POINTER(float, target), POINTER(float, first_state), POINTER(float, second_state), const u32 rule, \
    const float scale, const float rate, const float epsilon, const float beta1, const float rest1,  \
    const float beta2, const float rest2, const float correction

#define OPEN_UPDATE(name)                       \
  Update name;                                  \
  name.target = target_base + target_start;     \
  name.first = first_state_base + first_state_start;    \
  name.second = second_state_base + second_state_start; \
  name.rule = rule;                             \
  name.scale = scale;                           \
  name.rate = rate;                             \
  name.epsilon = epsilon;                       \
  name.beta1 = beta1;                           \
  name.rest1 = rest1;                           \
  name.beta2 = beta2;                           \
  name.rest2 = rest2;                           \
  name.correction = correction

// Element i of the gradient before `scale`.
FUNCTION void update(const Update u, const u64 i, const float gradient) {
  if (u.rule == ADD) {
    u.target[i] = fma(u.scale, gradient, u.target[i]);
    return;
  }
  const float g = u.scale * gradient;
  if (u.rule == ADAGRAD) {
    const float sum = fma(g, g, u.first[i]);
    u.first[i] = sum;
    u.target[i] -= u.rate * g / (sqrt(sum) + u.epsilon);
    return;
  }
  const float m = fma(u.beta1, u.first[i], u.rest1 * g);
  const float v = fma(u.beta2, u.second[i], u.rest2 * g * g);
  u.first[i] = m;
  u.second[i] = v;
  u.target[i] -= u.rate * m / (sqrt(v * u.correction) + u.epsilon);
}
