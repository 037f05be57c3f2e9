//! The monitor: section 10 of the mathematical reference with all digits of a calculation in Python, its faults, its
//! history, its levels and its delays.

use burn::tensor::{DType, Device, Int, Tensor};
use burn_calibration::{
    distribution::{
        Batch, Categorical, Laplace, Mixture, Normal, QuantileForecasts, Samples, Subject, Weighted,
    },
    error::Error,
    monitor::{CalibrationMonitor, Change, Component, Monitored, Part},
};

mod course;
mod findings;
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

fn close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 1e-12 * expected.abs().max(1.0),
        "{found} {expected}"
    );
}

/// The monitor after each row. Each row is added to the monitor that a file of the one before gives.
fn run<P: Monitored>(
    (predictions, targets): &(P, P::Targets),
    target: impl Fn(&P::Targets, usize) -> P::Targets,
) -> Vec<CalibrationMonitor> {
    let mut monitor = CalibrationMonitor::new(0.05).unwrap();
    (0..predictions.len())
        .map(|row| {
            let one = predictions.slice_rows(row..row + 1);
            monitor.update(&one, &target(targets, row)).unwrap();
            let text = serde_json::to_string(&monitor).unwrap();
            let resumed: CalibrationMonitor = serde_json::from_str(&text).unwrap();
            assert_eq!(resumed, monitor);
            monitor = resumed;
            monitor.clone()
        })
        .collect()
}

fn label(y: &Tensor<1, Int>, row: usize) -> Tensor<1, Int> {
    y.clone().slice(row..row + 1)
}

fn real(y: &Tensor<2>, row: usize) -> Tensor<2> {
    y.clone().slice(row..row + 1)
}

/// Checks wealth and detector after each row.
fn check_numbers(found: &[CalibrationMonitor], wealth: &[f64], detector: &[f64]) {
    assert_eq!((found.len(), found.len()), (wealth.len(), detector.len()));
    for (monitor, (wealth, detector)) in found.iter().zip(wealth.iter().zip(detector)) {
        close(monitor.state().wealth, *wealth);
        close(monitor.state().detector, *detector);
    }
}

/// The component of a part with this factor and shift.
fn component(monitor: &CalibrationMonitor, part: Part, [factor, shift]: [f64; 2]) -> &Component {
    let mut components = monitor.state().components.iter();
    let is_it = |one: &&Component| {
        one.part == part && (one.factor, one.shift, one.share) == (factor, shift, 1.0)
    };
    components.find(is_it).unwrap()
}

/// Checks the wealth after each row of a mixture of weighted factors and shifts, as section 10 has it.
fn check_mixture(
    found: &[CalibrationMonitor],
    part: Part,
    mixture: &[(f64, [f64; 2])],
    expected: &[f64],
) {
    assert_eq!(found.len(), expected.len());
    for (monitor, expected) in found.iter().zip(expected) {
        let weighted =
            |(weight, line): &(f64, [f64; 2])| weight * component(monitor, part, *line).wealth();
        close(mixture.iter().map(weighted).sum(), *expected);
    }
}

