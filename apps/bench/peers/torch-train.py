#!/usr/bin/env python3
"""Trains the network of `bench peers` in PyTorch: sparse rows, a ReLU layer, a softmax over all labels.

    torch-train.py FOLDER autograd|by-hand SETTINGS

autograd is what a user writes: nn.EmbeddingBag(sparse=True) with weights, nn.Linear, logsumexp, SparseAdam
and Adam. by-hand is what an expert writes: no autograd, nothing of the size rows x labels or labels x
units allocated in a step, Adam in place.

FOLDER holds peers.json and peers.bin as `bench peers` writes them. SETTINGS is JSON: threads, batch,
epochs, rate (falls by a cosine to 0), maxSeconds. The first line of the output is {"ready": "torch 2.0.0"} or
{"missing": "why"}; then one follows for each epoch, {"rows": until then, "seconds": of training,
evaluations left out, "precision": P@1 on the test rows}.
"""
import json
import math
import os
import sys
import time


def say(what):
    print(json.dumps(what), flush=True)


folder, way, settings = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
# Set before the libraries are loaded. Two of these would make OpenBLAS slower than it is.
for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(name, None)
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(settings["threads"])

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
except ImportError as error:
    say({"missing": str(error)})
    sys.exit(0)

torch.set_num_threads(settings["threads"])
torch.manual_seed(1)
with open(os.path.join(folder, "peers.json"), encoding="ascii") as file:
    plan = json.load(file)


def part(name):
    place = plan["arrays"][name]
    return np.fromfile(
        os.path.join(folder, "peers.bin"), place["type"], place["length"], offset=place["offset"]
    )


def read_rows(name):
    ids = {key: part(name + "." + key).astype(np.int64)
           for key in ("offsets", "indices", "labelOffsets", "labels")}
    return {**ids, "values": part(name + ".values"), "rows": len(ids["offsets"]) - 1}


train, test = read_rows("train"), read_rows("test")
features, units, labels = plan["features"], plan["hidden"], plan["labels"]
W1 = torch.from_numpy(part("input.weight")).view(features, units)
b1 = torch.from_numpy(part("input.bias"))
W2 = torch.from_numpy(part("output.weight")).view(labels, units)
b2 = torch.from_numpy(part("output.bias"))


def gathered(offsets, rows, *arrays):
    """The rows' entries behind each other: how many each row has, and those of each array."""
    starts, lengths = offsets[rows], offsets[rows + 1] - offsets[rows]
    firsts = np.cumsum(lengths) - lengths
    at = np.repeat(starts - firsts, lengths) + np.arange(lengths.sum())
    return lengths, [array[at] for array in arrays]


def batch_of(data, rows):
    lengths, (indices, values) = gathered(data["offsets"], rows, data["indices"], data["values"])
    counts, (wanted,) = gathered(data["labelOffsets"], rows, data["labels"])
    weights = np.repeat(1.0 / np.maximum(counts, 1), counts).astype(np.float32)
    return {
        "rows": len(rows),
        "lengths": torch.from_numpy(lengths),
        "offsets": torch.from_numpy(np.cumsum(lengths) - lengths),
        "indices": torch.from_numpy(indices),
        "values": torch.from_numpy(values),
        "label_rows": torch.from_numpy(np.repeat(np.arange(len(rows)), counts)),
        "labels": torch.from_numpy(wanted),
        "targets": torch.from_numpy(weights),
    }


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.input = torch.nn.EmbeddingBag(features, units, mode="sum", sparse=True, _weight=W1)
        self.bias = torch.nn.Parameter(b1)
        self.output = torch.nn.Linear(units, labels)
        self.output.weight = torch.nn.Parameter(W2)
        self.output.bias = torch.nn.Parameter(b2)

    def forward(self, batch):
        sums = self.input(batch["indices"], batch["offsets"], per_sample_weights=batch["values"])
        return self.output(torch.relu(sums + self.bias))


