//! Reading a lock file: every fault at once, each by line, column and field.
//!
//! JSON is YAML that happens to have brackets, so the reader of manifests does it: it knows the place of
//! each value and refuses a key that is given twice.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;

use super::{Acceptance, LockedAction, SurfaceLock, VERSION};
use crate::authority::document::{
    At, Bounds, Choice, Decode, Faults, Located, Node, Report, record,
};
use crate::catalog::EgressDeclaration;
use crate::descriptor::Hints;
use crate::digest::Digest;
use crate::id::ActionId;
use crate::requirement::{Class, EscapeHatch, Requirements};
use crate::upstream::UpstreamTool;

/// What is read of a lock file: room for some thousand actions.
const BOUNDS: Bounds = Bounds {
    bytes: 16 << 20,
    nodes: 2_000_000,
};

const RESTORE: &str =
    "take the file back from version control; `actum lock --accept` is what changes it";

record! {
    struct File {
        version: Located<u32>,
        actions: Vec<Located<Entry>>,
        known: Vec<ActionId>,
        accepted: Vec<Acceptance>,
    }
}

record! {
    struct Entry {
        id: ActionId,
        tool_name: String,
        title: Option<String> = None,
        description: String,
        approval_required: bool,
        selection_token: Option<String> = None,
        idempotency_key_required: bool = false,
        non_delegable: bool,
        kernel_origin: bool,
        egress: Option<EgressDeclaration>,
        requirements: Requirements = Requirements::default(),
        redactions: Vec<String> = Vec::new(),
        hints: Hints,
        resource: Option<String> = None,
        prompt: bool = false,
        upstream: Option<UpstreamTool> = None,
        parameters: Value,
        output: Option<Value> = None,
        digest: Digest,
    }
}

impl SurfaceLock {
    /// Reads the text of a lock file. `file` is how the faults call it.
    ///
    /// # Errors
    /// Every fault at once: what is no lock, what is of another version, and every entry that was changed
    /// by hand, so that its digest does not fit it any more.
    pub fn read(file: &str, text: &str) -> Result<Self, Faults> {
        let report = Report::of_file(file);
        let node = Node::from_yaml_within(BOUNDS, text, &report);
        let lock = node.and_then(|node| File::decode(&At::root(&node, &report)));
        let lock = lock.map(|file| checked(file, &report));
        report.finish(lock)
    }
}

fn checked(file: File, report: &Report) -> SurfaceLock {
    if file.version.value != VERSION {
        report.fault(
            file.version.position,
            "version",
            format!("this is format {}, and {VERSION} is read", file.version),
            "use the version of Actum that wrote it, or delete the file and run `actum lock`",
        );
    }
    let mut ids = BTreeSet::new();
    let mut actions = Vec::new();
    for (index, Located { value, position }) in file.actions.into_iter().enumerate() {
        let action = LockedAction::from(value);
        let id = &action.id;
        if !ids.insert(id.clone()) {
            let field = format!("actions[{index}].id");
            report.fault(
                position,
                field,
                format!("a second entry of `{id}`"),
                RESTORE,
            );
        }
        if action.computed_digest().ok() != Some(action.digest) {
            let field = format!("actions[{index}].digest");
            let what =
                format!("the entry of `{id}` was changed by hand: its digest does not fit it");
            report.fault(position, field, what, RESTORE);
        }
        actions.push(action);
    }
    actions.sort_by(|one, other| one.id.cmp(&other.id));
    SurfaceLock {
        version: file.version.value,
        actions,
        known: file.known.into_iter().collect(),
        accepted: file.accepted,
    }
}

impl From<Entry> for LockedAction {
    fn from(entry: Entry) -> Self {
        Self {
            id: entry.id,
            tool_name: entry.tool_name,
            title: entry.title,
            description: entry.description,
            approval_required: entry.approval_required,
            selection_token: entry.selection_token,
            idempotency_key_required: entry.idempotency_key_required,
            non_delegable: entry.non_delegable,
            kernel_origin: entry.kernel_origin,
            egress: entry.egress,
            requirements: entry.requirements,
            redactions: entry.redactions.into_iter().collect(),
            hints: entry.hints,
            resource: entry.resource,
            prompt: entry.prompt,
            upstream: entry.upstream,
            parameters: entry.parameters,
            output: entry.output,
            digest: entry.digest,
        }
    }
}

/// How a text with rules of its own is read.
fn text<T>(at: &At<'_>, what: &str, read: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    let text = String::decode(at)?;
    let value = read(&text);
    if value.is_none() {
        at.fault(format!("this is no {what}"), RESTORE);
    }
    value
}

