"""Which map of normal predictions? Networks on eight tables, recalibrated at the command line.

    python benches/regression_maps.py ../shared/data/tabular [path of the command calibration]

A network (two layers of 50, mean and log deviation, 20 or 100 epochs of the log score) is trained on half of the
rows, the map is fitted to a quarter and evaluated on the rest. Needs numpy, pandas and torch. For each map the mean
log score and CRPS in units of the targets' deviation, of two networks; lower is better.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd
import torch

SETS = ["concrete", "energy", "kin8nm", "naval", "power_plant", "protein", "wine_red", "yacht"]
METHODS = ["temperature", "location-scale", "quantile", "local", None]
MOST_ROWS = 3000


def network(inputs, targets, epochs, seed):
    torch.manual_seed(seed)
    model = torch.nn.Sequential(
        torch.nn.Linear(inputs.shape[1], 50), torch.nn.ReLU(),
        torch.nn.Linear(50, 50), torch.nn.ReLU(), torch.nn.Linear(50, 2),
    )
    optimiser = torch.optim.Adam(model.parameters(), 1e-3)
    inputs, targets = (torch.tensor(x, dtype=torch.float32) for x in (inputs, targets))
    for _ in range(epochs):
        for rows in torch.randperm(len(inputs)).split(128):
            mean, log_deviation = model(inputs[rows]).T
            log_deviation = log_deviation.clamp(-8, 8)
            z = (targets[rows] - mean) * torch.exp(-log_deviation)
            loss = (log_deviation + 0.5 * z * z).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()

    def predict(inputs):
        with torch.no_grad():
            mean, log_deviation = model(torch.tensor(inputs, dtype=torch.float32)).double().numpy().T
        return np.c_[mean, np.exp(log_deviation.clip(-8, 8))]

    return predict


def split(folder, name, seed):
    table = pd.read_csv(folder / f"{name}.csv.gz").to_numpy(float)
    table = table[np.random.default_rng(seed).permutation(len(table))][:MOST_ROWS]
    half, quarter = len(table) // 2, 3 * len(table) // 4
    centre, unit = table[:half].mean(0), table[:half].std(0) + 1e-12
    table = (table - centre) / unit
    return [(part[:, :-1], part[:, -1]) for part in np.split(table, [half, quarter])]


def main(folder, command):
    def run(*arguments):
        done = subprocess.run([command, *arguments], capture_output=True, text=True, check=True)
        return json.loads(done.stdout) if "--json" in arguments else done.stderr

    rows = []
    with tempfile.TemporaryDirectory() as place:
        file = {name: f"{place}/{name}" for name in ["p.csv", "y.csv", "q.csv", "r.csv", "v.csv", "m.bpk"]}
        for epochs in (20, 100):
            for name in SETS:
                for seed in range(2):
                    train, fit, test = split(folder, name, seed)
                    predict = network(*train, epochs, seed)
                    for (inputs, targets), p, y in ((fit, "p.csv", "y.csv"), (test, "q.csv", "v.csv")):
                        np.savetxt(file[p], predict(inputs), delimiter=",")
                        np.savetxt(file[y], targets)
                    for method in METHODS:
                        named = ["--method", method] if method else []
                        family = ["--family", "normal"]
                        fitted = run("fit", *family, *named, "--predictions", file["p.csv"], "--targets",
                                     file["y.csv"], "-o", file["m.bpk"], "--json")
                        said = run("apply", file["m.bpk"], *family, "--predictions", file["q.csv"], "-o", file["r.csv"])
                        after = said.split("--family ")[1].strip() if said else "normal"
                        changes = run("compare", *family, "--after-family", after, "--before", file["q.csv"], "--after",
                                      file["r.csv"], "--targets", file["v.csv"], "--redraws", "19", "--json")["changes"]
                        scores = {key: changes.get(key, {}) for key in ("log", "crps")}
                        of = {"epochs": epochs, "set": name}
                        rows.append({**of, "map": method or "auto", "chosen": fitted["method"]}
                                    | {key: value.get("after") for key, value in scores.items()})
                        if method == METHODS[0]:
                            rows.append({**of, "map": "none"} | {k: v.get("before") for k, v in scores.items()})
    table = pd.DataFrame(rows)
    order = ["none"] + [method or "auto" for method in METHODS]
    for key in ("log", "crps"):
        means = table.pivot_table(index=["epochs", "set"], columns="map", values=key)
        print(f"\n{key}\n{means.reindex(columns=order).round(3).to_string()}")
    print("\nchosen by auto:", table[table["map"] == "auto"]["chosen"].value_counts().to_dict())


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "calibration")
