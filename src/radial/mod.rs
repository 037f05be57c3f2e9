//! Distances and radial profiles, which [`kernel`](crate::kernel), [`ops`](crate::ops) and
//! [`distribution`](crate::distribution) share.

mod distance;
mod profile;

pub use distance::Distance;
pub use profile::Profile;
