#[action(id = "Clock", descripton = "Tell the time.", approval_required = true)]
async fn now(clock: &Clock, zone: Zone) -> Result<u64, ActionError> {
    clock.at(zone)
}
