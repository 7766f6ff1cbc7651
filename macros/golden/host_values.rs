#[action(id = "mail.send", description = "Send a mail.", selection_token = "email_thread_selection")]
async fn send(
    mailbox: &Mailbox,
    ask: mail::Send,
    call: &Call,
    selection: &actum::Selection,
) -> Result<Sent, ActionError> {
    mailbox.send(selection, ask, call).await
}
