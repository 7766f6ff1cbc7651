//! A plan as the person reads it who decides on it.

use std::fmt::Write as _;

use actum::ToolName;
use ulid::Ulid;

use super::Plan;
use crate::Kernel;
use crate::printable;
use crate::store::StoreError;

/// The plan step by step: what each does, to what, with which arguments, and why. Nothing in it is hidden.
pub(crate) async fn shown(kernel: &Kernel, task: Ulid, plan: &Plan) -> Result<String, StoreError> {
    let line = |text: &str| printable::visible(text).replace(['\n', '\t'], " ");
    let mut out = format!("goal: {}\n", line(&plan.goal));
    for (place, step) in (1..).zip(&plan.steps) {
        let action =
            ToolName::to_id(&step.action).map_or_else(|| step.action.clone(), |id| id.to_string());
        let tool = kernel.catalog.tool_descriptor_for(&action);
        let does = tool.map_or("nothing that is known", |tool| tool.description.as_str());
        let _ = writeln!(out, "step {place}: {}: {does}", line(&action));
        let _ = writeln!(out, "  because: {}", line(&step.why));
        let token = step.selection_token.as_deref();
        if let Some(token) = token.and_then(|token| Ulid::from_string(token).ok()) {
            let selection = kernel.store.selection(token, task).await?;
            let target = selection.map_or_else(
                || "what a token that is spent or over stands for".to_owned(),
                |selection| selection.target,
            );
            let _ = writeln!(out, "  to: {}", line(&target));
        }
        for (name, value) in &step.arguments {
            let _ = writeln!(out, "  {}: {}", line(name), line(&value.to_string()));
        }
    }
    Ok(out)
}
