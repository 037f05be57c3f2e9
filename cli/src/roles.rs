//! What the columns of a distribution's parameters are, by their names: locations, scales or variances, each of a
//! coordinate of the targets.

use burn_calibration_reader::{Matrix, clipped};

use crate::error::{Result, bail, ensure, wrong};

/// The role of a column by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Location,
    Scale,
    Variance,
    /// An end of an interval.
    Bound,
    /// A function of the scale.
    Function(OfScale),
}

/// What a name says that a column holds in the place of a scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OfScale {
    Precision,
    Inverse,
    Logarithm,
    LogVariance,
}

impl OfScale {
    /// That of a word after `log` or `inverse`, if the word is a scale or a variance.
    fn new(is_logarithm: bool, of: Option<Role>) -> Option<Self> {
        match of? {
            Role::Scale if is_logarithm => Some(Self::Logarithm),
            Role::Scale => Some(Self::Inverse),
            Role::Variance if is_logarithm => Some(Self::LogVariance),
            Role::Variance => Some(Self::Precision),
            _ => None,
        }
    }

    /// What a column of this name holds, and the deviation.
    fn words(self, name: &str) -> String {
        let [what, deviation] = match self {
            Self::Precision => ["precisions", &format!("1/sqrt({name})")],
            Self::Inverse => ["inverse deviations", &format!("1/{name}")],
            Self::Logarithm => ["logarithms of deviations", &format!("exp({name})")],
            Self::LogVariance => ["logarithms of variances", &format!("exp({name}/2)")],
        };
        format!(
            "the column {name} holds {what} by its name, expected standard deviations, {deviation}, or variances, the \
             squares of these; --by-position takes its numbers as deviations"
        )
    }
}

const LOCATIONS: &str = "mean means mu loc location locations median m";
const SCALES: &str = "sd sds std stdev stddev stds sigma scale scales deviation s b";
const VARIANCES: &str = "variance variances var vars sigmasq";
/// Names of variances, unless others count: `sigma1` and `sigma2` are scales.
const SQUARES: &str = "sigma2 sd2";
const COUNTED: [&str; 4] = ["sigma0", "sigma1", "sd0", "sd1"];
const PRECISIONS: &str = "precision precisions prec";
/// Words before that of a scale or a variance of which a column holds the logarithm, and the inverse.
const LOGARITHMS: [&str; 2] = ["log", "ln"];
const INVERSES: [&str; 3] = ["inverse", "inv", "reciprocal"];
const BOUNDS: &str = "lower upper lo hi low high quantile q";

impl Role {
    /// The roles of all columns.
    fn of_all(names: &[String]) -> Vec<Option<(Self, String)>> {
        let is_counted = |name: &String| {
            COUNTED
                .iter()
                .any(|word| name.to_lowercase().contains(word))
        };
        let are_counted = names.iter().any(is_counted);
        names
            .iter()
            .map(|name| Self::of(name, are_counted))
            .collect()
    }

    /// The role that a word in a name says, with the rest of the name, which is the coordinate.
    fn of(name: &str, are_counted: bool) -> Option<(Self, String)> {
        let lower = name.to_lowercase().replace("^2", "2").replace("_sq", "sq");
        let words: Vec<&str> = (lower.split(|c: char| !c.is_alphanumeric()))
            .filter(|word| !word.is_empty())
            .collect();
        let roles = [
            (LOCATIONS, Self::Location),
            (SCALES, Self::Scale),
            (VARIANCES, Self::Variance),
            (if are_counted { "" } else { SQUARES }, Self::Variance),
            (PRECISIONS, Self::Function(OfScale::Precision)),
            (BOUNDS, Self::Bound),
        ];
        let role = |word: &str| {
            let known =
                |(words, role): &(&str, Self)| words.split(' ').any(|w| w == word).then_some(*role);
            roles.iter().find_map(known)
        };
        fn stem(word: &str) -> &str {
            word.trim_end_matches(|c: char| c.is_ascii_digit())
        }
        // log_var is two words, and logvar one
        let function = |(at, word): (usize, &&str)| {
            let of = |starts: &[&str], is_logarithm| {
                let rest = starts.iter().find_map(|start| word.strip_prefix(start))?;
                let of = match rest {
                    "" => *words.get(at + 1)?,
                    rest => rest,
                };
                let of = role(of).or_else(|| role(stem(of)));
                OfScale::new(is_logarithm, of)
            };
            of(&LOGARITHMS, true).or_else(|| of(&INVERSES, false))
        };
        if let Some(function) = words.iter().enumerate().find_map(function) {
            return Some((Self::Function(function), String::new()));
        }
        let found = words.iter().enumerate().find_map(|(at, word)| {
            let (role, digits) = match role(word) {
                Some(role) => (role, ""),
                None => (role(stem(word))?, &word[stem(word).len()..]),
            };
            Some((at, role, digits))
        });
        let (at, role, digits) = found?;
        let others = words.iter().enumerate().filter(|(k, _)| *k != at);
        let mut rest: Vec<&str> = others.map(|(_, word)| *word).collect();
        rest.extend(Some(digits).filter(|digits| !digits.is_empty()));
        Some((role, rest.join("_")))
    }
}

