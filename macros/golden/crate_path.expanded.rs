async fn now(clock: &Clock, zone: Zone) -> Result<u64, ActionError> {
    clock.at(zone)
}

#[doc(hidden)]
#[allow(non_upper_case_globals)]
const __action_now: facade::actum::__private::Action = {
    const __ACTION: facade::actum::__private::Action = {
        ::core::assert!(
            ::core::matches!(
                facade::actum::__private::check_action_id("clock.read"),
                ::core::result::Result::Ok(())
            ),
            "the kernel takes no such action id",
        );
        facade::actum::__private::payload_can_be_read::<Zone>();
        facade::actum::__private::payload_can_be_described::<Zone>();
        facade::actum::__private::payload_can_be_sent::<Zone>();
        {
            use facade::actum::__private::PerhapsAnObject as _;
            facade::actum::__private::payload_has_fields::<
                Zone,
                _,
            >(facade::actum::__private::Shape::<Zone>::KIND);
        }
        facade::actum::__private::resource_can_be_shared::<Clock>();
        facade::actum::__private::output_can_be_told::<Result<u64, ActionError>>();
        facade::actum::__private::Action {
            id: "clock.read",
            description: "Tell the time.",
            title: ::core::option::Option::None,
            approval_required: false,
            idempotency_key_required: false,
            non_delegable: false,
            selection_token: ::core::option::Option::None,
            egress_channels: ::core::option::Option::None,
            egress_class: ::core::option::Option::None,
            asks: facade::actum::__private::Asks::NOTHING,
            resource: ::core::option::Option::None,
            prompt: false,
            redact: &[],
            hints: facade::actum::__private::Hints {
                read_only: false,
                destructive: false,
                idempotent: false,
                open_world: false,
            },
            at: facade::actum::__private::Place {
                file: ::core::file!(),
                line: ::core::line!(),
                column: ::core::column!(),
                module: ::core::module_path!(),
            },
            parameters: facade::actum::__private::parameters::<Zone>,
            output: facade::actum::__private::output_schema::<Result<u64, ActionError>>,
            needs: &[facade::actum::__private::HostType::of::<Clock>],
            prepare: |arguments| facade::actum::__private::prepare::<
                Zone,
            >(
                arguments,
                |context, payload| facade::actum::__private::handler_future(async move {
                    facade::actum::__private::output::<
                        Result<u64, ActionError>,
                    >(
                        now(facade::actum::__private::host::<Clock>(&context)?, payload)
                            .await,
                    )
                }),
            ),
            check: ::core::option::Option::None,
        }
    };
    facade::actum::__private::inventory::submit! {
        __ACTION
    }
    __ACTION
};
#[doc(hidden)]
#[allow(dead_code, non_upper_case_globals)]
const __ACTION_ID_clock_DOT_read: () = ();
