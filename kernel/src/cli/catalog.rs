//! `actum catalog`

use actum::provider::{Provider, render};
use actum::{Class, Registry};
use serde_json::json;

pub(super) fn run(as_json: bool) -> Result<(), String> {
    let registry = Registry::linked().map_err(|faults| faults.to_string())?;
    let catalog = registry.catalog();
    if as_json {
        let all: Vec<_> = catalog
            .ids()
            .into_iter()
            .map(|id| {
                json!({
                    "id": id,
                    "dispatchable": catalog.is_dispatchable(id.as_str()),
                    "kernel_origin": catalog.is_kernel_origin(id.as_str()),
                    "non_delegable": catalog.is_non_delegable(id.as_str()),
                    "egress": catalog.egress_declaration_for(id.as_str()),
                    "selection_token_type": catalog.selection_token_type_for(id.as_str()),
                    "requirements": catalog.requirements_for(id.as_str()),
                    "redactions": catalog.redactions_of(id.as_str()),
                    "descriptor": catalog.tool_descriptor_for(id.as_str()),
                })
            })
            .collect();
        let text = serde_json::to_string_pretty(&all).map_err(|error| error.to_string())?;
        return super::say(&format!("{text}\n"));
    }
    let width = catalog
        .ids()
        .iter()
        .map(|id| id.as_str().len())
        .max()
        .unwrap_or(0);
    let mut out = String::new();
    for id in catalog.ids() {
        let line = match catalog.tool_descriptor_for(id.as_str()) {
            Some(tool) => {
                let mut flags = Vec::new();
                let hints = tool.hints;
                for (set, flag) in [
                    (tool.approval_required, "approval"),
                    (tool.selection_token_required, "selection token"),
                    (tool.idempotency_key_required, "idempotency key"),
                    (hints.read_only, "read only"),
                    (hints.destructive, "destructive"),
                    (hints.open_world, "open world"),
                ] {
                    flags.extend(set.then_some(flag));
                }
                if let Some(egress) = catalog.egress_declaration_for(id.as_str()) {
                    flags.extend(egress.egress_class.as_deref());
                    flags.extend(egress.output_channels.iter().flatten().map(String::as_str));
                }
                let required = catalog.requirements_for(id.as_str());
                flags.extend(
                    required
                        .and_then(|required| required.class)
                        .map(Class::as_str),
                );
                flags.extend(
                    required
                        .iter()
                        .flat_map(|it| &it.claims)
                        .map(String::as_str),
                );
                let flags = if flags.is_empty() {
                    String::new()
                } else {
                    format!(" [{}]", flags.join(", "))
                };
                format!("{}{flags}", tool.description)
            }
            None if catalog.class_of(id.as_str()) == Some(Class::ControlPlane) => {
                "the control plane's own; no agent can call it".to_owned()
            }
            None => "known; nothing dispatches it".to_owned(),
        };
        out.push_str(&format!("{id:width$}  {line}\n"));
    }
    super::say(&out)
}

/// `actum catalog --provider NAME`
pub(super) fn shapes(provider: Provider) -> Result<(), String> {
    let registry = Registry::linked().map_err(|faults| faults.to_string())?;
    let (mut shapes, mut problems) = (Vec::new(), Vec::new());
    let catalog = registry.catalog();
    for (id, _) in registry.actions() {
        let Some(tool) = catalog.tool_descriptor_for(id.as_str()) else {
            continue;
        };
        match render(provider, tool, tool.approval_required) {
            Ok(shape) => shapes.push(shape),
            Err(problem) => problems.push(problem.to_string()),
        }
    }
    let text = serde_json::to_string_pretty(&shapes).map_err(|error| error.to_string())?;
    super::say(&format!("{text}\n"))?;
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems.join("\n"))
    }
}
