use std::{
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
};

/// What a backend on the processor reads is there at once.
pub(super) fn ready<T, E: std::fmt::Debug>(read: impl Future<Output = Result<T, E>>) -> T {
    match pin!(read).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(data) => data.expect("a tensor on the processor can be read"),
        Poll::Pending => unreachable!("a tensor on the processor is there"),
    }
}
