/// Finds mail.
#[action(id = "mail.find", description = "Find mail by words.", read_only)]
pub async fn find(Find { words, limit }: Find) -> Result<Vec<Mail>, ActionError> {
    search(&words, limit).await
}
