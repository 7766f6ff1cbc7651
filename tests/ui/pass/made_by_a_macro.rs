use actum::{ActionError, action};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Ask {}

macro_rules! handler {
    ($name:ident, $id:literal, $host:ty, $payload:ty, $output:ty) => {
        #[action(id = $id, description = "Made.")]
        async fn $name(_: $host, _: $payload) -> $output {
            Ok(())
        }
    };
}

handler!(one, "mail.one", &String, Ask, Result<(), ActionError>);
handler!(two, "mail.two", &Vec<u8>, (), Result<(), std::io::Error>);

fn main() {
    assert_eq!(actum::Registry::linked().unwrap().actions().count(), 2);
}
