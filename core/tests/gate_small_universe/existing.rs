//! The catalog's half of a case: every way in which the action may exist, or not.

use actum::{ActionCatalog, EgressDeclaration, Hints, ToolDescriptor};
use serde_json::json;

use crate::case::{Egress, FLAGS, Tool, Touches};
use crate::support::id;

/// The catalog's half of a case.
#[derive(Debug, Clone, Copy)]
pub struct Existing {
    pub tool: Tool,
    pub egress: Egress,
    pub token_required: bool,
    pub kernel_origin: bool,
}

pub fn catalogs() -> Vec<Existing> {
    let mut egresses = vec![Egress::Undeclared];
    for class in [Touches::Nothing, Touches::Granted, Touches::Foreign] {
        for channels in [
            Touches::Nothing,
            Touches::Granted,
            Touches::Half,
            Touches::Foreign,
            Touches::EmptyList,
        ] {
            egresses.push(Egress::Declared { class, channels });
        }
    }
    let mut all = vec![Existing {
        tool: Tool::Unknown,
        egress: Egress::Undeclared,
        token_required: false,
        kernel_origin: false,
    }];
    for tool in [
        Tool::NoDescriptor,
        Tool::Plain,
        Tool::AlwaysAsks,
        Tool::Undispatchable,
        Tool::UndispatchableNoDescriptor,
    ] {
        for &egress in &egresses {
            for token_required in FLAGS {
                for kernel_origin in FLAGS {
                    all.push(Existing {
                        tool,
                        egress,
                        token_required,
                        kernel_origin,
                    });
                }
            }
        }
    }
    all
}

impl Existing {
    pub fn build(self) -> ActionCatalog {
        if self.tool == Tool::Unknown {
            return ActionCatalog::new([id("y")]);
        }
        let mut catalog = ActionCatalog::new([id("x")]);
        if matches!(
            self.tool,
            Tool::Plain | Tool::AlwaysAsks | Tool::Undispatchable
        ) {
            let descriptor = ToolDescriptor {
                name: "x".into(),
                description: "Does.".into(),
                parameters_schema: json!({"type": "object", "properties": {"to": {"type": "string"}}}),
                approval_required: self.tool == Tool::AlwaysAsks,
                selection_token_required: self.token_required,
                idempotency_key_required: false,
                title: None,
                output_schema: None,
                hints: Hints::NONE,
            };
            catalog = catalog.with_tool_descriptors([(id("x"), descriptor)].into());
        }
        if matches!(
            self.tool,
            Tool::Undispatchable | Tool::UndispatchableNoDescriptor
        ) {
            catalog = catalog.with_undispatchable([id("x")].into());
        }
        if let Egress::Declared { class, channels } = self.egress {
            let names = |touches| -> Option<Vec<&str>> {
                match touches {
                    Touches::Nothing => None,
                    Touches::Granted => Some(vec!["granted"]),
                    Touches::Half => Some(vec!["granted", "foreign"]),
                    Touches::Foreign => Some(vec!["foreign"]),
                    Touches::EmptyList => Some(vec![]),
                }
            };
            let declaration = EgressDeclaration {
                egress_class: names(class).map(|names| names.concat()),
                output_channels: names(channels)
                    .map(|names| names.into_iter().map(str::to_owned).collect()),
            };
            catalog = catalog.with_egress_declarations([(id("x"), declaration)].into());
        }
        if self.token_required {
            catalog = catalog.with_selection_token_types([(id("x"), "thread".into())].into());
        }
        if self.kernel_origin {
            catalog = catalog.with_kernel_origin([id("x")].into());
        }
        catalog
    }
}
