//! The monitor: section 10 of the mathematical reference with all digits of a calculation in Python, its faults, its
//! history, its levels and its delays.

use burn::tensor::{DType, Device, Int, Tensor};
use burn_calibration::{
    distribution::{Batch, Categorical, Normal, QuantileForecasts, Samples, Subject, Weighted},
    error::Error,
    monitor::{CalibrationMonitor, Change, Component, Monitored, Part, Stream},
};

mod course;
mod levels;

fn column(values: &[f64]) -> Tensor<2> {
    Tensor::<1>::from_data(values, (&Device::default(), DType::F64)).reshape([values.len(), 1])
}

fn classes(p: &[f64], m: usize, labels: &[i64]) -> (Categorical, Tensor<1, Int>) {
    let rows = column(p).reshape([labels.len(), m]);
    let labels = Tensor::from_data(labels, &Device::default());
    (Categorical::from_probabilities(rows).unwrap(), labels)
}

fn events(p: &[f64], labels: &[i64]) -> (Categorical, Tensor<1, Int>) {
    let both: Vec<f64> = p.iter().flat_map(|p| [1.0 - p, *p]).collect();
    let (predictions, labels) = classes(&both, 2, labels);
    (predictions.about(Subject::Event).unwrap(), labels)
}

/// A monitor with these weights and components.
fn of(stream: Stream, components: &[(f64, Component)]) -> CalibrationMonitor {
    let weighted = |(weight, component): &(f64, Component)| {
        let mut component = component.clone();
        component.weight = *weight;
        component
    };
    let monitor = CalibrationMonitor::new(0.05).unwrap();
    monitor
        .with_components(stream, components.iter().map(weighted).collect())
        .unwrap()
}

fn close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 1e-12 * expected.abs().max(1.0),
        "{found} {expected}"
    );
}

/// Wealth after each row, and the detector, each row from the state of a file.
fn run<P: Monitored>(
    monitor: &mut CalibrationMonitor,
    (predictions, targets): (P, P::Targets),
    target: impl Fn(&P::Targets, usize) -> P::Targets,
) -> Vec<[f64; 2]> {
    (0..predictions.len())
        .map(|row| {
            let one = predictions.slice_rows(row..row + 1);
            monitor.update(&one, &target(&targets, row)).unwrap();
            let text = serde_json::to_string(&monitor).unwrap();
            let resumed: CalibrationMonitor = serde_json::from_str(&text).unwrap();
            assert_eq!(resumed, *monitor);
            *monitor = resumed;
            [monitor.state().wealth, monitor.state().detector]
        })
        .collect()
}

fn label(y: &Tensor<1, Int>, row: usize) -> Tensor<1, Int> {
    y.clone().slice(row..row + 1)
}

fn real(y: &Tensor<2>, row: usize) -> Tensor<2> {
    y.clone().slice(row..row + 1)
}

fn check_wealth(found: &[[f64; 2]], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    let pairs = found.iter().zip(expected);
    pairs.for_each(|([wealth, _], expected)| close(*wealth, *expected));
}

/// The event of section 10: wealth, detector, components and p-value by NumPy; rows at once are rows one by one.
#[test]
fn an_event_as_by_hand() {
    let line = |factor, shift| Component::new(Part::Class(1), factor, shift);
    let components = [
        (0.5, line(0.5, 0.0)),
        (0.25, line(1.0, -0.5)),
        (0.25, line(1.5, 0.0)),
    ];
    let data = events(&[0.9, 0.8, 0.3, 0.95, 0.6, 0.1], &[1, 0, 0, 0, 1, 1]);
    let mut monitor = of(Stream::Event, &components);
    let found = run(&mut monitor, data.clone(), label);
    let wealth = [
        0.9192937820348499,
        1.1858715527047776,
        1.1540415509134034,
        2.897595588138166,
        2.588356565179385,
        5.458892781150855,
    ];
    check_wealth(&found, &wealth);
    let detector = [
        0.9192937820348499,
        2.5229376908527232,
        3.4361661661729914,
        10.735555701493444,
        10.546398711655566,
        23.280713563680575,
    ];
    let pairs = found.iter().zip(detector);
    pairs.for_each(|([_, found], expected)| close(*found, expected));
    let parts = [10.265283745656603, 1.243933596803902, 0.061070036486310764];
    let pairs = monitor.components().iter().zip(parts);
    pairs.for_each(|(component, expected)| close(component.wealth(), expected));
    close(monitor.state().p_value(), 0.1831873312208887);
    let mut at_once = of(Stream::Event, &components);
    at_once.update(&data.0, &data.1).unwrap();
    assert_eq!(at_once, monitor);
    let winner = monitor.winner().unwrap();
    assert_eq!(
        winner.sentence(&[]),
        "the probabilities of class 1 are too extreme: 0.5 times their log-odds fit better"
    );
}