/// The event of section 10, and all components of it, one of which learns by Newton steps, by NumPy; rows at once are
/// rows one by one.
#[test]
fn an_event_as_by_hand() {
    let data = events(&[0.9, 0.8, 0.3, 0.95, 0.6, 0.1], &[1, 0, 0, 0, 1, 1]);
    let found = run(&data, label);
    let lines = [(0.5, [0.5, 0.0]), (0.25, [1.0, -0.5]), (0.25, [1.5, 0.0])];
    let expected = [
        0.9192937820348499,
        1.1858715527047776,
        1.1540415509134034,
        2.897595588138166,
        2.588356565179385,
        5.458892781150855,
    ];
    check_mixture(&found, Part::Class(1), &lines, &expected);
    let by_numpy = [
        0.9748601695342585,
        0.9492944271266525,
        0.9658507952393424,
        2.1616503841376438,
        1.603948205390274,
        2.4368819263306363,
    ];
    let detector = [
        0.9748601695342585,
        1.998100684421719,
        3.035181315080599,
        8.057118668639141,
        7.07008323316621,
        12.402522512155032,
    ];
    check_numbers(&found, &by_numpy, &detector);
    let monitor = &found[5];
    let parts = [10.265283745656603, 1.243933596803902, 0.061070036486310764];
    for ((_, line), expected) in lines.into_iter().zip(parts) {
        close(component(monitor, Part::Class(1), line).wealth(), expected);
    }
    close(monitor.state().p_value(), 1.0 / 2.4368819263306363);
    assert_eq!(monitor.state().components.len(), 49);
    let mut at_once = CalibrationMonitor::new(0.05).unwrap();
    at_once.update(&data.0, &data.1).unwrap();
    assert_eq!(at_once, *monitor);
    let extreme = component(monitor, Part::Class(1), [0.5, 0.0]);
    assert_eq!(
        extreme.sentence(&[]),
        "the probabilities of class 1 are wrong: 0.5 times their log-odds fit better"
    );
}

/// The other streams of section 10, and all components of them, by NumPy.
#[test]
fn other_streams_as_by_hand() {
    let p = [0.7, 0.2, 0.1, 0.5, 0.25, 0.25, 0.1, 0.8, 0.1];
    let found = run(&classes(&p, 3, &[0, 2, 0]), label);
    let powers = [(0.5, [0.5, 0.0]), (0.5, [2.0, 0.0])];
    let expected = [1.021633421725198, 0.8696639812617188, 0.97169674401065];
    check_mixture(&found, Part::Probabilities, &powers, &expected);
    let by_numpy = [0.9984227310616323, 0.9549619572982245, 0.9937053128716853];
    let detector = [0.9984227310616323, 1.945449616989789, 3.1655000977050327];
    check_numbers(&found, &by_numpy, &detector);

    let normal = Normal::new(column(&[0.0, 1.0, -1.0]), column(&[1.0, 2.0, 0.5]));
    let found = run(&(normal, column(&[1.2, -2.0, -0.4])), real);
    let moved = [(0.5, [1.5, 0.0]), (0.25, [1.0, 0.5]), (0.25, [1.0, -0.5])];
    let expected = [1.020359590824043, 1.013143912810311, 0.9950087255049518];
    check_mixture(&found, Part::Vector, &moved, &expected);
    let by_numpy = [0.9671662730818679, 0.6558274347901336, 0.6057859893449016];
    let detector = [0.9671662730818679, 1.7112975922143372, 2.228779697216903];
    check_numbers(&found, &by_numpy, &detector);

    let (low, high) = (0.05, 0.95);
    let values = column(&[0.0, 1.0].repeat(4)).reshape([4, 2]);
    let forecasts = QuantileForecasts::new(vec![low, high], values).unwrap();
    let found = run(&(forecasts, column(&[0.5, 2.0, 0.5, 2.0])), real);
    let by_numpy = [
        0.9939280596654401,
        1.0367394167274324,
        1.0209335706194518,
        1.188348469839048,
    ];
    let detector = [
        0.9939280596654402,
        2.0913868797384723,
        3.0516010470123245,
        4.502947526537239,
    ];
    check_numbers(&found, &by_numpy, &detector);
    let interval = Part::Range { low, high };
    let narrow = component(&found[3], interval, [1.0, -1.0]);
    close(narrow.wealth(), 3.918620525225032);
    let wide = component(&found[3], interval, [1.0, 0.5]);
    close(wide.wealth(), 0.4319557161094314);
    assert_eq!(
        narrow.sentence(&[]),
        "the predictions are wrong: a wider 90 % interval fits better"
    );
    assert_eq!(
        found[3].winner().unwrap().sentence(&[]),
        "the predictions are wrong: a higher 95 % quantile fits better"
    );
}

