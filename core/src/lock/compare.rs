//! Two surfaces side by side.

use std::collections::BTreeSet;

use super::{Change, Label, LockedAction, SurfaceLock};
use super::{parameters, requirements};
use crate::bound::{Bound, BoundArgument};
use crate::descriptor::Hints;
use crate::id::ActionId;
use crate::upstream::UpstreamTool;
use serde_json::Value;

use Label::{Keeps, Narrows, Widens};

/// The longest text that a change quotes, in characters.
const MAX_QUOTED: usize = 160;

/// Every change from the `locked` surface to the `current` one, in the order of ids and of the fields
/// of an entry.
///
/// Whatever is not proved to take nothing new *widens*.
#[must_use]
pub fn compare(locked: &SurfaceLock, current: &SurfaceLock) -> Vec<Change> {
    let mut changes = Vec::new();
    let ids = |lock: &SurfaceLock| -> BTreeSet<ActionId> {
        let actions = lock.actions.iter().map(|action| action.id.clone());
        actions.chain(lock.known.iter().cloned()).collect()
    };
    for id in ids(locked).union(&ids(current)) {
        let mut told = Told {
            id,
            changes: &mut changes,
        };
        let name = id.as_str();
        let was_known = locked.known.contains(id);
        let is_known = current.known.contains(id);
        match (locked.action(name), current.action(name)) {
            (Some(old), Some(new)) => told.action(old, new),
            (None, Some(_)) if was_known => {
                told.tell(
                    "",
                    Widens,
                    "was known, and agents can call it now: a new action",
                );
            }
            (None, Some(new)) => told.tell("", Widens, newcomer(new)),
            (Some(_), None) if is_known => {
                told.tell(
                    "",
                    Narrows,
                    "is known still, and no agent can call it any more",
                );
            }
            (Some(_), None) => told.tell(
                "",
                Narrows,
                "is gone: renamed, taken away, or of a crate that is no longer linked",
            ),
            (None, None) if is_known && !was_known => {
                told.tell("", Keeps, "is a new id that no agent can call");
            }
            (None, None) if was_known && !is_known => {
                told.tell("", Keeps, "is no known id any more; no agent could call it");
            }
            (None, None) => {}
        }
    }
    changes
}

/// The changes of one action.
struct Told<'a> {
    id: &'a ActionId,
    changes: &'a mut Vec<Change>,
}

