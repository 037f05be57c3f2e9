//! Values with names, outcomes, kernels and p-values: in JSON, and in words.

use std::{
    fmt,
    io::{self, Write},
    path::Path,
    process,
};

pub use burn_calibration::numbers::counted;
use burn_calibration::{
    distribution::Subject,
    kernel::{Kernel, RealKernel},
    numbers::significant,
};
use burn_calibration_reader::Resolution;
use clap::{ValueEnum, builder::styling::AnsiColor};
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

use crate::{
    error::{Error, Result},
    files::{LeftOut, SampleWeights},
    kernel::{bandwidth_of, distance_name},
    notes,
    outputs::is_standard_output,
};

pub use burn_calibration_report::{Computed, Missing, Named, probability, shown};

/// Checks that every number of an outcome is finite.
pub fn check_finite(outcome: &impl Serialize) -> Result<()> {
    burn_calibration_report::check_finite(outcome).map_err(Error::new)
}

/// The number of classes, or of dimensions of the targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum OutcomeSpace {
    #[serde(rename = "class_count")] // `classes` are those that are listed
    Classes(usize),
    #[serde(rename = "dimensions")]
    Dimensions(usize),
}

/// The description of the predictions of a result.
#[derive(Debug, Clone, Serialize)]
pub struct DataWords {
    pub n: usize,
    #[serde(flatten)]
    pub outcomes: OutcomeSpace,
    /// Names of classes, where these are not numbers from 0.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub class_names: Vec<String>,
    /// The subject of the classes.
    #[serde(skip_serializing_if = "is_classes")]
    pub subject: Subject,
    #[serde(skip_serializing_if = "LeftOut::is_none")]
    pub left_out: LeftOut,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<SampleWeights>,
    /// Labels whose probability is written as 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounded_zeros: Option<RoundedZeros>,
    /// The row of the first file of each sample; empty where all rows are samples.
    #[serde(skip)]
    pub rows: Vec<usize>,
    /// The format of the probabilities of the first file.
    #[serde(skip)]
    pub resolution: Resolution,
}

/// Labels with a probability of 0 in a file of few decimals.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct RoundedZeros {
    pub labels: usize,
    pub decimals: usize,
}

impl fmt::Display for RoundedZeros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { labels, decimals } = *self;
        let have = if labels == 1 { "has" } else { "have" };
        let labels = counted(labels, "label");
        let zero = format!("{:.decimals$}", 0.0);
        let most = 0.4 * 10f64.powi(-(decimals as i32));
        let most = format!("{most:.*}", decimals + 1);
        write!(
            f,
            "{labels} {have} a probability of {zero}, which may have been {most} before it was rounded: findings about \
             labels of probability 0 may be due to rounding"
        )
    }
}

/// Whether predictions are about classes, none before the others.
pub fn is_classes(subject: &Subject) -> bool {
    *subject == Subject::Classes
}

impl DataWords {
    /// Describes this number of predictions without weights, of which all were read.
    pub fn new(n: usize, outcomes: OutcomeSpace) -> Self {
        Self {
            n,
            outcomes,
            class_names: Vec::new(),
            subject: Subject::Classes,
            left_out: LeftOut::default(),
            weights: None,
            rounded_zeros: None,
            rows: Vec::new(),
            resolution: Resolution::default(),
        }
    }

    /// The same without the names of classes.
    pub fn without_names(&self) -> Self {
        Self {
            class_names: Vec::new(),
            ..self.clone()
        }
    }

    /// The effective sample size, in words; empty without weights.
    pub fn weights_in_words(&self) -> String {
        let words = |weights: &SampleWeights| {
            let effective = significant(weights.rows.effective_n, 4);
            format!(", with weights: an effective number of {effective}")
        };
        self.weights.as_ref().map_or_else(String::new, words)
    }

    /// The predictions of a family.
    pub fn in_words_of(&self, family: &str) -> String {
        match self.outcomes {
            OutcomeSpace::Classes(_) => self.to_string(),
            OutcomeSpace::Dimensions(dimensions) => format!(
                "{} of the family {family}, targets of dimension {dimensions}{}",
                counted(self.n, "prediction"),
                self.weights_in_words()
            ),
        }
    }
}

impl fmt::Display for DataWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = counted(self.n, "prediction");
        match (self.subject, self.outcomes) {
            (Subject::Correctness, _) => {
                let n = counted(self.n, "confidence");
                write!(f, "{n}, and whether the model was right")
            }
            (Subject::Event, _) => write!(f, "{n} of one event, class 1"),
            (_, OutcomeSpace::Classes(classes)) => {
                write!(f, "{n} of {}", counted(classes, "class"))
            }
            (_, OutcomeSpace::Dimensions(d)) => write!(f, "{n} of {}", counted(d, "dimension")),
        }?;
        f.write_str(&self.weights_in_words())
    }
}

/// A value before and after a recalibration.
#[derive(Serialize)]
pub struct BeforeAfter<T> {
    pub before: T,
    pub after: T,
}

impl<T> From<[T; 2]> for BeforeAfter<T> {
    fn from([before, after]: [T; 2]) -> Self {
        Self { before, after }
    }
}

