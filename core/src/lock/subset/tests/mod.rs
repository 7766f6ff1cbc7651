//! The labels that schemas get.

mod cases;
pub(in crate::lock) mod random;

use serde_json::Value;

use super::{Label, Plain, label};

fn told(new: &Value, old: &Value) -> Label {
    let (new, old) = (Plain::of(new), Plain::of(old));
    label(new.at("").unwrap(), old.at("").unwrap())
}
