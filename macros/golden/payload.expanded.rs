/// Finds mail.
pub async fn find(Find { words, limit }: Find) -> Result<Vec<Mail>, ActionError> {
    search(&words, limit).await
}

#[doc(hidden)]
#[allow(non_upper_case_globals)]
pub const __action_find: ::actum::__private::Action = {
    const __ACTION: ::actum::__private::Action = {
        ::core::assert!(
            ::core::matches!(
                ::actum::__private::check_action_id("mail.find"),
                ::core::result::Result::Ok(())
            ),
            "the kernel takes no such action id",
        );
        ::actum::__private::payload_can_be_read::<Find>();
        ::actum::__private::payload_can_be_described::<Find>();
        ::actum::__private::payload_can_be_sent::<Find>();
        {
            use ::actum::__private::PerhapsAnObject as _;
            ::actum::__private::payload_has_fields::<
                Find,
                _,
            >(::actum::__private::Shape::<Find>::KIND);
        }
        ::actum::__private::output_can_be_told::<Result<Vec<Mail>, ActionError>>();
        ::actum::__private::Action {
            id: "mail.find",
            description: "Find mail by words.",
            title: ::core::option::Option::None,
            approval_required: false,
            idempotency_key_required: false,
            non_delegable: false,
            selection_token: ::core::option::Option::None,
            egress_channels: ::core::option::Option::None,
            egress_class: ::core::option::Option::None,
            asks: ::actum::__private::Asks::NOTHING,
            resource: ::core::option::Option::None,
            prompt: false,
            redact: &[],
            hints: ::actum::__private::Hints {
                read_only: true,
                destructive: false,
                idempotent: false,
                open_world: false,
            },
            at: ::actum::__private::Place {
                file: ::core::file!(),
                line: ::core::line!(),
                column: ::core::column!(),
                module: ::core::module_path!(),
            },
            parameters: ::actum::__private::parameters::<Find>,
            output: ::actum::__private::output_schema::<Result<Vec<Mail>, ActionError>>,
            needs: &[],
            prepare: |arguments| ::actum::__private::prepare::<
                Find,
            >(
                arguments,
                |_, payload| ::actum::__private::handler_future(async move {
                    ::actum::__private::output::<
                        Result<Vec<Mail>, ActionError>,
                    >(find(payload).await)
                }),
            ),
            check: ::core::option::Option::None,
        }
    };
    ::actum::__private::inventory::submit! {
        __ACTION
    }
    __ACTION
};
#[doc(hidden)]
#[allow(dead_code, non_upper_case_globals)]
const __ACTION_ID_mail_DOT_find: () = ();