/// The usual components of an event, with the line that learns by Newton steps, by NumPy.
#[test]
fn the_usual_components_as_by_hand() {
    let data = events(&[0.9, 0.8, 0.3, 0.95, 0.6, 0.1], &[1, 0, 0, 0, 1, 1]);
    let mut monitor = CalibrationMonitor::new(0.05).unwrap();
    let found = run(&mut monitor, data, label);
    close(found[5][0], 2.436881926330642);
    assert_eq!(monitor.components().len(), 49);
}

/// The other streams of section 10, by NumPy.
#[test]
fn other_streams_as_by_hand() {
    let power = |factor| (0.5, Component::new(Part::Probabilities, factor, 0.0));
    let mut monitor = of(Stream::Classes(3), &[power(0.5), power(2.0)]);
    let p = [0.7, 0.2, 0.1, 0.5, 0.25, 0.25, 0.1, 0.8, 0.1];
    let found = run(&mut monitor, classes(&p, 3, &[0, 2, 0]), label);
    let expected = [1.021633421725198, 0.8696639812617188, 0.97169674401065];
    check_wealth(&found, &expected);

    let moved = |factor, shift| Component::new(Part::Vector, factor, shift);
    let components = [
        (0.5, moved(1.5, 0.0)),
        (0.25, moved(1.0, 0.5)),
        (0.25, moved(1.0, -0.5)),
    ];
    let mut monitor = of(Stream::Density(1), &components);
    let normal = Normal::new(column(&[0.0, 1.0, -1.0]), column(&[1.0, 2.0, 0.5]));
    let found = run(&mut monitor, (normal, column(&[1.2, -2.0, -0.4])), real);
    let expected = [1.020359590824043, 1.013143912810311, 0.9950087255049518];
    check_wealth(&found, &expected);

    // log-odds ln 4 and ln 19 of the components, ln 9 of the interval
    let (low, high) = (0.05, 0.95);
    let interval = |ratio: f64| {
        (
            0.5,
            Component::new(Part::Range { low, high }, 1.0, ratio.ln()),
        )
    };
    let stream = Stream::Quantiles(vec![low, high]);
    let mut monitor = of(stream, &[interval(4.0 / 9.0), interval(19.0 / 9.0)]);
    let values = column(&[0.0, 1.0].repeat(4)).reshape([4, 2]);
    let forecasts = QuantileForecasts::new(vec![low, high], values).unwrap();
    let targets = column(&[0.5, 2.0, 0.5, 2.0]);
    let found = run(&mut monitor, (forecasts, targets), real);
    let expected = [
        0.9722222222222223,
        1.1527777777777781,
        1.0686728395061733,
        1.719521604938272,
    ];
    check_wealth(&found, &expected);
    assert_eq!(
        monitor.winner().unwrap().sentence(&[]),
        "the 90 % interval is too narrow: 80 % of the targets are inside"
    );
}

/// Each ratio has the mean 1 under the prediction, so that no component can win against it.
#[test]
fn ratios_have_the_mean_1() {
    let wealth = |monitor: &CalibrationMonitor| -> Vec<f64> {
        let components = monitor.components().iter();
        components.map(Component::wealth).collect()
    };
    let p = [0.55, 0.25, 0.15, 0.05];
    let mut sums = vec![0.0; 48 + 1 + 6 + 24];
    for (label, p_label) in (0..4).zip(p) {
        let mut monitor = CalibrationMonitor::new(0.05).unwrap();
        let (rows, labels) = classes(&p, 4, &[label]);
        monitor.update(&rows, &labels).unwrap();
        let ratios = wealth(&monitor);
        assert_eq!(ratios.len(), sums.len());
        let pairs = sums.iter_mut().zip(ratios);
        pairs.for_each(|(sum, ratio)| *sum += p_label * ratio);
    }
    sums.iter().for_each(|sum| close(*sum, 1.0));

    // ranks among four draws have five places; a tie with two of them has the mean of three
    let of = |draws: [f32; 4], y: f64| {
        let mut monitor = CalibrationMonitor::new(0.05).unwrap();
        let draws = Tensor::<3>::from_data([draws.map(|draw| [draw])], &Device::default());
        let y = column(&[y]).cast(DType::F32);
        monitor.update(&Samples::new(draws), &y).unwrap();
        wealth(&monitor)
    };
    let places = [0.0, 1.5, 2.5, 3.5, 4.5].map(|y| of([1.0, 2.0, 3.0, 4.0], y));
    let tie = of([1.0, 2.0, 2.0, 5.0], 2.0);
    assert_eq!(tie.len(), 51);
    for k in 0..51 {
        let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|place: usize| places[place][k]);
        close((a + b + c + d + e) / 5.0, 1.0);
        close(tie[k], (b + c + d) / 3.0);
    }
}

