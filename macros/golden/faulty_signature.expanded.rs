async fn now<T>(clock: &mut Clock, zone: Zone, more: T) {}

::core::compile_error!(
    "an action is one function, so it cannot have a type parameter; name the type",
)
::core::compile_error!(
    "the host shares its values between calls, so a handler takes `&T`; put what changes behind a mutex",
)
::core::compile_error!(
    "a second parameter by value; what the host gives is taken by reference, what the model fills in is the one parameter by value: put both into one struct, or take this one as `&T`",
)
::core::compile_error!(
    "a handler returns `Result<T, ActionError>`; write `-> Result<(), ActionError>` where there is nothing to return",
)
