use burn::tensor::Device;
use burn_calibration::recalibration::{
    LogitMap, MapKind, MatrixScaling, TemperatureScaling, load_safetensors,
};
use onnx_rs::ast::TensorProto;
use safetensors::{Dtype, SafeTensors, serialize, tensor::TensorView};

use crate::*;

const LOGITS: &str = "3,0,1\n0,2,1\n1,0,4\n5,1,0\n0,1,0\n2,0,1\n0,3,1\n1,2,2\n";
const LABELS: &str = "0\n1\n2\n0\n2\n1\n1\n2\n";

/// The arguments that name logits.
const FILES: &str = "--logits --predictions z.csv";

fn fitted(test: &str, method: &str) -> std::path::PathBuf {
    let folder = folder(test);
    write(&folder, &[("z.csv", LOGITS), ("y.csv", LABELS)]);
    let fit = format!("fit {FILES} --labels y.csv --method {method} -o saved.map");
    done(&folder, &fit);
    folder
}

fn values(parameter: &Value) -> Vec<f64> {
    let values = parameter["values"].as_array().unwrap();
    values.iter().map(|x| x.as_f64().unwrap()).collect()
}

#[test]
fn a_map_is_shown() {
    let folder = fitted("show", "temperature");
    let shown = json(&folder, "show saved.map");
    assert_eq!(
        (&shown["kind"], &shown["keeps_order"]),
        (&"temperature scaling".into(), &true.into())
    );
    assert_eq!(shown["fit"]["status"], "Converged");
    assert!(shown["number"].is_null());
    let parameter = &shown["parameters"][0];
    assert_eq!(
        (&parameter["name"], &parameter["shape"]),
        (&"temperature".into(), &vec![1].into())
    );
    let map = TemperatureScaling::load(folder.join("saved.map"), &Device::flex()).unwrap();
    assert_relative_eq!(
        values(parameter)[0],
        map.temperature(),
        max_relative = 1e-15
    );

    let lines = printed(&folder, "show saved.map --export json -o out.json");
    for line in [
        "temperature scaling of any number of classes",
        "fit: converged after ",
        "keeps the accuracy:             yes",
        &format!("temperature [1]: {}", map.temperature()),
    ] {
        assert!(lines.contains(line), "{line} in {lines}");
    }
    let exported = fs::read_to_string(folder.join("out.json")).unwrap();
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
        assert_eq!(
            complaint(&folder, &format!("show {file}")),
            format!(
                "{file}: not a saved map: it looks like {look}, expected the file of a saved map"
            )
        );
    }
}

/// A matrix as PyTorch has it: exported, loaded, and applied by the command line.
#[test]
fn to_pytorch_and_back() {
    let folder = fitted("export", "matrix");
    let output = calibration(
        &folder,
        "show saved.map --export safetensors -o torch.safetensors",
    );
    assert!(output.status.success());
    let map = MatrixScaling::load(folder.join("saved.map"), &Device::flex()).unwrap();
    let bytes = fs::read(folder.join("torch.safetensors")).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let numbers = |name: &str| -> Vec<f64> {
        let data = tensors.tensor(name).unwrap().data().chunks_exact(8);
        data.map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
            .collect()
    };
    assert_eq!(tensors.tensor("weight").unwrap().shape(), [3, 3]);
    assert_eq!(
        (numbers("weight"), numbers("bias")),
        (map.weight(), map.bias())
    );

    for (name, out) in [("saved.map", "a.csv"), ("torch.safetensors", "b.csv")] {
        let apply = format!("apply {name} {FILES} -o {out}");
        done(&folder, &apply);
    }
    let rows = read_csv(&folder.join("b.csv"));
    assert_eq!(read_csv(&folder.join("a.csv")), rows);
    // row 0: W (3, 0, 1) + b
    let (w, b) = (map.weight(), map.bias());
    for c in 0..3 {
        assert_relative_eq!(
            rows[0][c],
            3.0 * w[3 * c] + w[3 * c + 2] + b[c],
            max_relative = 1e-12
        );
    }
}

/// Files that others wrote, in other dtypes and with the names of a state dictionary.
#[test]
fn maps_of_others() {
    let folder = folder("torch");
    let write = |tensors: Vec<(&str, Dtype, Vec<usize>, Vec<u8>)>| {
        let views = tensors.iter().map(|(name, dtype, shape, bytes)| {
            (
                *name,
                TensorView::new(*dtype, shape.clone(), bytes).unwrap(),
            )
        });
        let bytes = serialize(views, None).unwrap();
        fs::write(folder.join("map.safetensors"), bytes).unwrap();
        load_safetensors(folder.join("map.safetensors"), &Device::flex())
    };
    let f32s = |numbers: &[f32]| {
        numbers
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let parameters = |map: LogitMap| {
        let named = map.named_parameters();
        (
            map.kind(),
            named.into_iter().map(|p| p.values).collect::<Vec<_>>(),
        )
    };
    let map = write(vec![("temperature", Dtype::F32, vec![], f32s(&[1.5]))]).unwrap();
    assert_eq!(parameters(map), ("temperature scaling", vec![vec![1.5]]));
    let bf16 = vec![0x00, 0x40, 0x80, 0x3f]; // 2, 1
    let map = write(vec![("scaling.weight", Dtype::BF16, vec![2], bf16)]).unwrap();
    assert_eq!(
        parameters(map),
        ("vector scaling", vec![vec![2.0, 1.0], vec![0.0, 0.0]])
    );

    let weight = |shape: Vec<usize>| {
        let numbers = f32s(&vec![0.5; shape.iter().product()]);
        ("weight", Dtype::F32, shape, numbers)
    };
    for (tensors, expected) in [
        (
            vec![weight(vec![2, 3])],
            "a weight of shape [2, 3], expected [m] or [m, m]",
        ),
        (vec![weight(vec![1])], "the number of intercepts is 1"),
        (
            vec![("bias", Dtype::F32, vec![2], f32s(&[0.0; 2]))],
            "expected temperature alone",
        ),
        (
            vec![("temperature", Dtype::F32, vec![1], f32s(&[-1.0]))],
            "the temperature is -1",
        ),
        (
            vec![("temperature", Dtype::I32, vec![1], vec![1, 0, 0, 0])],
            "temperature is I32",
        ),
        (
            vec![("gain", Dtype::F32, vec![1], f32s(&[1.0]))],
            "it holds gain",
        ),
        (
            vec![
                weight(vec![2]),
                ("a.weight", Dtype::F32, vec![2], f32s(&[0.0; 2])),
            ],
            "it holds more than one",
        ),
    ] {
        let error = write(tensors).unwrap_err().to_string();
        contains(&error, expected);
    }
    fs::write(folder.join("map.safetensors"), "no").unwrap();
    let error = complaint(&folder, "show map.safetensors");
    begins(&error, "map.safetensors: no map of logits: ");
}

/// The model of a map of every kind takes what there is, each name once, and nothing that comes later. What it gives is
/// checked by ONNX Runtime in tests/onnx/check.py.
#[test]
fn models_are_whole() {
    let folder = fitted("onnx", "temperature");
    for kind in MapKind::ALL {
        let fit = format!("fit {FILES} --labels y.csv --method {kind} -o saved.map");
        assert!(calibration(&folder, &fit).status.success(), "{kind}");
        let export = calibration(&folder, "show saved.map --export onnx -o map.onnx");
        assert!(export.status.success(), "{kind}");
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
        let mut once = known.clone();
        once.sort_unstable();
        once.dedup();
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
