//! Any number, in any order, around the payload, and written in any way that is a plain reference.
use actum::{ActionError, Call, Selection, action};
use schemars::JsonSchema;
use serde::Deserialize;

struct Mailbox;
struct Clock<'a>(&'a str);

#[derive(Deserialize, JsonSchema)]
struct Ask {}

#[action(id = "mail.many", description = "Many.", selection_token = "thread")]
async fn many(
    mailbox: &Mailbox,
    call: &'_ Call,
    _: Ask,
    clock: &Clock<'static>,
    thread: &Selection,
    again: &Mailbox,
    list: &Vec<[u8; 4]>,
) -> Result<(), ActionError> {
    let _ = (mailbox, call, clock.0, thread, again, list);
    Ok(())
}

fn main() {
    let registry = actum::Registry::linked().unwrap();
    let (_, action) = registry.actions().next().unwrap();
    let types: Vec<_> = action.host_types().map(|host| host.name()).collect();
    assert_eq!(types.len(), 4, "{types:?}");
    assert!(action.takes_selection());
}
