//! Merging any partition, in any order and any grouping, is the single pass: sums to 1e-25, means bit for bit.

use proptest::{collection::vec, prelude::*};

use super::*;

/// Predictions with labels, and weights that count or not.
#[derive(Debug, Clone)]
struct Labelled {
    p: Vec<Vec<f64>>,
    y: Vec<usize>,
    w: Vec<f64>,
    weighted: bool,
    classes: usize,
}

impl Labelled {
    /// Some of the rows, of which there may be none.
    fn rows(&self, rows: std::ops::Range<usize>) -> Rows {
        let labels: Vec<i64> = self.y[rows.clone()].iter().map(|&y| y as i64).collect();
        let p = self.p[rows.clone()].concat();
        let taken = Rows::from_probabilities(p, self.classes, &labels).unwrap();
        if self.weighted {
            taken.weighted(&self.w[rows]).unwrap()
        } else {
            taken
        }
    }

    fn part<A: Accumulator>(&self, empty: &A, rows: std::ops::Range<usize>) -> A {
        let mut part = empty.clone();
        part.update_rows(&self.rows(rows)).unwrap();
        part
    }

    fn all<A: Accumulator>(&self, empty: &A) -> A {
        self.part(empty, 0..self.p.len())
    }
}

/// Predictions over two to four classes, some of them certain or equal, in whole blocks; weights of all sizes.
fn labelled(size: usize) -> impl Strategy<Value = Labelled> {
    (2usize..5, 0usize..30).prop_flat_map(move |(classes, blocks)| {
        let logit = prop_oneof![Just(0.0), -4.0..4.0f64, Just(800.0)];
        let row = vec(logit, classes).prop_map(|row| softmax(&row));
        let weight = prop_oneof![Just(2.0), 1e-3..3.0f64, Just(1e-100), Just(1e100)];
        let n = blocks * size;
        let columns = (vec(row, n), vec(0..classes, n), vec(weight, n));
        (columns, any::<bool>()).prop_map(move |((p, y, w), weighted)| Labelled {
            p,
            y,
            w,
            weighted,
            classes,
        })
    })
}

/// Groups of consecutive units, of several sizes, of which some may be empty.
fn pieces(units: usize, cuts: &[prop::sample::Index]) -> Vec<std::ops::Range<usize>> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(units + 1)).collect();
    cuts.extend([0, units]);
    cuts.sort_unstable();
    cuts.windows(2).map(|cut| cut[0]..cut[1]).collect()
}

/// Merges any two until one is left.
fn merged<A: Accumulator>(mut parts: Vec<A>, choices: &[prop::sample::Index]) -> A {
    let mut choices = choices.iter().cycle();
    let mut choose = |count: usize| choices.next().unwrap().index(count);
    while parts.len() > 1 {
        let mut one = parts.swap_remove(choose(parts.len()));
        let other = parts.swap_remove(choose(parts.len()));
        one.merge(&other).unwrap();
        parts.push(one);
    }
    parts.pop().unwrap()
}

const BLOCK: usize = 3;

/// More than the sum of at most 90 log scores or block estimates.
const BOUND: f64 = 90.0 * 2000.0;

/// Sums agree, and estimates are the same: with weights to the last digit, since a weight of 1e-100 may decide a tie.
#[track_caller]
fn same(found: &Evaluation, expected: &Evaluation) {
    agree(found, expected, BOUND);
    let means = |all: &Evaluation| {
        let skce = all.skce().map(BlockSkceAccumulator::mean);
        let means = [all.brier().mean(), all.log().mean(), all.spherical().mean()];
        means.into_iter().chain(skce).flatten().collect::<Vec<_>>()
    };
    let mut estimates = vec![(
        found.top_label().ece().ok(),
        expected.top_label().ece().ok(),
    )];
    for (found, expected) in means(found).into_iter().zip(means(expected)) {
        assert_relative(found.standard_error, expected.standard_error, 1e-14);
        assert_relative(found.effective, expected.effective, 1e-15);
        estimates.push((Some(found.estimate), Some(expected.estimate)));
    }
    let weighted = expected.observations().weighted == Some(true);
    for estimate in estimates {
        match estimate {
            (Some(found), Some(expected)) if weighted => assert_relative(found, expected, 1e-15),
            (found, expected) => assert_eq!(found, expected),
        }
    }
}