/// Densities other than that of one normal number: all components of them, by NumPy and SciPy. The location moves by
/// deviations of the whole prediction, also of a mixture.
#[test]
fn other_densities_as_by_hand() {
    let (mean, scale, y) = ([0.0, 1.0, -1.0], [1.0, 2.0, 0.5], [1.2, -2.0, -0.4]);
    let laplace = Laplace::new(column(&mean), column(&scale));
    let found = run(&(laplace, column(&y)), real);
    let wealth = [1.155009871298656, 0.8145497965283077, 0.8653380159205888];
    let detector = [1.155009871298656, 2.1637819614871208, 2.8348976837475526];
    check_numbers(&found, &wealth, &detector);

    let weights = column(&[0.3, 0.7, 0.5, 0.5, 0.9, 0.1]).reshape([3, 2]);
    let means = column(&[0.0, 2.0, 1.0, -1.0, -1.0, 1.0]);
    let deviations = column(&[1.0, 0.5, 2.0, 1.0, 0.5, 3.0]);
    let mixture = Mixture::new(weights, Normal::new(means, deviations));
    let found = run(&(mixture, column(&y)), real);
    let wealth = [1.2361672650935491, 1.3397684608532492, 0.4365479490923173];
    let detector = [1.2361672650935491, 2.209648542887368, 1.7947721016297538];
    check_numbers(&found, &wealth, &detector);

    let rows = |values: [f64; 6]| column(&values).reshape([3, 2]);
    let vectors = Normal::new(
        rows([0.0, 1.0, 1.0, 0.0, -1.0, 2.0]),
        rows([1.0, 2.0, 2.0, 1.0, 0.5, 0.5]),
    );
    let found = run(&(vectors, rows([1.2, 0.0, -2.0, 0.5, -0.4, 3.0])), real);
    let wealth = [0.6245043241313277, 0.4300811318014967, 0.6095006349243132];
    let detector = [0.6245043241313277, 1.0776806402707921, 3.2946799496174997];
    check_numbers(&found, &wealth, &detector);
}

/// Each ratio has the mean 1 under the prediction, so that no component can win against it.
#[test]
fn ratios_have_the_mean_1() {
    let wealths = |monitor: &CalibrationMonitor| -> Vec<f64> {
        let components = monitor.state().components.iter();
        components.map(Component::wealth).collect()
    };
    let p = [0.55, 0.25, 0.15, 0.05];
    let mut sums = vec![0.0; 48 + 1 + 6 + 24];
    for (label, p_label) in (0..4).zip(p) {
        let mut monitor = CalibrationMonitor::new(0.05).unwrap();
        let (rows, labels) = classes(&p, 4, &[label]);
        monitor.update(&rows, &labels).unwrap();
        let ratios = wealths(&monitor);
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
        wealths(&monitor)
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
        let [below, tie, above] = [&below, &tie, &above].map(|m| m.state().components[k].wealth());
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

    // a probability that is all but 0: nothing is lost where the event does not happen, and no fact where it does
    let (p, y) = events(&[1e-305, 1e-310, 1e-290], &[0, 0, 0]);
    let mut least = CalibrationMonitor::new(0.05).unwrap();
    least.update(&p, &y).unwrap();
    close(least.state().wealth, 1.0);
    let (p, y) = events(&[1e-305], &[1]);
    least.update(&p, &y).unwrap();
    let state = least.state();
    assert!(state.wealth > 1e50 && state.wealth.is_finite() && state.refuted.is_none());

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
    refuse(
        monitor.check(&other).map(|()| None),
        "predictions of the kind Classes(3) after Event",
    );
    monitor.check(&p).unwrap();
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

    // a saved monitor without a component
    let mut saved = serde_json::to_value(&before).unwrap();
    saved["state"]["components"].as_array_mut().unwrap().pop();
    let mut saved: CalibrationMonitor = serde_json::from_value(saved).unwrap();
    refuse(saved.update(&p, &y), "other components");
    let new = || CalibrationMonitor::new(0.05).unwrap();
    refuse(
        new().with_rows_between_alarms(0.0).map(|_| None),
        "rows between alarms",
    );
    refuse(CalibrationMonitor::new(1.0).map(|_| None), "alpha");
}
