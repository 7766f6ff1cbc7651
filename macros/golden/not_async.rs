#[action(id = "math.add", description = "Add two numbers.", idempotent)]
fn add(ask: Add) -> Sum {
    Ok(ask.a + ask.b)
}
