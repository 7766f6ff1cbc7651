//! The schema is that of the type behind the alias.

use actum::{ActionError, action};
use schemars::JsonSchema;
use serde::Deserialize;

mod wire {
    #[derive(super::Deserialize, super::JsonSchema)]
    pub struct Ask {
        pub count: u8,
    }
}

pub use wire::Ask as Renamed;
type Question = Renamed;

#[action(id = "mail.count", description = "Count.")]
async fn count(Question { count }: Question) -> Result<u8, ActionError> {
    Ok(count)
}

fn main() {
    let catalog = actum::Registry::linked().unwrap().catalog();
    let schema = &catalog
        .tool_descriptor_for("mail.count")
        .unwrap()
        .parameters_schema;
    assert_eq!(schema["properties"]["count"]["maximum"], 255);
}