/// The columns of locations and then of scales, both in the same order of coordinates.
#[derive(Debug, PartialEq)]
pub struct Halves {
    /// The places of the columns.
    pub order: Vec<usize>,
    /// Whether scales are given by variances.
    pub are_variances: bool,
}

/// Finds locations and scales by the names of their columns. Coordinates are in the order of the targets where these have
/// such names, and otherwise in that of the locations.
///
/// # Errors
///
/// Names of which some say what others contradict: a scale in the place of a location, ends of intervals, a coordinate
/// without a scale.
pub fn by_names(names: &[String], targets: &[String]) -> Result<Halves> {
    let roles = Role::of_all(names);
    let joined = || clipped(&names.join(", "));
    let has = |wanted: Role| {
        let is_one =
            |role: &Option<(Role, String)>| matches!(role, Some((role, _)) if *role == wanted);
        roles.iter().position(is_one)
    };
    if let Some(column) = has(Role::Bound) {
        bail!(
            "the columns are named {}, expected locations and scales, and {} is an end of an interval; \
             --by-position takes columns in their order",
            joined(),
            clipped(&names[column])
        );
    }
    check_no_functions(names, &roles)?;
    let are_variances = has(Role::Variance).is_some();
    ensure!(
        !are_variances || has(Role::Scale).is_none(),
        "the columns are named {}, expected scales or variances, not both",
        joined()
    );
    let half = names.len() / 2;
    let by_place = |order| Halves {
        order,
        are_variances,
    };
    let all = || (0..names.len()).collect::<Vec<_>>();
    let Some(known) = roles.iter().cloned().collect::<Option<Vec<_>>>() else {
        // some names say nothing: those that do must be in their half
        let is_wrong = |(column, role): (usize, &Option<(Role, String)>)| matches!(role, Some((role, _)) if (*role == Role::Location) != (column < half));
        ensure!(
            !roles.iter().enumerate().any(is_wrong),
            "the columns are named {}, expected locations and then scales; --columns NAME,NAME gives their order, and \
             --by-position takes them in their order",
            joined()
        );
        return Ok(by_place(all()));
    };
    let of = |is_location: bool| {
        let columns = known.iter().enumerate();
        columns.filter(move |(_, (role, _))| (*role == Role::Location) == is_location)
    };
    let mut locations: Vec<usize> = of(true).map(|(column, _)| column).collect();
    let named = |target: &String| {
        let lower = target.to_lowercase();
        let ends = |rest: &String| {
            !rest.is_empty() && (lower == *rest || lower.ends_with(&format!("_{rest}")))
        };
        let mut found = of(true).filter(|(_, (_, rest))| ends(rest));
        found.next().map(|(column, _)| column)
    };
    let by_target: Option<Vec<usize>> = targets.iter().map(named).collect();
    if let Some(order) = by_target.filter(|order| order.len() == locations.len()) {
        locations = order;
    }
    let scale = |&location: &usize| {
        let mut found = of(false).filter(|(_, (_, rest))| *rest == known[location].1);
        match (found.next(), found.next()) {
            (Some((column, _)), None) => Ok(column),
            _ => Err(wrong!(
                "the columns are named {}, expected one scale for {}, with the same coordinate in its name; \
                 --by-position takes columns in their order",
                joined(),
                clipped(&names[location])
            )),
        }
    };
    if half > 0 && (locations.len() != half || of(false).count() != half) {
        bail!(
            "the columns are named {}, expected as many locations as scales; --columns NAME,NAME chooses columns",
            joined()
        );
    }
    let scales = locations.iter().map(scale).collect::<Result<Vec<_>>>()?;
    Ok(by_place([locations, scales].concat()))
}

/// Refuses columns that hold a function of the scale.
fn check_no_functions(names: &[String], roles: &[Option<(Role, String)>]) -> Result<()> {
    for (name, role) in names.iter().zip(roles) {
        if let Some((Role::Function(function), _)) = role {
            bail!("{}", function.words(&clipped(name)));
        }
    }
    Ok(())
}

