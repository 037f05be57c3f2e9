//! Nothing: the dependencies of this crate give the crates below Burn, and Burn, the same features in every build of
//! the workspace.
