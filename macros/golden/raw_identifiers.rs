#[action(id = "word.type", description = "Type a word.")]
async fn r#type(r#fn: r#mod::r#struct) -> Result<(), ActionError> {
    Ok(())
}
