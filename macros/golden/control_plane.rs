#[action(
    id = "run.persist",
    description = "Keep a run.",
    class = control_plane,
    redact("$.key" = "[KEY]"),
)]
async fn persist() -> Result<(), ActionError> {
    Ok(())
}
