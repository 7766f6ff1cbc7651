//! A host's value of a type that could borrow: the host gives one that does not.
use actum::action::HostType;
use actum::{ActionError, Registry, action};

struct Words<'a>(&'a str);

#[action(id = "mail.elided", description = "Elided.")]
async fn elided(words: &Words<'_>) -> Result<usize, ActionError> {
    Ok(words.0.len())
}

fn main() {
    let registry = Registry::linked().unwrap();
    let types: Vec<_> = registry
        .actions()
        .flat_map(|(_, action)| action.host_types())
        .collect();
    assert_eq!(types, [HostType::of::<Words<'static>>()]);
}
