//! What is printed of a panic: its place and its message, without the secrets of the call that it ends.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::{PanicHookInfo, set_hook};

/// From now on, panics of this process are printed without the secrets of the calls that they end.
pub fn scrub_panics() {
    scrub_panics_into(|told| eprintln!("{told}"));
}

/// The same, told elsewhere than on standard error.
pub fn scrub_panics_into(tell: impl Fn(&str) + Send + Sync + 'static) {
    set_hook(Box::new(move |info| tell(&told(info))));
}

/// The lines for one panic.
fn told(info: &PanicHookInfo<'_>) -> String {
    let text = info.to_string();
    let mut told = actum::redact::scrub_current(&text).into_owned();
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured {
        told.push_str(&format!("\n{backtrace}"));
    }
    told
}
