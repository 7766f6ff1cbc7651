//! A suite's tools as a catalog of actions.

use std::collections::BTreeMap;

use actum::descriptor::Hints;
use actum::schema::normal_form;
use actum::{ActionCatalog, EgressDeclaration, ToolDescriptor, ToolName};

use super::Fault;
use super::data::{Sinks, Suite, Tool};

/// The catalog in which exactly the suite's tools exist.
///
/// # Errors
/// [`Fault::Parameters`], [`Fault::NoSuchSink`] and [`Fault::Catalog`], all at once.
pub fn catalog_of(name: &str, suite: &Suite, sinks: &Sinks) -> Result<ActionCatalog, Vec<Fault>> {
    let mut faults = Vec::new();
    let mut descriptors = BTreeMap::new();
    for tool in &suite.tools {
        match descriptor_of(tool) {
            Ok(descriptor) => {
                let has = |argument: &&String| {
                    let all = descriptor.parameters_schema.get("properties");
                    all.is_some_and(|all| all.get(argument.as_str()).is_some())
                };
                let missing = sinks.of(&tool.name).iter().filter(|sink| !has(sink));
                faults.extend(missing.map(|argument| Fault::NoSuchSink {
                    suite: name.to_owned(),
                    tool: tool.name.clone(),
                    argument: argument.clone(),
                }));
                descriptors.insert(tool.name.clone(), descriptor);
            }
            Err(cause) => faults.push(Fault::Parameters {
                suite: name.to_owned(),
                tool: tool.name.clone(),
                cause,
            }),
        }
    }
    let ids = || suite.tools.iter().map(|tool| tool.name.clone());
    let nothing_leaves = ids().map(|id| (id, EgressDeclaration::default()));
    let catalog = ActionCatalog::new(ids())
        .with_tool_descriptors(descriptors)
        .with_egress_declarations(nothing_leaves.collect());
    if faults.is_empty() {
        faults.extend(catalog.faults().into_iter().map(|cause| Fault::Catalog {
            suite: name.to_owned(),
            cause,
        }));
    }
    if faults.is_empty() {
        Ok(catalog)
    } else {
        Err(faults)
    }
}

fn descriptor_of(tool: &Tool) -> Result<ToolDescriptor, actum::schema::SchemaFault> {
    Ok(ToolDescriptor {
        name: ToolName::of(&tool.name).to_string(),
        description: tool.description.clone(),
        parameters_schema: normal_form(tool.parameters.clone())?,
        approval_required: false,
        selection_token_required: false,
        idempotency_key_required: false,
        title: None,
        output_schema: None,
        hints: Hints::NONE,
    })
}
