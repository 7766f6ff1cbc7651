//! What changed of what an action requires of an actor, and of what is kept out of sight, in words.

use std::collections::BTreeSet;

use super::Label;
use crate::requirement::{Class, EscapeHatch, Requirements};

use Label::{Keeps, Narrows, Widens};

/// A change, and what it does.
type Found = (Label, String);

/// Every change of what is required.
///
/// INVARIANT: if none of them widens, no actor passes the new requirements that did not pass the old
/// ones.
pub(super) fn changes(old: &Requirements, new: &Requirements) -> Vec<Found> {
    let mut found = Vec::new();
    claims(&mut found, &old.claims, &new.claims);
    any_of(&mut found, "role", &old.roles, &new.roles);
    any_of(&mut found, "task mode", &old.modes, &new.modes);
    for (old, new) in judged(old).into_iter().zip(judged(new)) {
        policy(&mut found, old, new);
    }
    let owned = new.class == Some(Class::ControlPlane);
    if owned {
        // No actor calls it, so that nothing that it asks of one lets anybody do more.
        found.iter_mut().for_each(|(label, _)| *label = Keeps);
    }
    if old.class != new.class {
        let [was, is] = [old.class, new.class].map(|class| class.map_or("none", Class::as_str));
        let label = if owned { Narrows } else { Widens };
        found.insert(0, (label, format!("class {was} -> {is}")));
    }
    found
}

/// Every change of the paths that are redacted.
pub(super) fn redactions(old: &BTreeSet<String>, new: &BTreeSet<String>) -> Vec<Found> {
    let added = new.difference(old);
    let added = added.map(|path| (Narrows, format!("`{path}` is redacted now")));
    let dropped = old.difference(new);
    let dropped = dropped.map(|path| (Widens, format!("`{path}` is not redacted any more")));
    added.chain(dropped).collect()
}

/// An actor must hold every one, so that each one more asks for more.
fn claims(found: &mut Vec<Found>, old: &BTreeSet<String>, new: &BTreeSet<String>) {
    let added = new.difference(old);
    found.extend(added.map(|claim| {
        let words = format!("an actor must hold the claim `{claim}` now");
        (Narrows, words)
    }));
    let dropped = old.difference(new);
    found.extend(dropped.map(|claim| {
        let words = format!("an actor need not hold the claim `{claim}` any more");
        (Widens, words)
    }));
}

/// One of these is enough, so that each one more lets more through; none lets everything through.
fn any_of(found: &mut Vec<Found>, noun: &str, old: &BTreeSet<String>, new: &BTreeSet<String>) {
    match (old.is_empty(), new.is_empty()) {
        (true, true) => {}
        (true, false) => {
            let names: Vec<String> = new.iter().map(|name| format!("`{name}`")).collect();
            let names = names.join(", ");
            found.push((Narrows, format!("it is for no {noun} but {names} now")));
        }
        (false, true) => found.push((Widens, format!("it is for every {noun} now"))),
        (false, false) => {
            let added = new.difference(old);
            found.extend(
                added.map(|name| (Widens, format!("it is for the {noun} `{name}` too now"))),
            );
            let dropped = old.difference(new);
            found.extend(dropped.map(|name| {
                let words = format!("it is not for the {noun} `{name}` any more");
                (Narrows, words)
            }));
        }
    }
}

/// What policy decides on, in words: each of the three policies that an action may have.
fn judged(required: &Requirements) -> [Option<String>; 3] {
    let secrets = required.reads_secrets;
    let hatch = required.escape_hatch.as_ref();
    let kind = required.interaction.as_ref();
    [
        secrets.then(|| "whether values of secrets may be read".to_owned()),
        hatch.map(|EscapeHatch { method, path }| {
            format!("the request that `{method}` and `{path}` make")
        }),
        kind.map(|argument| format!("the kind of interaction in `{argument}`")),
    ]
}

/// Where policy decides on something else now, calls may pass that did not.
fn policy(found: &mut Vec<Found>, old: Option<String>, new: Option<String>) {
    found.extend(match (old, new) {
        (None, Some(new)) => Some((Narrows, format!("policy decides on {new} now"))),
        (Some(old), None) => Some((Widens, format!("policy does not decide on {old} any more"))),
        (Some(old), Some(new)) if old != new => {
            Some((Widens, format!("policy decides on {new} instead of {old}")))
        }
        _ => None,
    });
}
