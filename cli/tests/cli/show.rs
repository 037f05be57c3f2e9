use std::collections::BTreeSet;

use burn::tensor::Device;
use burn_calibration::recalibration::{
    FittedMap as _, LogitMap, MapKind, MatrixScaling, TemperatureScaling, load_map,
};
use onnx_rs::ast::TensorProto;
use safetensors::{Dtype, SafeTensors, serialize, tensor::TensorView};

use crate::*;

const LOGITS: &str = "3,0,1\n0,2,1\n1,0,4\n5,1,0\n0,1,0\n2,0,1\n0,3,1\n1,2,2\n";
const LABELS: &str = "0\n1\n2\n0\n2\n1\n1\n2\n";

/// The arguments that name logits.
const FILES: &str = "--logits --predictions z.csv";

fn fitted(test: &str, method: &str) -> PathBuf {
    let folder = folder(test);
    write(&folder, &[("z.csv", LOGITS), ("y.csv", LABELS)]);
    let fit = format!("fit {FILES} --labels y.csv --method {method} -o saved.map");
    done(&folder, &fit);
    folder
}

#[test]
fn a_map_is_shown() {
    let folder = fitted("show", "temperature");
    let shown = json(&folder, "show saved.map");
    assert_eq!(shown["kind"], "temperature scaling");
    assert_eq!(shown["keeps_order"], true);
    assert_eq!(shown["fit"]["status"], "Converged");
    assert!(shown["number"].is_null());
    let parameter = &shown["parameters"][0];
    assert_eq!(parameter["name"], "temperature");
    assert_eq!(parameter["shape"], serde_json::json!([1]));
    let map = TemperatureScaling::load(folder.join("saved.map"), &Device::flex()).unwrap();
    let found = number(&parameter["values"][0]);
    assert_relative_eq!(found, map.temperature(), max_relative = 1e-15);

    let lines = printed(&folder, "show saved.map --export json -o out.json");
    for line in [
        "temperature scaling of any number of classes",
        "fit: converged after ",
        "keeps the accuracy:             yes",
        &format!("temperature [1]: {}", map.temperature()),
    ] {
        contains(&lines, line);
    }
    let exported = read(&folder, "out.json");
    assert_eq!(serde_json::from_str::<Value>(&exported).unwrap(), shown);

    let same = complaint(&folder, "show saved.map --export json -o saved.map");
    contains(&same, "the output is also an input");
    fs::write(folder.join("z.npy"), npy(&rows(), &[4, 3], npyz::Order::C)).unwrap();
    fs::write(folder.join("empty"), "").unwrap();
    for (file, look) in [
        ("z.csv", "text, such as a table"),
        ("out.json", "JSON"),
        ("z.npy", "an array of NumPy"),
        ("empty", "an empty file"),
    ] {
        let expected = format!("{file}: not a saved map: it looks like {look}, expected the file");
        let expected = expected + " of a saved map";
        assert_eq!(complaint(&folder, &format!("show {file}")), expected);
    }
}

/// A saved matrix is safetensors; without its metadata it is that of PyTorch, and is applied alike.
#[test]
fn to_pytorch_and_back() {
    let folder = fitted("export", "matrix");
    let map = MatrixScaling::load(folder.join("saved.map"), &Device::flex()).unwrap();
    let bytes = fs::read(folder.join("saved.map")).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let numbers = |name: &str| -> Vec<f64> {
        let data = tensors.tensor(name).unwrap().data().chunks_exact(8);
        data.map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
            .collect()
    };
    assert_eq!(tensors.tensor("weight").unwrap().shape(), [3, 3]);
    assert_eq!(numbers("weight"), map.weight());
    assert_eq!(numbers("bias"), map.bias());
    let torch = serialize(tensors.tensors(), None).unwrap();
    fs::write(folder.join("torch.safetensors"), torch).unwrap();

    for (name, out) in [("saved.map", "a.csv"), ("torch.safetensors", "b.csv")] {
        let apply = format!("apply {name} {FILES} -o {out}");
        done(&folder, &apply);
    }
    let rows = read_csv(&folder.join("b.csv"));
    assert_eq!(read_csv(&folder.join("a.csv")), rows);
    // row 0: W (3, 0, 1) + b
    let (w, b) = (map.weight(), map.bias());
    for c in 0..3 {
        let expected = 3.0 * w[3 * c] + w[3 * c + 2] + b[c];
        assert_relative_eq!(rows[0][c], expected, max_relative = 1e-12);
    }
}

