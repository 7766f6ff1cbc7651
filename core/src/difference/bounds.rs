//! What the arguments of one action are held to, on two sides.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::bound::{Bound, BoundArgument};
use crate::lock::Label;

/// Every place at which the bounds are not the same, with what that does and in words.
///
/// It narrows only when each bound of before is implied by one of now, place by place; a bound that moved to
/// another place is one that was dropped and one that came.
pub(super) fn changes(was: &[BoundArgument], is: &[BoundArgument]) -> Vec<(Label, String)> {
    let places: BTreeSet<&str> = was
        .iter()
        .chain(is)
        .map(|bound| bound.at.as_str())
        .collect();
    let change = |at: &str| {
        let [was, is] = [was, is].map(|bounds| -> Vec<&BoundArgument> {
            bounds.iter().filter(|bound| bound.at == at).collect()
        });
        let narrows = all_implied(&was, &is);
        let widens = !narrows;
        let keeps = narrows && all_implied(&is, &was);
        let label = match (widens, keeps) {
            (true, _) => Label::Widens,
            (_, true) => return None,
            _ => Label::Narrows,
        };
        let place = match at {
            "" => "the arguments",
            at => at,
        };
        Some((label, format!("`{place}`: {} -> {}", told(&was), told(&is))))
    };
    places.into_iter().filter_map(change).collect()
}

/// Whether whatever keeps the bounds in `by` keeps all of `bounds`.
fn all_implied(bounds: &[&BoundArgument], by: &[&BoundArgument]) -> bool {
    let mut bounds = bounds.iter();
    bounds.all(|bound| by.iter().any(|other| implies(other, bound)))
}

/// Whether whatever keeps `one` keeps `other`, at one place.
fn implies(one: &BoundArgument, other: &BoundArgument) -> bool {
    let absent = other.may_be_absent || !one.may_be_absent;
    let values = match (&one.to, &other.to) {
        (Bound::OneOf(values), to) => values.iter().all(|value| to.takes(value)),
        // What goes on from a text that is below the other's start is below it too.
        (Bound::Within(start), to @ Bound::Within(_)) => to.takes(&Value::String(start.clone())),
        (Bound::Within(_), Bound::OneOf(_)) => false,
    };
    absent && values
}

fn told(bounds: &[&BoundArgument]) -> String {
    let one = |bound: &&BoundArgument| {
        let to = match &bound.to {
            Bound::OneOf(values) if values.is_empty() => "no value".to_owned(),
            Bound::OneOf(values) => {
                let values: Vec<_> = values.iter().map(ToString::to_string).collect();
                format!("one of {}", values.join(", "))
            }
            Bound::Within(start) => format!("below {}", Value::String(start.clone())),
        };
        match bound.may_be_absent {
            true => format!("{to}, or left out"),
            false => to,
        }
    };
    match bounds {
        [] => "not bound".to_owned(),
        bounds => bounds.iter().map(one).collect::<Vec<_>>().join(" and "),
    }
}