impl Told<'_> {
    fn tell(&mut self, field: &'static str, label: Label, words: impl Into<String>) {
        self.changes.push(Change {
            action: self.id.clone(),
            field,
            label,
            words: words.into(),
        });
    }

    fn action(&mut self, old: &LockedAction, new: &LockedAction) {
        if old.tool_name != new.tool_name {
            self.tell(
                "tool_name",
                Narrows,
                format!("the tool `{}` is gone", old.tool_name),
            );
            self.tell(
                "tool_name",
                Widens,
                format!("the tool `{}` is new", new.tool_name),
            );
        }
        if old.title != new.title {
            let [was, is] = [&old.title, &new.title].map(|it| quoted(it.as_deref()));
            self.tell("title", Keeps, format!("{was} -> {is}"));
        }
        if old.description != new.description {
            let [was, is] = [&old.description, &new.description].map(|it| quoted(Some(it)));
            let words = format!("{was} -> {is}; a model obeys this text, so read it");
            self.tell("description", Keeps, words);
        }
        self.flag(
            "approval_required",
            [old.approval_required, new.approval_required],
            [
                "every call waits for the owner now",
                "calls need not wait for the owner any more",
            ],
        );
        self.selection_token(
            old.selection_token.as_deref(),
            new.selection_token.as_deref(),
        );
        self.flag(
            "idempotency_key_required",
            [old.idempotency_key_required, new.idempotency_key_required],
            [
                "a call must come with an idempotency key now",
                "a call need not come with an idempotency key any more",
            ],
        );
        self.flag(
            "non_delegable",
            [old.non_delegable, new.non_delegable],
            ["no grant may hand it on now", "a grant may hand it on now"],
        );
        // The one flag that gives instead of taking.
        self.flag(
            "kernel_origin",
            [!old.kernel_origin, !new.kernel_origin],
            [
                "the kernel may not originate it any more",
                "the kernel itself may originate it now",
            ],
        );
        self.egress(old, new);
        for (label, words) in requirements::changes(&old.requirements, &new.requirements) {
            self.tell("requirements", label, words);
        }
        for (label, words) in requirements::redactions(&old.redactions, &new.redactions) {
            self.tell("redactions", label, words);
        }
        self.hints(old.hints, new.hints);
        if old.resource != new.resource {
            let [was, is] = [&old.resource, &new.resource].map(|it| quoted(it.as_deref()));
            self.tell("resource", Keeps, format!("{was} -> {is}"));
        }
        match (old.prompt, new.prompt) {
            (false, true) => self.tell("prompt", Keeps, "people can choose it as a prompt now"),
            (true, false) => self.tell("prompt", Keeps, "it is no prompt any more"),
            _ => {}
        }
        self.upstream(old.upstream.as_ref(), new.upstream.as_ref());
        for (label, words) in parameters::changes(&old.parameters, &new.parameters) {
            self.tell("parameters", label, words);
        }
        if old.output != new.output {
            let words = match (&old.output, &new.output) {
                (None, _) => "the result is described now",
                (_, None) => "the result is not described any more",
                _ => "the result is described otherwise; what it tells a model may have changed",
            };
            self.tell("output", Keeps, words);
        }
    }

    /// A flag that takes from what a model can do.
    fn flag(&mut self, field: &'static str, [old, new]: [bool; 2], [added, dropped]: [&str; 2]) {
        match (old, new) {
            (false, true) => self.tell(field, Narrows, added),
            (true, false) => self.tell(field, Widens, dropped),
            _ => {}
        }
    }

    fn selection_token(&mut self, old: Option<&str>, new: Option<&str>) {
        let (label, words) = match (old, new) {
            (None, Some(new)) => (Narrows, format!("a call must present a `{new}` now")),
            (Some(old), None) => (
                Widens,
                format!("a call need not present a `{old}` any more"),
            ),
            (Some(old), Some(new)) if old != new => (
                Widens,
                format!("a call must present a `{new}` instead of a `{old}`"),
            ),
            _ => return,
        };
        self.tell("selection_token", label, words);
    }

    /// A grant must have the class and every channel, so that each one more asks for more.
    fn egress(&mut self, old: &LockedAction, new: &LockedAction) {
        let (old, new) = match (&old.egress, &new.egress) {
            (Some(old), Some(new)) => (old, new),
            (None, Some(_)) => {
                let words = "is declared now; without a declaration the gate refused every call";
                return self.tell("egress", Widens, words);
            }
            (Some(_), None) => {
                let words = "is not declared any more, so that the gate refuses every call";
                return self.tell("egress", Narrows, words);
            }
            (None, None) => return,
        };
        match (&old.egress_class, &new.egress_class) {
            (None, Some(new)) => {
                self.tell(
                    "egress",
                    Narrows,
                    format!("a grant must have the class `{new}` now"),
                );
            }
            (Some(old), None) => {
                let words = format!("a grant need not have the class `{old}` any more");
                self.tell("egress", Widens, words);
            }
            (Some(old), Some(new)) if old != new => {
                let words = format!("a grant must have the class `{new}` instead of `{old}`");
                self.tell("egress", Widens, words);
            }
            _ => {}
        }
        self.channels(old.output_channels.as_ref(), new.output_channels.as_ref());
    }

    fn channels(&mut self, old: Option<&BTreeSet<String>>, new: Option<&BTreeSet<String>>) {
        // An empty list is one that no grant can satisfy.
        let is_shut =
            |channels: Option<&BTreeSet<String>>| channels.is_some_and(BTreeSet::is_empty);
        match (is_shut(old), is_shut(new)) {
            (true, true) => {}
            (true, false) => {
                self.tell("egress", Widens, "a grant can have its output channels now")
            }
            (false, true) => self.tell(
                "egress",
                Narrows,
                "no grant can have its output channels now",
            ),
            (false, false) => {
                let none = BTreeSet::new();
                let (old, new) = (old.unwrap_or(&none), new.unwrap_or(&none));
                for channel in new.difference(old) {
                    let words = format!("a grant must have the output channel `{channel}` now");
                    self.tell("egress", Narrows, words);
                }
                for channel in old.difference(new) {
                    let words =
                        format!("a grant need not have the output channel `{channel}` any more");
                    self.tell("egress", Widens, words);
                }
            }
        }
    }

    /// Another system's tool in its place may do anything.
    fn upstream(&mut self, old: Option<&UpstreamTool>, new: Option<&UpstreamTool>) {
        let tool = |it: Option<&UpstreamTool>| {
            it.map_or_else(
                || "a linked handler".to_owned(),
                |it| format!("`{}`", it.tool),
            )
        };
        let (was, is) = (tool(old), tool(new));
        if was != is {
            self.tell("upstream", Widens, format!("{was} -> {is}"));
        }
        let bounds = |it: Option<&UpstreamTool>| it.map_or_else(Vec::new, |it| it.bounds.clone());
        let (old, new) = (bounds(old), bounds(new));
        for bound in new.iter().filter(|bound| !old.contains(bound)) {
            self.tell("upstream", Narrows, format!("{} now", held(bound)));
        }
        for bound in old.iter().filter(|bound| !new.contains(bound)) {
            self.tell("upstream", Widens, format!("not any more: {}", held(bound)));
        }
    }

    fn hints(&mut self, old: Hints, new: Hints) {
        for (name, was, is) in [
            ("read_only", old.read_only, new.read_only),
            ("destructive", old.destructive, new.destructive),
            ("idempotent", old.idempotent, new.idempotent),
            ("open_world", old.open_world, new.open_world),
        ] {
            match (was, is) {
                (false, true) => {
                    self.tell("hints", Keeps, format!("it says that it is `{name}` now"))
                }
                (true, false) => {
                    let words = format!("it does not say any more that it is `{name}`");
                    self.tell("hints", Keeps, words);
                }
                _ => {}
            }
        }
    }
}

/// Of another system's tool, what it is and says of itself.
fn newcomer(new: &LockedAction) -> String {
    match &new.upstream {
        None => "is new".to_owned(),
        Some(upstream) => {
            let description = quoted(Some(&new.description));
            let tool = &upstream.tool;
            format!("is new, the tool `{tool}`: {description}; a model obeys this text, so read it")
        }
    }
}

/// A bound, in words.
fn held(bound: &BoundArgument) -> String {
    let to = match &bound.to {
        Bound::OneOf(values) => format!("one of {}", Value::from(values.clone())),
        Bound::Within(start) => format!("`{start}` and below"),
    };
    let absent = if bound.may_be_absent {
        ", or left out"
    } else {
        ""
    };
    format!("`{}` is held to {to}{absent}", bound.at)
}

/// A text as a change quotes it, cut where it is long.
fn quoted(text: Option<&str>) -> String {
    let Some(text) = text else {
        return "none".to_owned();
    };
    match text.char_indices().nth(MAX_QUOTED) {
        Some((cut, _)) => format!("\"{}…\"", text.get(..cut).unwrap_or_default()),
        None => format!("\"{text}\""),
    }
}
