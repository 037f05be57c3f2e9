//! Work without the interpreter's lock, on a thread of its own, so that Ctrl-C ends it.

use std::{
    any::Any,
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread::Builder,
    time::Duration,
};

use burn_calibration::recalibration::FitProgress;
use pyo3::{exceptions::PyRuntimeError, prelude::*};

/// How far some work is.
pub enum At {
    /// `(fit, fits, evaluations, objective)` of a fit.
    Fit(FitProgress),
    /// A step of an answer that begins: its title, its number from 0, and how many steps there are.
    Step(String, u64, u64),
}

/// Between one look for signals and the next.
const TICK: Duration = Duration::from_millis(50);

/// The stack of a thread that works, as large as that of a main thread.
const STACK: usize = 8 << 20;

/// What a thread that works says.
enum Message<T> {
    Progress(At),
    Done(T),
}

/// Tells the caller how far the work is, and ends it where nobody waits for it any more.
#[derive(Clone)]
pub struct Reporter<T> {
    sender: Sender<Message<T>>,
    is_cancelled: Arc<AtomicBool>,
    has_listener: bool,
}

/// The reason of work that ends since nobody waits for it.
struct Cancelled;

impl<T> Reporter<T> {
    /// Takes the state of the work: of a fit after each evaluation of its criterion, else before each step.
    pub fn at(&self, progress: At) {
        if self.is_cancelled.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Cancelled)); // prints nothing
        }
        if self.has_listener {
            self.sender.send(Message::Progress(progress)).ok();
        }
    }
}

/// Runs a task on a thread of its own, and waits for it without the interpreter's lock.
///
/// A callback gets what the task reports. If the callback raises, or a signal handler does (Ctrl-C raises
/// `KeyboardInterrupt`), that error is the result at once. The task goes on in the background until it reports again: a
/// fit at its next evaluation, an answer at its next step.
///
/// # Errors
///
/// Those of the callback and of signals; `RuntimeError` if the task panics.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    callback: Option<Py<PyAny>>,
    task: impl FnOnce(&Reporter<T>) -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = channel();
    let is_cancelled = Arc::new(AtomicBool::new(false));
    let reporter = Reporter {
        sender,
        is_cancelled: is_cancelled.clone(),
        has_listener: callback.is_some(),
    };
    let work = move || {
        let result = task(&reporter);
        reporter.sender.send(Message::Done(result)).ok();
    };
    let thread = Builder::new().stack_size(STACK).spawn(work)?;
    let ended = loop {
        let received;
        (receiver, received) = py.detach(move || wait(receiver));
        let heard = match received {
            Ok(Message::Done(result)) => return Ok(result),
            Ok(Message::Progress(progress)) => tell(py, callback.as_ref(), progress),
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => break Ok(()),
        };
        if let Err(error) = heard.and_then(|()| py.check_signals()) {
            break Err(error);
        }
    };
    is_cancelled.store(true, Ordering::Relaxed);
    ended?;
    let panic = py.detach(|| thread.join()).err();
    Err(PyRuntimeError::new_err(panic_message(panic)))
}

fn wait<T>(
    receiver: Receiver<Message<T>>,
) -> (Receiver<Message<T>>, Result<Message<T>, RecvTimeoutError>) {
    let received = receiver.recv_timeout(TICK);
    (receiver, received)
}

fn tell(py: Python<'_>, callback: Option<&Py<PyAny>>, at: At) -> PyResult<()> {
    let Some(callback) = callback else {
        return Ok(());
    };
    let told = match at {
        At::Fit(at) => callback.call1(py, (at.fit, at.fits, at.evaluations, at.objective)),
        At::Step(title, step, steps) => callback.call1(py, (step, steps, title)),
    };
    told.map(drop)
}

/// The words of a panic.
pub fn panic_message(panic: Option<Box<dyn Any + Send>>) -> String {
    let words = panic.as_ref().and_then(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| panic.downcast_ref::<&str>().copied())
    });
    words.unwrap_or("the work ended without a result").into()
}
