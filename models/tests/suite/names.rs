//! Networks by name.

use burn::tensor::Device;
use burn_calibration_models::{Architecture, Network};

#[test]
fn names_go_there_and_back() {
    for architecture in Architecture::ALL {
        let name = architecture.to_string();
        assert_eq!(name.parse(), Ok(architecture));
        let json = serde_json::to_string(&architecture).unwrap();
        assert_eq!(json, format!("\"{name}\""));
        assert_eq!(
            serde_json::from_str::<Architecture>(&json).unwrap(),
            architecture
        );
    }
}

#[test]
fn unknown_name() {
    let expected = "no network \"alexnet\", expected one of lenet5, resnet20, resnet32, resnet44, \
                    resnet56, resnet110, resnet110-sd, wrn-16-8, wrn-28-10, wrn-34-10, densenet40, \
                    densenet-bc-100";
    let error = "alexnet".parse::<Architecture>().unwrap_err();
    assert_eq!(error.to_string(), expected);
    let error = serde_json::from_str::<Architecture>("\"alexnet\"").unwrap_err();
    assert!(error.to_string().starts_with(expected), "{error}");
}

#[test]
fn names_are_of_their_family() {
    for architecture in Architecture::ALL {
        let family = match architecture.init(10, &Device::flex()) {
            Network::LeNet5(_) => "lenet",
            Network::ResNet(_) => "resnet",
            Network::WideResNet(_) => "wrn",
            Network::DenseNet(_) => "densenet",
        };
        assert!(architecture.name().starts_with(family), "{architecture}");
    }
}
