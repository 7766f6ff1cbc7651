#[action(id = "clock.read", description = "Tell the time.")]
async fn now() -> Result<u64, ActionError> {
    Ok(0)
}
