use rand::Rng;
use serde::{Deserialize, Serialize};
use statrs::distribution::{Beta, Binomial, ContinuousCDF, Discrete};

use crate::error::{Result, check_count, check_inside};

/// The number of sets of targets that an exact test draws.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Redraws {
    /// A fixed number `R`: `p = (1 + #{T* ≥ T})/(1 + R)`.
    Fixed(usize),
    /// Redraws until so many of them, `h`, reach the statistic of the data, at most `most`: `p = h/l` for the
    /// `l`-th redraw, else `(1 + #{T* ≥ T})/(1 + most)`. It stops early where the data are like the
    /// redraws, and the p-value is exactly valid (Besag and Clifford 1991). Its relative resampling
    /// error is `1/√h`.
    Sequential {
        /// `h`.
        exceedances: usize,
        /// The most redraws.
        most: usize,
    },
    /// Redraws until the p-value is clearly on one side of a level, at most `most`: it goes on near the level.
    /// The probability, over the redraws, that it stops on the other side than endless redraws is at
    /// most `risk`, where the rank of the statistic among the first redraws does not depend on later ones, as in
    /// [`ExactTest`](super::ExactTest); so the level of a test at this level is at most `level + risk`. It stops once
    /// `(R + 1) b(R, level, g) ≤ risk`, for `g` redraws of `R` that reach the statistic and the binomial
    /// probability `b` (Robbins 1970; Ding, Gandy, Hahn 2020; Gandy 2009 for the idea).
    UntilDecided {
        /// The level.
        level: f64,
        /// The resampling risk.
        risk: f64,
        /// The most redraws.
        most: usize,
    },
}

impl Default for Redraws {
    fn default() -> Self {
        Self::Fixed(999)
    }
}

/// The result of the redraws.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RedrawResult {
    pub redraws: usize,
    /// Redraws whose statistic is at least that of the data.
    pub exceedances: usize,
    pub p_value: f64,
}

impl RedrawResult {
    /// The interval that holds the p-value of endless redraws with at least the given probability
    /// (Clopper and Pearson 1934).
    pub fn interval(self, level: f64) -> (f64, f64) {
        let (g, rest) = (
            self.exceedances as f64,
            (self.redraws - self.exceedances) as f64,
        );
        let quantile =
            |a: f64, b: f64, q: f64| Beta::new(a, b).expect("positive shapes").inverse_cdf(q);
        let outside = 0.5 * (1.0 - level);
        let lower = if g == 0.0 {
            0.0
        } else {
            quantile(g, rest + 1.0, outside)
        };
        let upper = if rest == 0.0 {
            1.0
        } else {
            quantile(g + 1.0, rest, 1.0 - outside)
        };
        (lower, upper)
    }
}

/// Redraws before the first decision.
const FIRST: usize = 99;

impl Redraws {
    /// Checks that there are redraws, and that the parameters are valid.
    pub(super) fn validate(self) -> Result<()> {
        match self {
            Self::Fixed(redraws) => check_count("the number of redraws", redraws),
            Self::Sequential { exceedances, most } => {
                check_count("the number of exceedances", exceedances)?;
                check_count("the number of redraws", most)
            }
            Self::UntilDecided { level, risk, most } => {
                check_inside("the level of redraws", level)?;
                check_inside("the resampling risk", risk)?;
                check_count("the number of redraws", most)
            }
        }
    }

    /// Draws as long as need be; `extend` draws so many more and says which of all redraws reach the
    /// statistic of the data.
    pub(super) fn run(
        self,
        rng: &mut dyn Rng,
        mut extend: impl FnMut(usize, &mut dyn Rng) -> Result<Vec<bool>>,
    ) -> Result<RedrawResult> {
        self.validate()?;
        let resampled = |reached: &[bool]| {
            let exceedances = reached.iter().filter(|reached| **reached).count();
            RedrawResult {
                redraws: reached.len(),
                exceedances,
                p_value: (1 + exceedances) as f64 / (1 + reached.len()) as f64,
            }
        };
        match self {
            Self::Fixed(redraws) => Ok(resampled(&extend(redraws, rng)?)),
            Self::Sequential { exceedances, most } => {
                let mut wanted = most.min(2 * exceedances);
                let mut reached = extend(wanted, rng)?;
                loop {
                    let last = (reached.iter().enumerate())
                        .filter(|(_, reached)| **reached)
                        .nth(exceedances - 1);
                    if let Some((last, _)) = last {
                        return Ok(RedrawResult {
                            redraws: last + 1,
                            exceedances,
                            p_value: exceedances as f64 / (last + 1) as f64,
                        });
                    }
                    if wanted == most {
                        return Ok(resampled(&reached));
                    }
                    let more = wanted.min(most - wanted);
                    wanted += more;
                    reached = extend(more, rng)?;
                }
            }
            Self::UntilDecided { level, risk, most } => {
                let mut found = resampled(&extend(most.min(FIRST), rng)?);
                while found.redraws < most && !decided(found, level, risk) {
                    let more = (found.redraws / 2).max(1).min(most - found.redraws);
                    found = resampled(&extend(more, rng)?);
                }
                Ok(found)
            }
        }
    }
}

