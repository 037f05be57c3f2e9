"""Makes logits.safetensors: the logits of a PyTorch network on digits that it has not seen, and their labels.

pip install torch scikit-learn safetensors && python make.py
"""

import torch
from safetensors.torch import save_file
from sklearn.datasets import load_digits

torch.manual_seed(0)
digits = load_digits()
images = torch.tensor(digits.data[:, :32] / 16, dtype=torch.float32)  # the upper halves
labels = torch.tensor(digits.target)
order = torch.randperm(len(labels))
train, rest = order[:800], order[800:1600]
network = torch.nn.Sequential(torch.nn.Linear(32, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
optimiser = torch.optim.Adam(network.parameters(), lr=3e-3)
for _ in range(200):
    for batch in train[torch.randperm(800)].split(100):
        loss = torch.nn.functional.cross_entropy(network(images[batch]), labels[batch])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
with torch.no_grad():
    save_file({"logits": network(images[rest]), "labels": labels[rest]}, "logits.safetensors")
