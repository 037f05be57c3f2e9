//! A model that was made elsewhere: recalibrate and test it by its logits, without a line of its code.
//!
//! ```sh
//! cargo run --release --example other_model [FILE.safetensors]
//! ```
//!
//! The file has the tensors `logits`, `[n, m]` in f32, and `labels`, `[n]` in i64, of samples that were held
//! out from training. Without a file it is the one of a PyTorch network that `make.py` wrote. ONNX runtimes,
//! JAX and TensorFlow save such files as well; the command line reads CSV, NPY and NPZ.

use std::{env, error::Error, fs};

use burn::tensor::{Device, Int, Tensor, TensorData};
use burn_calibration::prelude::*;
use rand::{SeedableRng, rngs::StdRng};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};

const PYTORCH: &[u8] = include_bytes!("logits.safetensors");

fn main() -> Result<(), Box<dyn Error>> {
    let file = match env::args().nth(1) {
        Some(path) => fs::read(path)?,
        None => PYTORCH.to_vec(),
    };
    let (logits, labels) = read(&file, &Device::default())?;

    // one half to fit, the other to test
    let n = labels.dims()[0];
    let [fit, test] = [0..n / 2, n / 2..n].map(|rows| {
        (
            logits.clone().slice(rows.clone()),
            labels.clone().slice(rows),
        )
    });
    let map = TemperatureScalingConfig::new().fit(fit.0, fit.1)?;
    let before = Categorical::from_logits(test.0.clone())?;
    let after = Categorical::from_logits(map.forward(test.0))?;

    for (name, predictions) in [("As it came", &before), ("With a temperature", &after)] {
        let mut rng = StdRng::seed_from_u64(0);
        let outcome = OmnibusTest::new().outcome(predictions, &test.1, &mut rng)?;
        println!("{name}: {outcome}\n");
    }
    let gain = LogScore.improvement(&before, &after, &test.1)?.difference;
    println!(
        "A temperature of {:.2} changes the log loss by {:+.3} ± {:.3}.",
        map.temperature(),
        gain.estimate,
        gain.standard_error
    );
    Ok(())
}

/// Logits `[n, m]` and labels `[n]`.
fn read(file: &[u8], device: &Device) -> Result<(Tensor<2>, Tensor<1, Int>), Box<dyn Error>> {
    let tensors = SafeTensors::deserialize(file)?;
    let (logits, labels) = (tensors.tensor("logits")?, tensors.tensor("labels")?);
    expect(&logits, "logits", Dtype::F32, 2)?;
    expect(&labels, "labels", Dtype::I64, 1)?;
    let shape = [logits.shape()[0], logits.shape()[1]];
    let rows = labels.shape()[0];
    let logits: Vec<f32> = words(&logits).map(f32::from_le_bytes).collect();
    let labels: Vec<i64> = words(&labels).map(i64::from_le_bytes).collect();
    Ok((
        Tensor::from_data(TensorData::new(logits, shape), device),
        Tensor::from_data(TensorData::new(labels, [rows]), device),
    ))
}

fn expect(tensor: &TensorView, name: &str, dtype: Dtype, rank: usize) -> Result<(), String> {
    match tensor.dtype() == dtype && tensor.shape().len() == rank {
        true => Ok(()),
        false => Err(format!("{name}: expected {dtype:?} of {rank} dimensions")),
    }
}

fn words<'a, const N: usize>(tensor: &'a TensorView) -> impl Iterator<Item = [u8; N]> + 'a {
    tensor.data().as_chunks::<N>().0.iter().copied()
}