impl Decode for ActionId {
    fn expected() -> String {
        "an action id".to_owned()
    }

    fn expected_many() -> String {
        "action ids".to_owned()
    }

    fn decode(at: &At<'_>) -> Option<Self> {
        text(at, "action id", |text| Self::parse(text).ok())
    }
}

impl Decode for Digest {
    fn expected() -> String {
        "a digest (`sha256:` and 64 hex digits)".to_owned()
    }

    fn decode(at: &At<'_>) -> Option<Self> {
        text(at, "digest", Self::parse)
    }
}

impl Decode for Acceptance {
    fn expected() -> String {
        "`by`, `reason`, `at` and `changes`".to_owned()
    }

    fn expected_many() -> String {
        "acceptances".to_owned()
    }

    fn decode(at: &At<'_>) -> Option<Self> {
        at.record(|fields| {
            let by = fields.required("by");
            let reason = fields.required("reason");
            let when = fields.required::<Moment>("at");
            let changes = fields.required("changes");
            Some(Self {
                by: by?,
                reason: reason?,
                at: when?.0,
                changes: changes?,
            })
        })
    }
}

/// A time in RFC 3339.
struct Moment(Timestamp);

impl Decode for Moment {
    fn expected() -> String {
        "a time such as 2026-01-31T12:00:00Z".to_owned()
    }

    fn decode(at: &At<'_>) -> Option<Self> {
        text(at, "time in RFC 3339", |text| text.parse().ok().map(Self))
    }
}

impl Decode for EgressDeclaration {
    fn expected() -> String {
        "an egress declaration, or null".to_owned()
    }

    fn decode(at: &At<'_>) -> Option<Self> {
        at.record(|fields| {
            let class = fields.optional("egress_class");
            let channels = fields.optional::<Vec<String>>("output_channels");
            Some(Self {
                egress_class: class?,
                output_channels: channels?.map(|list| list.into_iter().collect()),
            })
        })
    }
}

impl Decode for Requirements {
    fn expected() -> String {
        "what is required of an actor".to_owned()
    }

    fn decode(at: &At<'_>) -> Option<Self> {
        at.record(|fields| {
            let class = fields.or("class", || None);
            let claims = fields.or("claims", Vec::new);
            let roles = fields.or("roles", Vec::new);
            let modes = fields.or("modes", Vec::new);
            let reads_secrets = fields.or("reads_secrets", || false);
            let escape_hatch = fields.or("escape_hatch", || None);
            let interaction = fields.or("interaction", || None);
            Some(Self {
                class: class?,
                claims: claims?.into_iter().collect(),
                roles: roles?.into_iter().collect(),
                modes: modes?.into_iter().collect(),
                reads_secrets: reads_secrets?,
                escape_hatch: escape_hatch?,
                interaction: interaction?,
            })
        })
    }
}

impl Choice for Class {
    const ALL: &'static [(&'static str, Self)] = &[
        (Self::ControlPlane.as_str(), Self::ControlPlane),
        (Self::Always.as_str(), Self::Always),
        (Self::Optional.as_str(), Self::Optional),
    ];
}

impl Decode for Class {
    fn expected() -> String {
        format!("one of {}", Self::names().join(", "))
    }

    fn decode(at: &At<'_>) -> Option<Self> {
        Self::decode_choice(at)
    }
}

impl Decode for EscapeHatch {
    fn expected() -> String {
        "`method` and `path`".to_owned()
    }

    fn decode(at: &At<'_>) -> Option<Self> {
        at.record(|fields| {
            let method = fields.required("method");
            let path = fields.required("path");
            Some(Self {
                method: method?,
                path: path?,
            })
        })
    }
}

impl Decode for UpstreamTool {
    fn expected() -> String {
        "where it is from, and what its calls are held to".to_owned()
    }

    fn decode(at: &At<'_>) -> Option<Self> {
        // Whole, as it was written: nobody writes it by hand.
        let read = serde_json::from_value(Value::decode(at)?);
        read.map_err(|error| at.fault(error.to_string(), RESTORE))
            .ok()
    }
}

impl Decode for Hints {
    fn expected() -> String {
        "the hints that are given".to_owned()
    }

    fn decode(at: &At<'_>) -> Option<Self> {
        at.record(|fields| {
            let read_only = fields.or("read_only", || false);
            let destructive = fields.or("destructive", || false);
            let idempotent = fields.or("idempotent", || false);
            let open_world = fields.or("open_world", || false);
            Some(Self {
                read_only: read_only?,
                destructive: destructive?,
                idempotent: idempotent?,
                open_world: open_world?,
            })
        })
    }
}
