use serde::{Deserialize, Serialize};

/// How a quantity that has a fused path is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Computation {
    /// Fused where there is a fused path, else composed.
    #[default]
    Auto,
    /// By [`pair_statistic`](super::pair_statistic); a panic where the kernel has no fused path.
    Fused,
    /// By tensor operations on `n × n` matrices: the reference that the fused path is tested
    /// against.
    Composed,
}
