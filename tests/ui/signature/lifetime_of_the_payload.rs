use actum::{ActionError, action};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Ask<'a> {
    words: &'a str,
}

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler<'a>(_mail: &'a String, _ask: Ask<'a>) -> Result<(), ActionError> {
    Ok(())
}

fn main() {}