def by_autograd():
    network = Network()
    dense = [network.bias, network.output.weight, network.output.bias]
    optimizers = [torch.optim.SparseAdam([network.input.weight]), torch.optim.Adam(dense)]

    def step(batch, rate):
        for optimizer in optimizers:
            optimizer.param_groups[0]["lr"] = rate
            optimizer.zero_grad()
        logits = network(batch)
        log_sums = torch.logsumexp(logits, 1)[batch["label_rows"]]
        wanted = logits[batch["label_rows"], batch["labels"]]
        loss = ((log_sums - wanted) * batch["targets"]).sum() / batch["rows"]
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()

    return step, network


def by_hand():
    beta1, beta2, epsilon = 0.9, 0.999, 1e-8
    size = settings["batch"]
    logits_of_batch = torch.empty(size, labels)
    gradient, root = torch.empty_like(W2), torch.empty_like(W2)
    moments = [(torch.zeros_like(P), torch.zeros_like(P)) for P in (W2, b2, b1)]
    weight = torch.nn.Parameter(W1)
    sparse_adam = torch.optim.SparseAdam([weight])
    steps = [0]

    def hidden_of(batch):
        return F.embedding_bag(
            batch["indices"], W1, batch["offsets"], mode="sum", per_sample_weights=batch["values"]
        ).add_(b1).relu_()

    def adam(parameters, slope, which, rate, scratch):
        first, second = moments[which]
        first.lerp_(slope, 1 - beta1)
        second.mul_(beta2).addcmul_(slope, slope, value=1 - beta2)
        correction = math.sqrt(1 - beta2 ** steps[0])
        torch.sqrt(second, out=scratch).div_(correction).add_(epsilon)
        parameters.addcdiv_(first, scratch, value=-rate / (1 - beta1 ** steps[0]))

    def step(batch, rate):
        steps[0] += 1
        hidden = hidden_of(batch)
        logits = logits_of_batch[: batch["rows"]]
        torch.addmm(b2, hidden, W2.T, out=logits)
        torch.softmax(logits, 1, out=logits)
        if len(batch["targets"]) < batch["rows"]:
            # A row without labels has no loss.
            has = torch.zeros(batch["rows"]).index_add_(0, batch["label_rows"], batch["targets"])
            logits.mul_(has.unsqueeze(1))
        at = (batch["label_rows"], batch["labels"])
        logits.index_put_(at, -batch["targets"], accumulate=True)
        logits.div_(batch["rows"])
        d_hidden = (logits @ W2).mul_(hidden > 0)
        torch.mm(logits.T, hidden, out=gradient)
        adam(W2, gradient, 0, rate, root)
        adam(b2, logits.sum(0), 1, rate, torch.empty_like(b2))
        adam(b1, d_hidden.sum(0), 2, rate, torch.empty_like(b1))
        slopes = d_hidden.repeat_interleave(batch["lengths"], 0).mul_(batch["values"].unsqueeze(1))
        weight.grad = torch.sparse_coo_tensor(batch["indices"].unsqueeze(0), slopes, W1.shape)
        sparse_adam.param_groups[0]["lr"] = rate
        sparse_adam.step()

    return step, lambda batch: torch.addmm(b2, hidden_of(batch), W2.T)


say({"ready": "torch " + torch.__version__})
torch.set_grad_enabled(way == "autograd")
step, scores = by_autograd() if way == "autograd" else by_hand()


@torch.no_grad()
def precision():
    hits = 0
    for start in range(0, test["rows"], settings["batch"]):
        rows = np.arange(start, min(test["rows"], start + settings["batch"]))
        batch = batch_of(test, rows)
        best = scores(batch).argmax(1)
        hits += int((batch["labels"] == best[batch["label_rows"]]).sum())
    return hits / test["rows"]


order = np.random.default_rng(1)
total, done, seconds = settings["epochs"] * train["rows"], 0, 0.0
for _ in range(settings["epochs"]):
    shuffled = order.permutation(train["rows"])
    began = time.perf_counter()
    for start in range(0, train["rows"], settings["batch"]):
        rows = shuffled[start : start + settings["batch"]]
        step(batch_of(train, rows), settings["rate"] * (1 + math.cos(math.pi * done / total)) / 2)
        done += len(rows)
        if seconds + time.perf_counter() - began > settings["maxSeconds"]:
            break
    seconds += time.perf_counter() - began
    say({"rows": done, "seconds": seconds, "precision": precision()})
    if seconds > settings["maxSeconds"]:
        break
