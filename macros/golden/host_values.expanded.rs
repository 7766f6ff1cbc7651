async fn send(
    mailbox: &Mailbox,
    ask: mail::Send,
    call: &Call,
    selection: &actum::Selection,
) -> Result<Sent, ActionError> {
    mailbox.send(selection, ask, call).await
}

#[doc(hidden)]
#[allow(non_upper_case_globals)]
const __action_send: ::actum::__private::Action = {
    const __ACTION: ::actum::__private::Action = {
        ::core::assert!(
            ::core::matches!(
                ::actum::__private::check_action_id("mail.send"),
                ::core::result::Result::Ok(())
            ),
            "the kernel takes no such action id",
        );
        ::actum::__private::payload_can_be_read::<mail::Send>();
        ::actum::__private::payload_can_be_described::<mail::Send>();
        ::actum::__private::payload_can_be_sent::<mail::Send>();
        {
            use ::actum::__private::PerhapsAnObject as _;
            ::actum::__private::payload_has_fields::<
                mail::Send,
                _,
            >(::actum::__private::Shape::<mail::Send>::KIND);
        }
        ::actum::__private::resource_can_be_shared::<Mailbox>();
        ::actum::__private::resource_can_be_shared::<Call>();
        ::actum::__private::resource_can_be_shared::<actum::Selection>();
        ::actum::__private::output_can_be_told::<Result<Sent, ActionError>>();
        ::actum::__private::Action {
            id: "mail.send",
            description: "Send a mail.",
            title: ::core::option::Option::None,
            approval_required: false,
            idempotency_key_required: false,
            non_delegable: false,
            selection_token: ::core::option::Option::Some("email_thread_selection"),
            egress_channels: ::core::option::Option::None,
            egress_class: ::core::option::Option::None,
            asks: ::actum::__private::Asks::NOTHING,
            resource: ::core::option::Option::None,
            prompt: false,
            redact: &[],
            hints: ::actum::__private::Hints {
                read_only: false,
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
            parameters: ::actum::__private::parameters::<mail::Send>,
            output: ::actum::__private::output_schema::<Result<Sent, ActionError>>,
            needs: &[
                ::actum::__private::HostType::of::<Mailbox>,
                ::actum::__private::HostType::of::<Call>,
                ::actum::__private::HostType::of::<actum::Selection>,
            ],
            prepare: |arguments| ::actum::__private::prepare::<
                mail::Send,
            >(
                arguments,
                |context, payload| ::actum::__private::handler_future(async move {
                    ::actum::__private::output::<
                        Result<Sent, ActionError>,
                    >(
                        send(
                                ::actum::__private::host::<Mailbox>(&context)?,
                                payload,
                                ::actum::__private::host::<Call>(&context)?,
                                ::actum::__private::host::<actum::Selection>(&context)?,
                            )
                            .await,
                    )
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
const __ACTION_ID_mail_DOT_send: () = ();
