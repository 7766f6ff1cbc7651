//! What stands in the source is what the model gets.
use actum::{ActionError, action};

#[action(id = "mail.quoted", description = r#"Say "hi" \ bye."#)]
async fn quoted() -> Result<(), ActionError> {
    Ok(())
}

#[action(
    id = "mail.long",
    description = "One line, \
    written on two.",
    title = "Grüße 你好 👩\u{200D}🔬"
)]
async fn long() -> Result<(), ActionError> {
    Ok(())
}

fn main() {
    let catalog = actum::Registry::linked().unwrap().catalog();
    let tool = |id| catalog.tool_descriptor_for(id).unwrap().clone();
    assert_eq!(tool("mail.quoted").description, "Say \"hi\" \\ bye.");
    assert_eq!(tool("mail.long").description, "One line, written on two.");
    assert_eq!(tool("mail.long").title.unwrap(), "Grüße 你好 👩\u{200D}🔬");
}
