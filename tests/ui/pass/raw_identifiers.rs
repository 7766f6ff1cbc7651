use actum::{ActionError, action};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct r#Ask {
    r#fn: u8,
}

#[action(id = "mail.type", description = "Type.")]
async fn r#type(r#mod: r#Ask) -> Result<u8, ActionError> {
    Ok(r#mod.r#fn)
}

fn main() {
    let catalog = actum::Registry::linked().unwrap().catalog();
    let schema = &catalog
        .tool_descriptor_for("mail.type")
        .unwrap()
        .parameters_schema;
    assert!(schema["properties"].get("fn").is_some());
    drop(r#type(Ask { r#fn: 1 }));
}
