#!/usr/bin/env bash
# Builds the wheel, installs it into a virtual environment of its own, and runs the tests there.
#   python/test.sh [PROFILE]     the profile of Cargo, release by default; CALIBRATION_BIN names the command to compare
#                                with, which is built if nothing does
set -euo pipefail
cd "$(dirname "$0")"
project=$(cd .. && pwd)
profile=${1:-release}
target=$(cargo metadata --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q "maturin>=1.9,<2" numpy scikit-learn scipy pandas matplotlib onnx onnxruntime mypy pytest
# with the features of Burn that the other builds have, so that it is not built again
"$work/venv/bin/maturin" build --profile "$profile" --features workspace-hack --out "$work/wheels"
"$work/venv/bin/maturin" sdist --out "$work/sources"
if [ -z "${CALIBRATION_BIN:-}" ]; then
    (cd .. && cargo build --profile "$profile" -p burn-calibration-cli -p workspace-hack \
        --no-default-features --features burn-calibration-cli/files)
    folder=$([ "$profile" = dev ] && echo debug || echo "$profile")
    # another build may put one with other features there
    cp "$target/$folder/calibration" "$work"
    export CALIBRATION_BIN="$work/calibration"
fi
"$work/venv/bin/pip" install -q --no-index "$work"/wheels/*.whl
# not the sources beside the tests
cp -r tests examples README.md "$work"
cd "$work"
WHEEL=$(echo "$work"/wheels/*.whl) "$work/venv/bin/python" -m pytest -q -p no:cacheprovider tests
# exported maps by ONNX Runtime, and printed formulas by NumPy
"$work/venv/bin/python" "$project/tests/onnx/check.py" "$CALIBRATION_BIN"
