async fn now(clock: &Clock, zone: Zone) -> Result<u64, ActionError> {
    clock.at(zone)
}

::core::compile_error!(
    "unknown argument `descripton` of `#[action]`; did you mean `description`?",
)
::core::compile_error!(
    "`approval_required` is a flag: write `approval_required` alone, or leave it out",
)
::core::compile_error!(
    "not an action id: one is lower-case words joined by dots, with at most one `:qualifier` at the end, such as \"mail.read_thread:selected\"; did you mean \"clock\"?",
)
const _: () = {
    ::actum::__private::payload_can_be_read::<Zone>();
    ::actum::__private::payload_can_be_described::<Zone>();
    ::actum::__private::payload_can_be_sent::<Zone>();
    {
        use ::actum::__private::PerhapsAnObject as _;
        ::actum::__private::payload_has_fields::<
            Zone,
            _,
        >(::actum::__private::Shape::<Zone>::KIND);
    }
    ::actum::__private::resource_can_be_shared::<Clock>();
    ::actum::__private::output_can_be_told::<Result<u64, ActionError>>();
};
