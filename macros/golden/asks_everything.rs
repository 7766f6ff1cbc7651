#[action(
    id = "case.send",
    description = "Send a request about a case.",
    class = optional,
    requires("cases:write", "cases:send"),
    roles("approver", "lead"),
    modes("test"),
    reads_secrets,
    escape_hatch(method = "verb", path = "target"),
    interaction = "kind",
    redact("$.headers.authorization" = "[REDACTED]", "$.items[*].key" = "[KEY]"),
)]
async fn send(ask: Ask) -> Result<(), ActionError> {
    ask.go().await
}