/// Refuses variances among the parameters of mixtures, whose columns are in a fixed order.
pub fn check_no_variances(names: &[String]) -> Result<()> {
    let roles = Role::of_all(names);
    check_no_functions(names, &roles)?;
    let mut named = names.iter().zip(&roles);
    match named.find(|(_, role)| matches!(role, Some((Role::Variance, _)))) {
        Some((name, _)) => Err(wrong!(
            "the column {} holds variances by its name, expected standard deviations",
            clipped(name)
        )),
        None => Ok(()),
    }
}

/// Takes the square roots of variances, in the second half of the columns.
pub fn take_roots(numbers: &mut Matrix) -> Result<()> {
    let half = numbers.columns / 2;
    for (row, values) in numbers.values.chunks_mut(numbers.columns).enumerate() {
        for (column, value) in values.iter_mut().enumerate().skip(half) {
            if *value < 0.0 {
                let wrong = wrong!("the variance is {value}, expected a number of at least 0");
                return Err(wrong.at(row, format_args!("column {column}")));
            }
            *value = value.sqrt();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &str, targets: &str) -> Result<Halves> {
        let list = |names: &str| -> Vec<String> {
            let names = names.split(',').filter(|name| !name.is_empty());
            names.map(str::to_owned).collect()
        };
        by_names(&list(names), &list(targets))
    }

    #[test]
    fn coordinates_are_matched_by_names() {
        for (names, targets, order) in [
            ("mean,sd", "y", &[0, 1][..]),
            ("sd,mean", "y", &[1, 0]),
            ("mean_b,mean_a,sd_a,sd_b", "", &[0, 1, 3, 2]),
            ("mean_b,mean_a,sd_a,sd_b", "y_a,y_b", &[1, 0, 2, 3]),
            ("mean_b,mean_a,sd_a,sd_b", "u,v", &[0, 1, 3, 2]),
            ("mu1,mu2,sigma1,sigma2", "", &[0, 1, 2, 3]),
            ("mu1,mu2,sigma2_x,sigma2_y", "", &[]),
            ("mx,my,sx,sy", "", &[0, 1, 2, 3]),
            ("mu1,sd1,mu2,sd2", "", &[0, 2, 1, 3]),
            ("mu0,sigma0,mu1,sigma1", "y0,y1", &[0, 2, 1, 3]),
            ("forecast,sd", "", &[0, 1]),
            ("sd,forecast", "", &[]),
            ("lower,upper", "", &[]),
            ("mean,sd,mean,sd", "", &[]),
        ] {
            let order_found = found(names, targets).map_or(Vec::new(), |halves| halves.order);
            assert_eq!(order_found, order, "{names}");
        }
        for (names, are_variances) in [
            ("mean,variance", true),
            ("variance,mean", true),
            ("mu,sigma2", true),
            ("mu,sigma^2", true),
            ("pred,var", true),
            ("mu,sigma", false),
        ] {
            let halves = found(names, "y").unwrap();
            assert_eq!(halves.are_variances, are_variances, "{names}");
        }
    }

    #[test]
    fn functions_of_scales_are_refused() {
        for (names, deviation) in [
            ("mean,precision", "1/sqrt(precision)"),
            ("mean,prec", "1/sqrt(prec)"),
            ("mean,logvar", "exp(logvar/2)"),
            ("mean,log_var", "exp(log_var/2)"),
            ("mean,log_variance", "exp(log_variance/2)"),
            ("mean,log_sigma2", "exp(log_sigma2/2)"),
            ("mu_a,mu_b,ln_var_a,ln_var_b", "exp(ln_var_a/2)"),
            ("mean,log_std", "exp(log_std)"),
            ("mean,logsd", "exp(logsd)"),
            ("mu1,mu2,log_sigma1,log_sigma2", "exp(log_sigma1)"),
            ("mean,inverse_variance", "1/sqrt(inverse_variance)"),
            ("mean,inv_var", "1/sqrt(inv_var)"),
            ("mean,inv_sd", "1/inv_sd"),
        ] {
            let error = found(names, "y").unwrap_err().to_string();
            assert!(
                error.contains(&format!(" {deviation},")),
                "{names}: {error}"
            );
        }
        for names in ["log_income,sd", "logistic,sd"] {
            assert_eq!(found(names, "y").unwrap().order, [0, 1], "{names}");
        }
    }
}
