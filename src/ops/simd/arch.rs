//! The instruction set of the fused passes: the best that the processor has, or one that a test has chosen.

use std::cell::Cell;

use pulp::WithSimd;

thread_local!(static CHOSEN: Cell<Option<pulp::Arch>> = const { Cell::new(None) });

/// The instruction set chosen for a thread, or the best.
#[derive(Clone, Copy)]
pub(in crate::ops) struct Arch(pulp::Arch);

impl Arch {
    pub fn new() -> Self {
        Self(CHOSEN.get().unwrap_or_default())
    }

    pub fn dispatch<Op: WithSimd>(self, op: Op) -> Op::Output {
        self.0.dispatch(op)
    }
}

/// Computes something on threads that have each instruction set of this processor in turn, beginning with the best
/// one: for tests. Returns the names of the instruction sets and the results.
#[doc(hidden)]
pub fn on_instruction_sets<T: Send>(compute: impl Fn() -> T + Sync) -> Vec<(String, T)> {
    let mut all = vec![pulp::Arch::new(), pulp::Arch::Scalar];
    #[cfg(target_arch = "x86_64")]
    all.extend(pulp::x86::V3::try_new().map(pulp::Arch::V3));
    let on = |arch: pulp::Arch| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(2)
            .start_handler(move |_| CHOSEN.set(Some(arch)))
            .build();
        let pool = pool.expect("two threads");
        (format!("{arch:?}"), pool.install(&compute))
    };
    all.into_iter().map(on).collect()
}
