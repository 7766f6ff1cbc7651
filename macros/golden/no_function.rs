#[action(id = "clock.read", description = "Tell the time.")]
#[derive(Debug)]
struct Clock;
