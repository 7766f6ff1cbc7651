/// Deletes a mail.
#[deprecated]
#[action(
    id = "mail.delete:forever",
    description = "Delete a mail for ever.",
    title = "Delete mail",
    approval_required,
    selection_token = "email_thread_selection",
    egress(channels = ["owner", "imap"], class = "mail"),
    destructive,
    idempotent,
    open_world,
    idempotency_key_required,
    non_delegable,
    check = is_allowed_to_go,
)]
#[expect(deprecated)]
pub(crate) async fn delete(mailbox: &Mailbox, which: Which) -> Result<(), ActionError> {
    mailbox.delete(which).await
}