/// Tells whether the p-value is on one side of the level, but for a risk over all numbers of redraws.
pub(super) fn decided(found: RedrawResult, level: f64, risk: f64) -> bool {
    let redraws = found.redraws as u64;
    let binomial = Binomial::new(level, redraws).expect("a level between 0 and 1");
    let probability = binomial.pmf(found.exceedances as u64);
    (redraws + 1) as f64 * probability <= risk
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng, rngs::StdRng};

    use super::*;
    use crate::error::Error;

    /// Redraws that reach the data with a given probability.
    fn found(redraws: Redraws, p: f64, rng: &mut StdRng) -> RedrawResult {
        let mut reached = Vec::new();
        let extend = |count: usize, rng: &mut dyn Rng| {
            reached.extend((0..count).map(|_| rng.random_bool(p)));
            Ok(reached.clone())
        };
        redraws.run(rng, extend).unwrap()
    }

    /// With a uniform `p`, as under the hypothesis, no level is exceeded, at any `h` (Besag, Clifford).
    #[test]
    fn sequential_is_valid() {
        let mut rng = StdRng::seed_from_u64(0);
        let sets = 20_000;
        for (exceedances, most) in [(1, 50), (5, 99), (20, 999)] {
            let redraws = Redraws::Sequential { exceedances, most };
            let p: Vec<f64> = (0..sets)
                .map(|_| {
                    let chance = rng.random();
                    found(redraws, chance, &mut rng).p_value
                })
                .collect();
            for level in [0.01, 0.05, 0.2, 0.5] {
                let rejected = p.iter().filter(|p| **p <= level).count() as f64;
                let expected = sets as f64 * level;
                let bound = expected + 3.0 * (expected * (1.0 - level)).sqrt();
                assert!(rejected <= bound, "{rejected} at {level}");
            }
        }
    }

    #[test]
    fn stops_early_and_goes_on() {
        let mut rng = StdRng::seed_from_u64(1);
        let redraws = Redraws::UntilDecided {
            level: 0.05,
            risk: 1e-3,
            most: 100_000,
        };
        for (p, most, least) in [(0.6, 150, 0), (0.0, 500, 0), (0.052, 100_000, 2_000)] {
            let found = found(redraws, p, &mut rng);
            assert!((least..=most).contains(&found.redraws), "{p}: {found:?}");
        }
        // the side is that of the limit
        let wrong = (0..300).filter(|_| found(redraws, 0.04, &mut rng).p_value > 0.05);
        assert!(wrong.count() <= 2);
        let sequential = Redraws::Sequential {
            exceedances: 10,
            most: 10_000,
        };
        assert!(found(sequential, 0.5, &mut rng).redraws < 60);
        assert_eq!(found(sequential, 0.0, &mut rng).p_value, 1.0 / 10_001.0);
    }

    /// None: in closed form; half of them: symmetric about the estimate but for the tail of the binomial.
    #[test]
    fn resampling_intervals() {
        let interval = |exceedances| {
            let found = RedrawResult {
                redraws: 999,
                exceedances,
                p_value: 0.5,
            };
            found.interval(0.99)
        };
        assert_eq!(interval(0).0, 0.0);
        assert!((interval(0).1 - (1.0 - 0.005f64.powf(1.0 / 999.0))).abs() < 1e-12);
        assert_eq!(interval(999).1, 1.0);
        let (lower, upper) = interval(50);
        assert!(lower > 0.033 && lower < 0.035 && upper > 0.070 && upper < 0.072);
    }

    #[test]
    fn invalid_numbers_are_errors() {
        for redraws in [
            Redraws::Fixed(0),
            Redraws::Sequential {
                exceedances: 0,
                most: 9,
            },
            Redraws::UntilDecided {
                level: 1.0,
                risk: 0.1,
                most: 9,
            },
            Redraws::UntilDecided {
                level: 0.1,
                risk: f64::NAN,
                most: 9,
            },
        ] {
            assert!(matches!(redraws.validate(), Err(Error::Parameter { .. })));
        }
    }
}
