#!/usr/bin/env python3
"""One training step in PyTorch as an expert writes it by hand, for `bench step` and `bench gpu`.

No autograd, nothing of the size rows x labels allocated in a step, softmax in place, products
added straight into the weights. Of several ways to write a part the fastest here is used: the
sparse gradient is added as a sparse tensor (index_add_ takes longer), the bias's is a product with
ones (a sum over columns takes longer). On a GPU the sparse parts are added by index: adding a
sparse tensor sorts it there.

    torch-step.py FOLDER THREADS [--bf16] [--tf32] [--device cuda:0]

On a GPU all batches lie there before the first step, and a step waits for nothing. --tf32 lets its
tensor cores round the factors of float32 products, which is off otherwise.

FOLDER holds step.json and step.bin as `bench step` writes them. Then every line of standard input
is a JSON object, and so is the line that answers it:

    {"steps": 3, "learningRate": 1, "batch": 0}     batch null: all batches in turn
    {"wall": seconds, "cpu": seconds, "losses": [mean loss of a row, one a step]}

    {"memory": true}
    {"baseline": bytes, "peak": bytes}              of resident memory, before the data and at most

The first line, before any question: {"ready": "torch 2.0.0"}, or {"missing": "why"}.
"""
import json
import os
import sys
import time


def answer(reply):
    print(json.dumps(reply), flush=True)


folder, threads = sys.argv[1], int(sys.argv[2])
options = sys.argv[3:]
bf16 = "--bf16" in options
device = options[options.index("--device") + 1] if "--device" in options else "cpu"
on_gpu = device != "cpu"
# Set before the libraries are loaded. Two of these would make OpenBLAS slower than it is.
for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(name, None)
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(threads)

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
except ImportError as error:
    answer({"missing": str(error)})
    sys.exit(0)

if on_gpu and not torch.cuda.is_available():
    answer({"missing": "torch " + torch.__version__ + " finds no GPU"})
    sys.exit(0)
torch.set_num_threads(threads)
torch.set_grad_enabled(False)
torch.set_float32_matmul_precision("high" if "--tf32" in options else "highest")
half = torch.bfloat16


def status(key):
    """A figure of this process's memory in bytes."""
    with open("/proc/self/status", encoding="ascii") as lines:
        for line in lines:
            if line.startswith(key + ":"):
                return 1024 * int(line.split()[1])
    raise SystemExit("no " + key + " in /proc/self/status")


baseline = status("VmRSS")
with open(os.path.join(folder, "step.json"), encoding="ascii") as file:
    plan = json.load(file)
data = os.path.join(folder, "step.bin")
shape = plan["shape"]
features, units, labels = shape["features"], shape["hidden"], shape["labels"]


def part(place, kind=np.float32):
    """An array of the file: its first byte and its number of elements."""
    return np.fromfile(data, dtype=kind, count=place["length"], offset=place["offset"])


def tensor(name):
    return torch.from_numpy(part(plan["parameters"][name])).to(device)


W1 = tensor("input.weight").view(features, units)
b1 = tensor("input.bias")
W2 = tensor("output.weight").view(labels, units)
b2 = tensor("output.bias")


def prepare(batch):
    """What a step takes, made from a batch ahead of all steps."""
    offsets = part(batch["offsets"], np.uint32).astype(np.int64)
    indices = part(batch["indices"], np.uint32).astype(np.int64)
    label_offsets = part(batch["labelOffsets"], np.uint32).astype(np.int64)
    label_ids = part(batch["labels"], np.uint32).astype(np.int64)
    counts = np.diff(label_offsets)
    label_rows = np.repeat(np.arange(len(counts)), counts)
    arrays = {
        "offsets": offsets[:-1].copy(),
        "lengths": np.diff(offsets),
        "indices": indices,
        "values": part(batch["values"]),
        "label_rows": label_rows,
        "labels": label_ids,
        "places": label_rows * labels + label_ids,
        "targets": np.repeat(1.0 / counts, counts).astype(np.float32),
    }
    tensors = {name: torch.from_numpy(array).to(device) for name, array in arrays.items()}
    return {"rows": len(offsets) - 1, "non_zeros": len(indices), **tensors}


batches = [prepare(batch) for batch in plan["batches"]]
logits = torch.empty(batches[0]["rows"], labels, device=device)
flat_logits = logits.view(-1)
ones = torch.ones(batches[0]["rows"], device=device)
if bf16:
    half_logits = torch.empty(logits.shape, dtype=half, device=device)
    half_weights = torch.empty(W2.shape, dtype=half, device=device)
    half_gradient = torch.empty(W2.shape, dtype=half, device=device)


def finish():
    if on_gpu:
        torch.cuda.synchronize()


def step(batch, rate):
    """SGD in place on one batch; returns the mean loss of a row as a tensor."""
    hidden = F.embedding_bag(
        batch["indices"], W1, batch["offsets"], mode="sum", per_sample_weights=batch["values"]
    ).add_(b1).relu_()
    if bf16:
        half_weights.copy_(W2)
        half_hidden = hidden.to(half)
        torch.mm(half_hidden, half_weights.T, out=half_logits)
        logits.copy_(half_logits).add_(b2)
    else:
        torch.addmm(b2, hidden, W2.T, out=logits)
    torch.softmax(logits, 1, out=logits)
    if on_gpu:
        chances = flat_logits[batch["places"]]
        flat_logits.index_add_(0, batch["places"], batch["targets"], alpha=-1)
    else:
        at = (batch["label_rows"], batch["labels"])
        chances = logits[at]
        logits.index_put_(at, -batch["targets"], accumulate=True)
    loss = -(chances.log() * batch["targets"]).sum() / batch["rows"]
    scale = -rate / batch["rows"]
    if bf16:
        half_logits.copy_(logits)
        d_hidden = torch.mm(half_logits, half_weights).float()
        torch.mm(half_logits.T, half_hidden, out=half_gradient)
        W2.add_(half_gradient, alpha=scale)
    else:
        d_hidden = logits @ W2
        W2.addmm_(logits.T, hidden, alpha=scale)
    b2.addmv_(logits.T, ones, alpha=scale)
    d_hidden.mul_(hidden > 0)
    b1.add_(d_hidden.sum(0), alpha=scale)
    # Told how many there are, it need not wait for the GPU to know.
    gradient = d_hidden.repeat_interleave(
        batch["lengths"], 0, output_size=batch["non_zeros"]
    ).mul_(batch["values"].unsqueeze(1))
    if on_gpu:
        W1.index_add_(0, batch["indices"], gradient, alpha=scale)
    else:
        sparse = torch.sparse_coo_tensor(batch["indices"].unsqueeze(0), gradient, W1.shape)
        W1.add_(sparse, alpha=scale)
    return loss


try:
    answer({"ready": "torch " + torch.__version__})
    turn = 0
    for line in sys.stdin:
        question = json.loads(line)
        if question.get("memory"):
            answer({"baseline": baseline, "peak": status("VmHWM")})
            continue
        losses = []
        finish()
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(question["steps"]):
            chosen = question["batch"]
            if chosen is None:
                chosen, turn = turn, (turn + 1) % len(batches)
            losses.append(step(batches[chosen], question["learningRate"]))
        finish()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        answer({"wall": wall, "cpu": cpu, "losses": [float(loss) for loss in losses]})
except KeyboardInterrupt:
    pass