/// Files that others wrote, in other dtypes and with the names of a state dictionary.
#[test]
fn maps_of_others() {
    let folder = folder("torch");
    let write = |tensors: Vec<(&str, Dtype, Vec<usize>, Vec<u8>)>| {
        let views = tensors.iter().map(|(name, dtype, shape, bytes)| {
            let view = TensorView::new(*dtype, shape.clone(), bytes);
            (*name, view.unwrap())
        });
        let bytes = serialize(views, None).unwrap();
        fs::write(folder.join("map.safetensors"), bytes).unwrap();
        load_map(folder.join("map.safetensors"), &Device::flex())
    };
    let f32s = |numbers: &[f32]| -> Vec<u8> {
        let numbers = numbers.iter();
        numbers.flat_map(|x| x.to_le_bytes()).collect()
    };
    let parameters = |map: LogitMap| {
        let named = map.named_parameters().into_iter();
        (map.kind(), named.map(|p| p.values).collect::<Vec<_>>())
    };
    let map = write(vec![("temperature", Dtype::F32, vec![], f32s(&[1.5]))]).unwrap();
    assert_eq!(parameters(map), ("temperature scaling", vec![vec![1.5]]));
    let bf16 = vec![0x00, 0x40, 0x80, 0x3f]; // 2, 1
    let map = write(vec![("scaling.weight", Dtype::BF16, vec![2], bf16)]).unwrap();
    let expected = vec![vec![2.0, 1.0], vec![0.0, 0.0]];
    assert_eq!(parameters(map), ("vector scaling", expected));

    let of = |name: &'static str, shape: &[usize], number: f32| {
        let numbers = f32s(&vec![number; shape.iter().product()]);
        (name, Dtype::F32, shape.to_vec(), numbers)
    };
    let whole = ("temperature", Dtype::I32, vec![1], vec![1, 0, 0, 0]);
    let two = vec![of("weight", &[2], 0.5), of("a.weight", &[2], 0.0)];
    let shape = "a weight of shape [2, 3], expected [m] or [m, m]";
    for (tensors, expected) in [
        (vec![of("weight", &[2, 3], 0.5)], shape),
        (
            vec![of("weight", &[1], 0.5)],
            "the number of intercepts is 1",
        ),
        (vec![of("bias", &[2], 0.0)], "expected temperature alone"),
        (vec![of("temperature", &[1], -1.0)], "the temperature is -1"),
        (vec![whole], "temperature is I32"),
        (vec![of("gain", &[1], 1.0)], "it holds gain"),
        (two, "it holds more than one"),
    ] {
        let error = write(tensors).unwrap_err().to_string();
        contains(&error, expected);
    }
    fs::write(folder.join("map.safetensors"), "no").unwrap();
    let error = complaint(&folder, "show map.safetensors");
    begins(&error, "map.safetensors: not a saved map: ");
}

/// The model of a map of every kind takes what there is, each name once, and nothing that comes later. What it gives is
/// checked by ONNX Runtime in tests/onnx/check.py.
#[test]
fn models_are_whole() {
    let folder = fitted("onnx", "temperature");
    for kind in MapKind::ALL {
        let fit = format!("fit {FILES} --labels y.csv --method {kind} -o saved.map");
        done(&folder, &fit);
        done(&folder, "show saved.map --export onnx -o map.onnx");
        let bytes = fs::read(folder.join("map.onnx")).unwrap();
        let graph = onnx_rs::parse(&bytes).unwrap().graph.unwrap();
        let mut known: Vec<&str> = graph.input.iter().map(|input| input.name).collect();
        assert_eq!(known, ["logits"]);
        known.extend(graph.initializer.iter().map(|tensor| tensor.name()));
        for node in &graph.node {
            for input in &node.input {
                assert!(known.contains(input), "{kind}: {input} of {}", node.op_type);
            }
            known.extend(&node.output);
        }
        let once: BTreeSet<_> = known.iter().collect();
        assert_eq!(once.len(), known.len(), "{kind}");
        let used = |tensor: &TensorProto| {
            let mut inputs = graph.node.iter().flat_map(|node| &node.input);
            inputs.any(|input| *input == tensor.name())
        };
        assert!(graph.initializer.iter().all(used), "{kind}");
        assert_eq!(graph.output[0].name, "probabilities");
        assert_eq!(known.last(), Some(&"probabilities"));
    }
}
