//! Recalibrated levels: a distribution function on the unit interval.

/// A non-decreasing function of `[0, 1]` onto itself, linear between knots.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LevelCurve {
    /// The knots from `(0, 0)` to `(1, 1)`.
    knots: Vec<(f64, f64)>,
}

impl LevelCurve {
    /// Creates the map from knots, repeated ones of which are dropped; or what is wrong with them.
    pub fn new(mut knots: Vec<(f64, f64)>) -> Result<Self, String> {
        knots.dedup();
        match (knots.first(), knots.last()) {
            (Some((0.0, 0.0)), Some((1.0, 1.0))) => {}
            _ => return Err("the knots do not lead from (0, 0) to (1, 1)".into()),
        }
        let increases = |pair: &[(f64, f64)]| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1;
        match knots.windows(2).position(|pair| !increases(pair)) {
            Some(at) => Err(format!("the knots decrease after the {at}th")),
            None => Ok(Self { knots }),
        }
    }

    /// The isotonic regression of the expected ranks `k/(n + 1)` of `n` levels in their order on the
    /// levels: those of equal levels are pooled to their mean. Of levels with weights the rank is
    /// `(W + (w + 1)/2)/(N + 1)`, with the weight `W` of those before and the weight `N` of all. Levels of 0 and 1 have a
    /// rank and no knot.
    ///
    /// - levels: increasing, in `[0, 1]`, each with its weight
    pub fn from_ranks(levels: &[(f64, f64)]) -> Self {
        let weight = |levels: &[(f64, f64)]| levels.iter().map(|(_, w)| w).sum::<f64>();
        let n = weight(levels);
        let mut knots = vec![(0.0, 0.0)];
        let mut before = 0.0;
        for group in levels.chunk_by(|(p, _), (q, _)| p == q) {
            let (level, own) = (group[0].0, weight(group));
            let middle = before + 0.5 * (own + 1.0);
            if level > 0.0 && level < 1.0 {
                knots.push((level, middle / (n + 1.0)));
            }
            before += own;
        }
        knots.push((1.0, 1.0));
        Self { knots }
    }

    pub fn knots(&self) -> &[(f64, f64)] {
        &self.knots
    }

    /// Whether different levels have different values, and no value is jumped over.
    pub fn is_strict(&self) -> bool {
        let strict = |pair: &[(f64, f64)]| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1;
        self.knots.windows(2).all(strict)
    }

    /// `1 − R(1 − x)`, the map of upper tails.
    pub fn complement(&self) -> Self {
        let knots = self.knots.iter().rev();
        Self {
            knots: knots.map(|(x, y)| (1.0 - x, 1.0 - y)).collect(),
        }
    }

    /// The value at a level.
    pub fn at(&self, level: f64) -> f64 {
        interpolate(&self.knots, |&(x, y)| (x, y), level)
    }

    /// The level of a value.
    pub fn inverse(&self, value: f64) -> f64 {
        interpolate(&self.knots, |&(x, y)| (y, x), value)
    }
}

/// Linear between knots; NaN stays NaN.
fn interpolate(knots: &[(f64, f64)], point: impl Fn(&(f64, f64)) -> (f64, f64), x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    let right = knots.partition_point(|knot| point(knot).0 < x);
    if right == 0 {
        return point(&knots[0]).1;
    }
    let Some(knot) = knots.get(right) else {
        return point(&knots[right - 1]).1;
    };
    let ((x0, y0), (x1, y1)) = (point(&knots[right - 1]), point(knot)); // x0 < x ≤ x1
    let way = (x - x0) / (x1 - x0);
    y0 * (1.0 - way) + y1 * way
}
