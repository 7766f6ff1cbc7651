use actum::{ActionError, action};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Empty {}

#[action(id = "mail.nothing", description = "Takes nothing.")]
async fn nothing() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.unit", description = "Takes nothing.")]
async fn unit(_: ()) -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "mail.empty", description = "Takes nothing.")]
async fn empty(_: Empty) -> Result<(), ActionError> {
    Ok(())
}

fn main() {
    let registry = actum::Registry::linked().unwrap();
    let catalog = registry.catalog();
    for (id, _) in registry.actions() {
        let schema = &catalog
            .tool_descriptor_for(id.as_str())
            .unwrap()
            .parameters_schema;
        assert_eq!(
            schema,
            &serde_json::json!({
                "type": "object", "properties": {}, "additionalProperties": false
            }),
            "{id}"
        );
    }
}
