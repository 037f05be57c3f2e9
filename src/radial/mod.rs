//! Distances and radial profiles, which [`kernel`](crate::kernel), [`ops`](crate::ops) and
//! [`distribution`](crate::distribution) share.

pub(crate) mod curve;
mod distance;
mod profile;

pub(crate) use distance::CoordinateSum;
pub use distance::Distance;
pub use profile::Profile;
pub(crate) use profile::for_each_profile;
