//! The generator of random numbers that tests take.

use std::convert::Infallible;

use rand::{SeedableRng, TryRng, rngs};

/// [`rand::rngs::StdRng`], whose numbers it has. Functions of `rand` are compiled in the crate that calls them, and
/// those of tests are not optimised: numbers cost seven times as much there. These are compiled here.
#[derive(Debug)]
pub struct StdRng(rngs::StdRng);

impl SeedableRng for StdRng {
    type Seed = <rngs::StdRng as SeedableRng>::Seed;

    #[inline(never)]
    fn from_seed(seed: Self::Seed) -> Self {
        Self(rngs::StdRng::from_seed(seed))
    }
}

impl TryRng for StdRng {
    type Error = Infallible;

    #[inline(never)]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    #[inline(never)]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    #[inline(never)]
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}
