//! Where the `cfg` does not hold, nothing of the action remains, and nothing of it need exist.
use actum::{ActionError, action};

#[cfg(any())]
#[action(id = "off.above", description = "Off.")]
async fn off_above(ask: Missing) -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "off.below", description = "Off.")]
#[cfg(any())]
async fn off_below(ask: Missing) -> Result<(), ActionError> {
    Ok(())
}

#[cfg_attr(all(), action(id = "on.by_attribute", description = "On."))]
async fn on_by_attribute() -> Result<(), ActionError> {
    Ok(())
}

#[cfg(all())]
#[action(id = "on.above", description = "On.")]
async fn on_above() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "on.below", description = "On.")]
#[cfg(all())]
#[cfg_attr(all(), doc = "Documented.")]
async fn on_below() -> Result<(), ActionError> {
    Ok(())
}

fn main() {
    let registry = actum::Registry::linked().unwrap();
    let ids: Vec<_> = registry.actions().map(|(id, _)| id.to_string()).collect();
    assert_eq!(ids, ["on.above", "on.below", "on.by_attribute"]);
}
