use actum::{ActionError, action};

#[action(
    id = "a2345678901234567890123456789.b23456789012345678901234:c2345678",
    description = "The longest."
)]
async fn longest() -> Result<(), ActionError> {
    Ok(())
}

fn main() {
    let registry = actum::Registry::linked().unwrap();
    let (id, _) = registry.actions().next().unwrap();
    assert_eq!(actum::ToolName::of(id).as_str().len(), 64);
}