/// A tie with a quantile is the worse of both sides.
#[test]
fn ties_of_quantiles() {
    let monitor = |y: f64| {
        let forecasts = QuantileForecasts::new(vec![0.5], column(&[2.0])).unwrap();
        let mut monitor = CalibrationMonitor::new(0.05).unwrap();
        monitor.update(&forecasts, &column(&[y])).unwrap();
        monitor
    };
    let [below, tie, above] = [1.0, 2.0, 3.0].map(monitor);
    for k in 0..6 {
        let [below, tie, above] = [&below, &tie, &above].map(|m| m.components()[k].wealth());
        close(0.5 * (below + above), 1.0);
        assert_eq!(tie, below.min(above));
    }
}

/// What happened had the probability 0: a fact, and no number of rows undoes it.
#[test]
fn facts() {
    let mut monitor = CalibrationMonitor::new(0.05).unwrap();
    let (p, y) = events(&[0.5, 0.0, 1.0], &[1, 1, 1]);
    monitor.update(&p, &y).unwrap();
    let state = monitor.state();
    assert_eq!(
        (state.refuted, state.alarm_at, state.rows),
        (Some(1), Some(1), 3)
    );
    assert_eq!((state.wealth, state.p_value()), (f64::INFINITY, 0.0));
    let change = state.change.as_ref().unwrap();
    assert_eq!(
        (change.alarm, change.since, &change.component),
        (1, 1, &None)
    );
    let text = serde_json::to_string(&monitor).unwrap();
    let resumed: CalibrationMonitor = serde_json::from_str(&text).unwrap();
    assert_eq!(resumed, monitor);
    let later = text.replace("\"version\":\"1\"", "\"version\":\"2\"");
    assert!(serde_json::from_str::<CalibrationMonitor>(&later).is_err());

    // sure and right: nothing is won or lost
    let (p, y) = events(&[1.0, 0.0], &[1, 0]);
    let mut sure = CalibrationMonitor::new(0.05).unwrap();
    sure.update(&p, &y).unwrap();
    close(sure.state().wealth, 1.0);
}

/// Errors leave the monitor as it was.
#[test]
fn faults() {
    let mut monitor = CalibrationMonitor::new(0.05).unwrap();
    let (p, y) = events(&[0.5, 0.25], &[1, 0]);
    monitor.update(&p, &y).unwrap();
    let before = monitor.clone();
    let refuse = |found: Result<Option<Change>, Error>, words: &str| {
        let error = found.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    let (other, labels) = classes(&[0.2, 0.3, 0.5], 3, &[0]);
    refuse(
        monitor.update(&other, &labels),
        "the same kind in all updates",
    );
    let weights = Tensor::<1>::from_floats([1.0, 2.0], &Device::default());
    let (weighted, labels) = p.weighted(&weights, &y).unwrap();
    refuse(monitor.update(&weighted, &labels), "weights");
    let labels = Tensor::from_data([0i64, 7], &Device::default());
    refuse(monitor.update(&p, &labels), "row 1: the label is 7");
    let none = p.slice_rows(0..0);
    let _ = monitor.update(&none, &y.clone().slice(0..0)); // nothing, or an error
    assert_eq!(monitor, before);

    let mut reals = CalibrationMonitor::new(0.05).unwrap();
    let normal = Normal::new(column(&[0.0, 1.0]), column(&[1.0, 1.0]));
    refuse(reals.update(&normal, &column(&[0.0, f64::NAN])), "row 1");
    let wide = Normal::new(column(&[0.0]), column(&[-1.0]));
    refuse(reals.update(&wide, &column(&[0.0])), "row 0");
    assert_eq!(reals.state().rows, 0);

    let new = || CalibrationMonitor::new(0.05).unwrap();
    let with = |part, factor| {
        new().with_components(Stream::Classes(3), vec![Component::new(part, factor, 0.1)])
    };
    refuse(
        with(Part::Class(3), 1.0).map(|_| None),
        "a part of such predictions",
    );
    refuse(
        with(Part::Vector, 1.0).map(|_| None),
        "a part of such predictions",
    );
    refuse(with(Part::TopLabel, 0.0).map(|_| None), "factor: 0.0");
    refuse(
        new().with_components(Stream::Event, vec![]).map(|_| None),
        "number of components",
    );
    refuse(
        new().with_rows_between_alarms(0.0).map(|_| None),
        "rows between alarms",
    );
    refuse(CalibrationMonitor::new(1.0).map(|_| None), "alpha");
}
