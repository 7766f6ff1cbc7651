#[action(crate = facade::actum, id = "clock.read", description = "Tell the time.")]
async fn now(clock: &Clock, zone: Zone) -> Result<u64, ActionError> {
    clock.at(zone)
}
