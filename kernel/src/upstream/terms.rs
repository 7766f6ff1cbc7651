//! An upstream's manifest: which of its tools are actions, and on which terms. The operator's word, and nobody else's.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use actum::authority::HeldArgument;
use actum::authority::document::{Faults, Located, Report, decode_yaml, record};
use actum::upstream::{UpstreamAction, UpstreamHandler, UpstreamTool};
use actum::{ActionId, Class, EgressDeclaration, Hints, Requirements, ToolDescriptor, ToolName};

use super::offer::Offer;

/// The most tools that one upstream's manifest may name.
const MAX_TOOLS: usize = 500;

record! {
    struct File {
        /// The tools. Any other tool of the upstream does not exist.
        tools: Vec<Written>,
    }
}

record! {
    struct Written {
        /// The upstream's own name of the tool.
        tool: Located<String>,
        /// The action's id; without it, the upstream's id, a dot and the tool's name with `_` for `-`.
        id: Option<String> = None,
        /// Whether every call waits for the owner. What is not said waits.
        approval_required: bool = true,
        /// Whether a call must come with an idempotency key.
        idempotency_key_required: bool = false,
        /// Whether no grant may hand it on.
        non_delegable: bool = false,
        /// How an actor comes by it; without it, by manifests' lists alone.
        class: Option<Class> = None,
        /// Claims, all of which an actor must hold.
        requires: Vec<String> = Vec::new(),
        /// Roles, one of which an actor must have.
        roles: Vec<String> = Vec::new(),
        /// Task modes in which it is available.
        modes: Vec<String> = Vec::new(),
        /// Whether it reads values of secrets.
        reads_secrets: bool = false,
        /// The class of outside traffic that it causes.
        egress_class: Option<String> = None,
        /// The output channels that it writes to.
        output_channels: Option<Vec<String>> = None,
        /// What the arguments of every call are held to.
        bound_arguments: Vec<HeldArgument> = Vec::new(),
        /// Paths of arguments and results that are seen as these texts.
        redact: BTreeMap<String, String> = BTreeMap::new(),
        /// It changes nothing.
        read_only: bool = false,
        /// It may overwrite or delete.
        destructive: bool = false,
        /// A second call with the same arguments changes nothing more.
        idempotent: bool = false,
        /// It reaches things outside.
        open_world: bool = true,
    }
}

/// What the operator says of one tool.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    pub(crate) tool: String,
    pub(crate) id: ActionId,
    approval_required: bool,
    idempotency_key_required: bool,
    non_delegable: bool,
    requirements: Requirements,
    egress: EgressDeclaration,
    from: UpstreamTool,
    redactions: BTreeMap<String, String>,
    hints: Hints,
}

impl Terms {
    /// Reads an upstream's manifest.
    ///
    /// # Errors
    /// Every fault of the file.
    pub(crate) fn read(path: &Path, upstream: &str) -> Result<Vec<Self>, Faults> {
        let name = path.display().to_string();
        let report = Report::of_file(&name);
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) => {
                let mend = format!(
                    "write which tools of `{upstream}` are actions, or name another file with `manifest`"
                );
                report.fault(None, "", format!("cannot be read: {error}"), mend);
                return report.finish(None);
            }
        };
        let file: File = decode_yaml(&name, &text)?;
        let mut tools = BTreeSet::new();
        let mut ids = BTreeSet::new();
        if file.tools.len() > MAX_TOOLS {
            let what = format!(
                "{} tools, and at most {MAX_TOOLS} are read",
                file.tools.len()
            );
            report.fault(
                None,
                "tools",
                what,
                "leave out those that nobody is granted",
            );
            return report.finish(None);
        }
        let terms = file
            .tools
            .into_iter()
            .enumerate()
            .filter_map(|(index, written)| {
                let position = written.tool.position;
                let fault = |field: &str, what: String, mend: &str| {
                    report.fault(position, format!("tools[{index}].{field}"), what, mend);
                };
                let tool = written.tool.value.clone();
                if !tools.insert(tool.clone()) {
                    let what = format!("`{}` a second time", tool.escape_debug());
                    fault("tool", what, "keep one");
                    return None;
                }
                let own = || format!("{upstream}.{}", tool.replace('-', "_").to_lowercase());
                let id = written.id.clone().unwrap_or_else(own);
                let Ok(id) = ActionId::parse(&id) else {
                    let what = format!("`{}` is no action id", id.escape_debug());
                    let mend = "give an `id` of dotted lower-case segments, such as `files.read`";
                    fault("id", what, mend);
                    return None;
                };
                if !id.as_str().starts_with(&format!("{upstream}.")) {
                    let what = format!("`{id}` does not begin with `{upstream}.`");
                    fault("id", what, "begin it with the upstream's id and a dot");
                }
                if !ids.insert(id.clone()) {
                    fault(
                        "id",
                        format!("`{id}` a second time"),
                        "give one of them another `id`",
                    );
                }
                Some(Self::of(written, id, upstream))
            });
        let terms: Vec<Self> = terms.collect();
        report.finish(Some(terms))
    }

    fn of(written: Written, id: ActionId, upstream: &str) -> Self {
        let held = written.bound_arguments.into_iter();
        Self {
            approval_required: written.approval_required,
            idempotency_key_required: written.idempotency_key_required,
            non_delegable: written.non_delegable,
            requirements: Requirements {
                class: written.class,
                claims: written.requires.into_iter().collect(),
                roles: written
                    .roles
                    .iter()
                    .map(|role| actum::requirement::folded_role(role))
                    .collect(),
                modes: written.modes.into_iter().collect(),
                reads_secrets: written.reads_secrets,
                ..Requirements::default()
            },
            egress: EgressDeclaration {
                egress_class: written.egress_class,
                output_channels: written.output_channels.map(|all| all.into_iter().collect()),
            },
            from: UpstreamTool {
                tool: format!("{upstream}/{}", *written.tool),
                bounds: held.map(|held| held.of(id.clone())).collect(),
            },
            redactions: written.redact,
            hints: Hints {
                read_only: written.read_only,
                destructive: written.destructive,
                idempotent: written.idempotent,
                open_world: written.open_world,
            },
            tool: written.tool.value,
            id,
        }
    }

    /// The action that a tool is on these terms, if it is what is offered here.
    pub(crate) fn action(&self, offer: Offer, handler: UpstreamHandler) -> UpstreamAction {
        UpstreamAction {
            id: self.id.clone(),
            from: self.from.clone(),
            descriptor: ToolDescriptor {
                name: ToolName::of(&self.id).to_string(),
                description: offer.description,
                parameters_schema: offer.parameters,
                approval_required: self.approval_required,
                selection_token_required: false,
                idempotency_key_required: self.idempotency_key_required,
                title: offer.title,
                output_schema: offer.output,
                hints: self.hints,
            },
            egress: self.egress.clone(),
            requirements: self.requirements.clone(),
            redactions: self.redactions.clone(),
            non_delegable: self.non_delegable,
            handler,
        }
    }
}
