//! `calibration show`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  calibration show best.map\n  calibration show best.map --export safetensors -o best.safetensors"
)]
pub struct Show {
    /// A map that fit saved, or FILE.safetensors with a temperature, or weight and bias
    #[arg(value_name = "MAP")]
    pub map: PathBuf,

    /// Also write its parameters for other programs
    #[arg(long, value_enum, requires = "output")]
    pub export: Option<ExportFormat>,

    /// Where they go
    #[arg(short, long, value_name = "FILE", requires = "export")]
    pub output: Option<PathBuf>,

    /// Print one JSON object instead of lines
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// What --json prints
    Json,
    /// A tensor of f64 for each parameter: temperature, or weight and bias, as PyTorch has them
    Safetensors,
}
