//! Numbers of parameters, each derived by hand or published.

use burn::tensor::Device;
use burn_calibration_models::{
    Architecture, DenseNetConfig, ResNetConfig, Shortcut, WideResNetConfig, parameter_count,
};

#[track_caller]
fn check(name: &str, of_10_classes: usize, of_100_classes: usize) {
    let architecture: Architecture = name.parse().unwrap();
    for (classes, count) in [(10, of_10_classes), (100, of_100_classes)] {
        let network = architecture.init(classes, &Device::flex());
        assert_eq!(
            network.parameter_count(),
            count,
            "{name}, {classes} classes"
        );
    }
}

/// Convolutions 6 (3·25 + 1) = 456 and 16 (6·25 + 1) = 2,416; layers 120 (400 + 1) = 48,120,
/// 84 (120 + 1) = 10,164 and (84 + 1) classes. 62,006 is that of the tutorial of PyTorch.
#[test]
fn lenet() {
    check("lenet5", 62_006, 69_656);
}

/// With n blocks a stage: first convolution 3·16·9 + 2·16 = 464;
/// stage 1: n (2·16·16·9 + 4·16) = 4,672 n;
/// stage 2: 16·32·9 + 32·32·9 + 4·32 = 13,952 for the first block, 2·32·32·9 + 4·32 = 18,560 for
/// each of n − 1; stage 3: 32·64·9 + 64·64·9 + 4·64 = 55,552 and 2·64·64·9 + 4·64 = 73,984;
/// classifier 65·classes. Together 97,216 n − 22,576 + 650 for 10 classes, n = 3, 5, 7, 9, 18.
///
/// Table 6 of He et al.: 0.27, 0.46, 0.66, 0.85, 1.7 M; the first and last are also the counts
/// that users of akamaster/pytorch_resnet_cifar10 report (269,722 and 1,727,962).
#[test]
fn resnet() {
    check("resnet20", 269_722, 275_572);
    check("resnet32", 464_154, 470_004);
    check("resnet44", 658_586, 664_436);
    check("resnet56", 853_018, 858_868);
    check("resnet110", 1_727_962, 1_733_812);
}

#[test]
fn stochastic_depth_has_no_parameters() {
    check("resnet110-sd", 1_727_962, 1_733_812);
}

/// Option B has 16·32 + 2·32 + 32·64 + 2·64 = 2,752 more than option A.
#[test]
fn projections() {
    let config = ResNetConfig::new(20).with_shortcut(Shortcut::Projection);
    assert_eq!(parameter_count(&config.init(&Device::flex())), 272_474);
}

/// Table 4 of Zagoruyko and Komodakis: 11.0 M and 36.5 M.
///
/// WRN-16-8 by hand: first convolution 432;
/// stage 1: 32 + 18,432 + 256 + 147,456 + 2,048 and 2 (256 + 147,456), together 463,648;
/// stage 2: 256 + 294,912 + 512 + 589,824 + 32,768 and 2 (512 + 589,824): 2,098,944;
/// stage 3: 512 + 1,179,648 + 1,024 + 2,359,296 + 131,072 and 2 (1,024 + 2,359,296): 8,392,192;
/// normalisation 1,024, classifier 513·classes.
///
/// WRN-28-10 has 36,479,194 and 36,536,884 in xternalz/WideResNet-pytorch; WRN-34-10 has one block
/// more in each stage: 2·9·(160² + 320² + 640²) + 4·(160 + 320 + 640) = 9,681,280.
#[test]
fn wide_resnet() {
    check("wrn-16-8", 10_961_370, 11_007_540);
    check("wrn-28-10", 36_479_194, 36_536_884);
    check("wrn-34-10", 36_479_194 + 9_681_280, 36_536_884 + 9_681_280);
}

/// With widening factor 1 the first stage needs no projection. By hand: first convolution 432;
/// blocks 32 + 2,304 + 32 + 2,304 = 4,672, then 32 + 4,608 + 64 + 9,216 + 512 = 14,432, then
/// 64 + 18,432 + 128 + 36,864 + 2,048 = 57,536; normalisation 128, classifier 650.
#[test]
fn wide_resnet_that_is_not_wide() {
    let network = WideResNetConfig::new(10, 1).init(&Device::flex());
    assert_eq!(parameter_count(&network), 77_850);
}

/// Table 2 of Huang et al.: 1.0 M and 0.8 M.
///
/// DenseNet-40: first convolution 432; a layer on c channels has 2 c + 9·12·c = 110 c. The channels
/// of the 12 layers of a block add up to 984, 2,712 and 4,440 (from 16, 160 and 304): 894,960.
/// Transitions 320 + 160² = 25,920 and 608 + 304² = 93,024, normalisation 896, classifier
/// 449·classes.
///
/// DenseNet-BC-100: first convolution 648; a layer on c channels has 2 c + 48 c and
/// 2·48 + 48·12·9 = 5,280. The channels of the 16 layers of a block add up to 1,824, 3,168 and 3,840
/// (from 24, 108 and 150): 441,600 + 48·5,280 = 695,040. Transitions 432 + 216·108 = 23,760 and
/// 600 + 300·150 = 45,600, normalisation 684, classifier 343·classes.
#[test]
fn densenet() {
    check("densenet40", 1_019_722, 1_060_132);
    check("densenet-bc-100", 769_162, 800_032);
}

/// The implementation of A. Veit starts with 24 channels also where there are no bottlenecks:
/// 8 channels more before each of 12 layers in three blocks, in both transitions (whose outputs
/// grow too) and in the classifier.
#[test]
fn densenet_from_more_channels() {
    let network = DenseNetConfig::new(40, 12)
        .with_stem(Some(24))
        .init(&Device::flex());
    let layers = 110 * 8 * 12 * 3;
    let transitions = (2 * 8 + 168 * 168 - 160 * 160) + (2 * 8 + 312 * 312 - 304 * 304);
    let rest = 8 * 27 + 2 * 8 + 8 * 10;
    assert_eq!(
        parameter_count(&network),
        1_019_722 + layers + transitions + rest
    );
}

#[test]
#[should_panic(expected = "a ResNet of depth 21, expected 6 n + 2 with n ≥ 1")]
fn impossible_resnet() {
    ResNetConfig::new(21).init(&Device::flex());
}

#[test]
#[should_panic(expected = "a Wide ResNet of depth 32, expected 6 n + 4 with n ≥ 1")]
fn impossible_wide_resnet() {
    WideResNetConfig::new(32, 10).init(&Device::flex());
}

#[test]
#[should_panic(expected = "a DenseNet of depth 43, expected 6 n + 4 with n ≥ 1")]
fn impossible_densenet() {
    DenseNetConfig::bc(43, 12).init(&Device::flex());
}

#[test]
#[should_panic(expected = "the last block survives with probability 0, expected one in (0, 1]")]
fn impossible_survival() {
    ResNetConfig::new(20)
        .with_survival(0.0)
        .init(&Device::flex());
}

#[test]
#[should_panic(expected = "1 classes, expected at least 2")]
fn one_class() {
    Architecture::LeNet5.init(1, &Device::flex());
}