/// The profile, the distance and the bandwidth of a kernel.
#[derive(Serialize)]
pub struct KernelWords {
    pub profile: String,
    pub distance: &'static str,
    pub bandwidth: f64,
}

impl From<&Kernel> for KernelWords {
    fn from(kernel: &Kernel) -> Self {
        Self {
            profile: kernel.profile.to_string(),
            distance: distance_name(kernel.distance),
            bandwidth: bandwidth_of(kernel),
        }
    }
}

impl fmt::Display for KernelWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (profile, distance) = (&self.profile, self.distance);
        write!(
            f,
            "kernel: {profile} over {distance}, bandwidth {}",
            significant(self.bandwidth, 4)
        )
    }
}

/// The profile and the length scale of a kernel on targets.
#[derive(Serialize)]
pub struct TargetWords {
    pub profile: String,
    pub length_scale: f64,
}

impl From<RealKernel> for TargetWords {
    fn from(kernel: RealKernel) -> Self {
        Self {
            profile: format!("{:?}", kernel.profile).to_lowercase(),
            length_scale: kernel.length_scale,
        }
    }
}

impl fmt::Display for TargetWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (profile, scale) = (&self.profile, self.length_scale);
        write!(f, "kernel on targets: {profile}, length scale {scale:.10}")
    }
}

/// The version of the JSON that is printed: docs/json.md.
const SCHEMA: u32 = 2;

/// An outcome of a command as JSON.
#[derive(Serialize)]
struct Object<'a, T> {
    schema: u32,
    command: &'static str,
    #[serde(flatten)]
    outcome: &'a T,
    /// Remarks about the data, which are on standard error too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// Writes a zero without its sign, which says nothing.
struct UnsignedZeros;

impl Formatter for UnsignedZeros {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        CompactFormatter.write_f64(writer, value + 0.0)
    }

    fn write_f32<W: ?Sized + Write>(&mut self, writer: &mut W, value: f32) -> io::Result<()> {
        CompactFormatter.write_f32(writer, value + 0.0)
    }
}

/// One JSON object. A number in it that is not finite is an error.
pub fn object(command: &'static str, outcome: &impl Serialize) -> Result<String> {
    check_finite(outcome)?;
    let object = Object {
        schema: SCHEMA,
        command,
        outcome,
        notes: notes::said(),
    };
    let mut text = Vec::new();
    object.serialize(&mut Serializer::with_formatter(&mut text, UnsignedZeros))?;
    Ok(String::from_utf8(text).expect("JSON is text") + "\n")
}

/// Prints the outcome of a command: one JSON object, or words.
pub fn show<T: Serialize + fmt::Display>(
    command: &'static str,
    outcome: &T,
    json: bool,
) -> Result<()> {
    if json {
        say(object(command, outcome)?);
    } else {
        check_finite(outcome)?;
        say(outcome);
    }
    Ok(())
}

/// The same, to standard error where a file that is written goes to standard output.
pub fn show_beside<T: Serialize + fmt::Display>(
    command: &'static str,
    outcome: &T,
    json: bool,
    output: Option<&Path>,
) -> Result<()> {
    if output.is_some_and(is_standard_output) {
        let _ = write!(anstream::stderr(), "{outcome}"); // as by `complain`
        return Ok(());
    }
    show(command, outcome, json)
}

/// A verdict in bold, red where it is a bad one; in colour on terminals only, see [`say`].
pub fn verdict(text: &str, is_good: bool) -> String {
    let color = if is_good {
        AnsiColor::Green
    } else {
        AnsiColor::Red
    };
    let style = color.on_default().bold();
    format!("{style}{text}{style:#}")
}

/// Prints to standard output, without colours where that is no terminal or `NO_COLOR` is set.
pub fn say(text: impl fmt::Display) {
    let mut output = anstream::stdout().lock();
    check_output(write!(output, "{text}").and_then(|()| output.flush()));
}

/// Prints a line to standard error. The exit code does not depend on whether anybody can read it.
pub fn complain(text: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "calibration: {text}");
}

/// Writes bytes to standard output as they are.
pub fn say_bytes(bytes: &[u8]) {
    let mut output = io::stdout().lock();
    check_output(output.write_all(bytes).and_then(|()| output.flush()));
}

/// Ends the process if standard output cannot be written: quietly if nobody reads it any more, and with one line and the exit
/// code 1 if it is full.
fn check_output(written: io::Result<()>) {
    match written {
        Ok(()) => (),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => process::exit(0),
        Err(error) => {
            complain(format_args!("standard output: {error}"));
            process::exit(1)
        }
    }
}

/// The name of a value on the command line and in JSON.
pub fn key(name: impl ValueEnum) -> String {
    name.to_possible_value()
        .expect("no value is hidden")
        .get_name()
        .to_owned()
}

/// Seven digits, with an exponent where it is small.
pub fn p_value(p: f64) -> String {
    match p {
        p if p >= 1e-3 => format!("{p:.7}"),
        p => format!("{p:.3e}"),
    }
}

/// A number, or its sign where it is infinite.
pub fn or_infinite(x: f64, write: impl Fn(f64) -> String) -> String {
    match x {
        f64::INFINITY => "∞".into(),
        f64::NEG_INFINITY => "-∞".into(),
        x => write(x),
    }
}
