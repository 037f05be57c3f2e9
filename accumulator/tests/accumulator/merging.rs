//! Merging is exact: any partition, in any order and any grouping, is the single pass bit for bit.

use proptest::{collection::vec, prelude::*};

use super::*;

type Labelled = (Vec<Vec<f64>>, Vec<usize>);

/// Predictions over two to four classes, some of them certain or equal, with labels, in whole blocks.
fn labelled(size: usize) -> impl Strategy<Value = Labelled> {
    (2usize..5, 0usize..30).prop_flat_map(move |(m, blocks)| {
        let logit = prop_oneof![Just(0.0), -4.0..4.0f64, Just(800.0)];
        let row = vec(logit, m).prop_map(|row| softmax(&row));
        let n = blocks * size;
        (vec(row, n), vec(0..m, n))
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

proptest! {
    #![proptest_config(cases(96))]

    /// Whole blocks for the SKCE; samples go their own ways otherwise.
    #[test]
    fn any_partition_and_order(
        (p, y) in labelled(BLOCK),
        cuts in vec(any::<prop::sample::Index>(), 0..6),
        choices in vec(any::<prop::sample::Index>(), 20),
        shift in any::<prop::sample::Index>(),
    ) {
        let m = p.first().map_or(2, Vec::len);
        let empty = evaluation(m, BLOCK);
        let all = having(&empty, &p, &y);
        let parts = pieces(p.len() / BLOCK, &cuts).into_iter().map(|blocks| {
            let piece = blocks.start * BLOCK..blocks.end * BLOCK;
            having(&empty, &p[piece.clone()], &y[piece])
        });
        let found = merged(parts.collect(), &choices);
        prop_assert_eq!(text(&found), text(&all));
        prop_assert_eq!(&found, &all);
        if let (Ok(found), Ok(all)) = (found.skce().unwrap().outcome(), all.skce().unwrap().outcome()) {
            prop_assert_eq!(found, all);
        }

        // samples in another order and in any pieces: all but the SKCE
        let empty = Evaluation::new(7, m).unwrap();
        let all = having(&empty, &p, &y);
        let moved: Labelled = (0..p.len())
            .map(|k| (k + shift.index(p.len().max(1))) % p.len())
            .map(|k| (p[k].clone(), y[k]))
            .unzip();
        let parts = pieces(p.len(), &cuts).into_iter();
        let parts = parts.map(|piece| having(&empty, &moved.0[piece.clone()], &moved.1[piece]));
        let found = merged(parts.collect(), &choices);
        prop_assert_eq!(text(&found), text(&all));
        prop_assert_eq!(found.log().mean(), all.log().mean());
    }

    /// Updates of any sizes are one stream of blocks.
    #[test]
    fn any_updates((p, y) in labelled(1), cuts in vec(any::<prop::sample::Index>(), 0..6)) {
        let m = p.first().map_or(2, Vec::len);
        let empty = evaluation(m, 4);
        let mut found = empty.clone();
        for piece in pieces(p.len(), &cuts) {
            found.update_rows(&rows_of(&p[piece.clone()], &y[piece], m)).unwrap();
        }
        prop_assert_eq!(text(&found), text(&having(&empty, &p, &y)));
        prop_assert_eq!(found.skce().unwrap().left_out() as usize, p.len() % 4);
    }

    /// Also of pieces with incomplete blocks: associative, commutative, and empty ones change nothing.
    #[test]
    fn a_commutative_monoid((p, y) in labelled(1), cuts in vec(any::<prop::sample::Index>(), 2)) {
        let m = p.first().map_or(2, Vec::len);
        let pieces = pieces(p.len(), &cuts);
        each_kind!(m, |empty| {
            let part = |k: usize| having(&empty, &p[pieces[k].clone()], &y[pieces[k].clone()]);
            let sum = |mut a, b| {
                Accumulator::merge(&mut a, &b).unwrap();
                a
            };
            let (a, b, c) = (part(0), part(1), part(2));
            let left = sum(sum(a.clone(), b.clone()), c.clone());
            let right = sum(a.clone(), sum(b.clone(), c.clone()));
            prop_assert_eq!(text(&left), text(&right));
            prop_assert_eq!(&left, &right);
            prop_assert_eq!(text(&sum(b.clone(), a.clone())), text(&sum(a.clone(), b.clone())));
            prop_assert_eq!(left.samples() as usize, p.len());
            // to the last sample that waits: what comes after completes the same blocks
            for mut same in [sum(a.clone(), empty.clone()), sum(empty.clone(), a.clone())] {
                prop_assert_eq!(text(&same), text(&a));
                let mut expected = a.clone();
                let next = rows_of(&p[pieces[1].clone()], &y[pieces[1].clone()], m);
                expected.update_rows(&next).unwrap();
                same.update_rows(&next).unwrap();
                prop_assert_eq!(text(&same), text(&expected));
            }
        });
    }
}

/// Rows that may be none.
fn rows_of(p: &[Vec<f64>], y: &[usize], classes: usize) -> Rows {
    let labels: Vec<i64> = y.iter().map(|&y| y as i64).collect();
    Rows::from_probabilities(p.concat(), classes, &labels).unwrap()
}

/// By hand: 3 + 3 samples in blocks of 2.
#[test]
fn incomplete_blocks_are_left_out() {
    let (p, y) = (random_probabilities(6, 2, &mut rng(2)), [0, 1, 1, 0, 0, 1]);
    let empty = BlockSkceAccumulator::linear(fixed(Kernel::exponential()), 2).unwrap();
    let counts = |a: &BlockSkceAccumulator| (a.samples(), a.blocks(), a.left_out());
    let (mut a, b) = (
        having(&empty, &p[..3], &y[..3]),
        having(&empty, &p[3..], &y[3..]),
    );
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