proptest! {
    #![proptest_config(cases(96))]

    /// Whole blocks for the SKCE; samples go their own ways otherwise.
    #[test]
    fn any_partition_and_order(
        data in labelled(BLOCK),
        cuts in vec(any::<prop::sample::Index>(), 0..6),
        choices in vec(any::<prop::sample::Index>(), 20),
        shift in any::<prop::sample::Index>(),
    ) {
        let (n, m) = (data.p.len(), data.classes);
        let empty = evaluation(m, BLOCK);
        let all = data.all(&empty);
        let parts = pieces(n / BLOCK, &cuts).into_iter();
        let parts = parts.map(|blocks| data.part(&empty, blocks.start * BLOCK..blocks.end * BLOCK));
        let found = merged(parts.collect(), &choices);
        same(&found, &all);
        prop_assert_eq!(&serde_json::from_str::<Evaluation>(&text(&all)).unwrap(), &all);
        if let (Ok(found), Ok(all)) = (found.skce().unwrap().outcome(), all.skce().unwrap().outcome()) {
            assert_relative(found.p_value, all.p_value, 1e-12);
        }

        // samples in another order and in any pieces: all but the SKCE
        let empty = Evaluation::new(7, m).unwrap();
        let all = data.all(&empty);
        let mut moved = data.clone();
        let by = shift.index(n.max(1));
        moved.p.rotate_left(by);
        moved.y.rotate_left(by);
        moved.w.rotate_left(by);
        let parts = pieces(n, &cuts).into_iter();
        let found = merged(parts.map(|piece| moved.part(&empty, piece)).collect(), &choices);
        same(&found, &all);
    }

    /// Updates of any sizes are one stream of blocks.
    #[test]
    fn any_updates(data in labelled(1), cuts in vec(any::<prop::sample::Index>(), 0..6)) {
        let (n, empty) = (data.p.len(), evaluation(data.classes, 4));
        let mut found = empty.clone();
        for piece in pieces(n, &cuts) {
            found.update_rows(&data.rows(piece)).unwrap();
        }
        prop_assert_eq!(text(&found), text(&data.all(&empty)));
        prop_assert_eq!(found.skce().unwrap().left_out() as usize, n % 4);
    }

    /// Also of pieces with incomplete blocks: associative and commutative to rounding, and empty ones change nothing.
    #[test]
    fn a_commutative_monoid(data in labelled(1), cuts in vec(any::<prop::sample::Index>(), 2)) {
        let pieces = pieces(data.p.len(), &cuts);
        each_kind!(data.classes, |empty| {
            let sum = |mut a, b| {
                Accumulator::merge(&mut a, &b).unwrap();
                a
            };
            let [a, b, c] = [0, 1, 2].map(|k| data.part(&empty, pieces[k].clone()));
            let left = sum(sum(a.clone(), b.clone()), c.clone());
            let right = sum(a.clone(), sum(b.clone(), c.clone()));
            agree(&left, &right, BOUND);
            agree(&sum(b.clone(), a.clone()), &sum(a.clone(), b.clone()), BOUND);
            prop_assert_eq!(left.samples() as usize, data.p.len());
            // to the last sample that waits: what comes after completes the same blocks
            for mut same in [sum(a.clone(), empty.clone()), sum(empty.clone(), a.clone())] {
                prop_assert_eq!(text(&same), text(&a));
                let mut expected = a.clone();
                let next = data.rows(pieces[1].clone());
                expected.update_rows(&next).unwrap();
                same.update_rows(&next).unwrap();
                prop_assert_eq!(text(&same), text(&expected));
            }
        });
    }
}

/// By hand: 3 + 3 samples in blocks of 2.
#[test]
fn incomplete_blocks_are_left_out() {
    let (p, y) = (random_probabilities(6, 2, &mut rng(2)), [0, 1, 1, 0, 0, 1]);
    let empty = BlockSkceAccumulator::linear(fixed(Kernel::exponential()), 2).unwrap();
    let counts = |a: &BlockSkceAccumulator| (a.samples(), a.blocks(), a.left_out());
    let mut a = having(&empty, &p[..3], &y[..3]);
    let b = having(&empty, &p[3..], &y[3..]);
    assert_eq!(counts(&a), (3, 1, 1));
    let mut one = a.clone();
    one.update_rows(&rows(&p[3..], &y[3..])).unwrap();
    assert_eq!(counts(&one), (6, 3, 0));
    a.merge(&b).unwrap();
    assert_eq!(counts(&a), (6, 2, 2));
    a.update_rows(&rows(&p[..1], &y[..1])).unwrap();
    assert_eq!(counts(&a), (7, 2, 3)); // what was dropped does not come back
    a.update_rows(&rows(&p[..1], &y[..1])).unwrap();
    assert_eq!(counts(&a), (8, 3, 2));
}
