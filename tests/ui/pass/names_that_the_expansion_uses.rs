//! No name of a handler or of what stands around it gets into the expansion, nor the other way.
#![allow(non_camel_case_types, dead_code)]

mod std {}
mod core {}

struct Option;
struct Result;
struct Box;
struct Action;
struct Context;
struct Shape;
struct Some;

macro_rules! handlers {
    ($($name:ident $id:literal)*) => {$(
        #[actum::action(id = $id, description = "A handler.")]
        async fn $name(ask: crate::Ask) -> ::core::result::Result<(), ::actum::ActionError> {
            drop(ask);
            Ok(())
        }
    )*};
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Ask {}

handlers! {
    run "a.run" payload "a.payload" context "a.context" arguments "a.arguments" host "a.host"
    output "a.output" parameters "a.parameters" __private "a.private" drop_it "a.drop"
    r#type "a.type" r#match "a.match"
}

fn main() {
    assert_eq!(actum::Registry::linked().unwrap().actions().count(), 11);
}
