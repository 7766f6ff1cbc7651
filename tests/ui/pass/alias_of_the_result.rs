use actum::{ActionError, action};

type Answer<T> = Result<T, std::io::Error>;
type Words = Answer<Vec<String>>;

#[action(id = "mail.one", description = "One.")]
async fn one() -> Answer<String> {
    Ok(String::new())
}

#[action(id = "mail.two", description = "Two.")]
fn two() -> Words {
    Ok(vec![])
}

#[action(id = "mail.three", description = "Three.")]
async fn three(words: &Vec<String>) -> Result<&String, ActionError> {
    words.first().ok_or(ActionError::unavailable("no words"))
}

fn main() {
    let catalog = actum::Registry::linked().unwrap().catalog();
    let output = |id| {
        catalog
            .tool_descriptor_for(id)
            .unwrap()
            .output_schema
            .clone()
            .unwrap()
    };
    assert_eq!(output("mail.one")["type"], "string");
    assert_eq!(output("mail.two")["type"], "array");
    assert_eq!(output("mail.three")["type"], "string");
}
