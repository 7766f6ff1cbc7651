#[action(id = "clock.read", description = "Tell the time.")]
async fn now(clock: &Clock) -> Result<u64, ActionError> {
    let time = clock.
}
