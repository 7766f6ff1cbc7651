//! What is kept out of sight of an action's arguments and results.

use std::collections::BTreeSet;

use syn::LitStr;

use super::place;
use crate::attr::{self, Argument, ArgumentValue, Faults};

/// `redact("$.path" = "marker", ...)`. The start holds each path against the schemas.
pub fn redact(argument: &Argument, faults: &mut Faults) -> Vec<(LitStr, LitStr)> {
    const FORM: &str = "`redact` takes paths, each with what stands there instead: `redact(\"$.token\" = \"[REDACTED]\")`";
    let ArgumentValue::List(tokens) = &argument.value else {
        if let Some(at) = place(argument) {
            faults.push(at, FORM);
        }
        return Vec::new();
    };
    if tokens.is_empty() {
        faults.push(
            argument.name.span(),
            format_args!("this names no path; {FORM}"),
        );
    }
    let pairs = attr::pairs(tokens.clone(), FORM, faults);
    let mut seen = BTreeSet::new();
    for (path, marker) in &pairs {
        if !path.value().starts_with('$') {
            faults.push(
                path.span(),
                "a path begins with `$`, which is the whole value: `$.token`",
            );
        }
        if marker.value().trim().is_empty() {
            faults.push(
                marker.span(),
                "a reader has to see that something was taken out; write what: \"[REDACTED]\"",
            );
        }
        if !seen.insert(path.value()) {
            faults.push(path.span(), "this path stands here twice; drop one");
        }
    }
    pairs
}
