//! `calibration show`.

use std::fmt;

use burn::tensor::Device;
use burn_calibration::{
    file::write_with,
    recalibration::{FitReport, Guarantees, NamedParameter, load_map, save_safetensors},
};
use serde::Serialize;

use crate::{
    args::{ExportFormat, Show},
    input::Result,
    words::show,
};

#[derive(Serialize)]
struct Shown {
    kind: &'static str,
    /// The number of classes; none if any.
    classes: Option<usize>,
    #[serde(flatten)]
    guarantees: Guarantees,
    fit: Option<FitReport>,
    parameters: Vec<NamedParameter>,
}

pub fn run(args: &Show) -> Result<()> {
    let map = load_map(&args.map, &Device::flex()).map_err(|e| e.to_string())?;
    let shown = Shown {
        kind: map.kind(),
        classes: map.width(),
        guarantees: map.guarantees(),
        fit: map.report().copied(),
        parameters: map.named_parameters(),
    };
    if let (Some(format), Some(path)) = (args.export, &args.output) {
        match format {
            ExportFormat::Json => {
                let text = serde_json::to_string(&shown).map_err(|e| e.to_string())?;
                let written = write_with(path, |file| writeln!(file, "{text}"));
                written.map_err(|e| format!("{}: cannot write: {e}", path.display()))?;
            }
            ExportFormat::Safetensors => {
                save_safetensors(&*map, path).map_err(|e| e.to_string())?;
            }
        }
    }
    show(&shown, args.json)
}

/// Numbers of a parameter that are shown.
const SHOWN: usize = 10;

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.classes {
            Some(classes) => writeln!(f, "{} of {classes} classes", self.kind)?,
            None => writeln!(f, "{} of any number of classes", self.kind)?,
        }
        match &self.fit {
            Some(report) => writeln!(f, "fit: {report}")?,
            None => writeln!(f, "fit: not known")?,
        }
        write!(f, "{}", GuaranteeLines(self.guarantees))?;
        for parameter in &self.parameters {
            let shape: Vec<String> = parameter.shape.iter().map(usize::to_string).collect();
            write!(f, "{} [{}]:", parameter.name, shape.join(", "))?;
            let values = &parameter.values;
            let shown = values.iter().take(SHOWN);
            shown
                .into_iter()
                .try_for_each(|value| write!(f, " {value}"))?;
            match values.len().saturating_sub(SHOWN) {
                0 => writeln!(f)?,
                more => writeln!(f, " and {more} more")?,
            }
        }
        Ok(())
    }
}

/// What a map keeps, a line each.
pub struct GuaranteeLines(pub Guarantees);

impl fmt::Display for GuaranteeLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, kept) in [
            ("keeps the order of the classes:", self.0.keeps_order),
            ("keeps the accuracy:", self.0.keeps_accuracy),
            ("injective:", self.0.injective),
        ] {
            writeln!(f, "{what:31} {}", if kept { "yes" } else { "not always" })?;
        }
        Ok(())
    }
}
