#[action(id = "clock.read", description = "Tell the time.")]
async fn now<T>(clock: &mut Clock, zone: Zone, more: T) {}
