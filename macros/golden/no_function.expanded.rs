#[derive(Debug)]
struct Clock;

::core::compile_error!(
    "`#[action]` goes on a function: `async fn name(...) -> Result<T, ActionError>`",
)
