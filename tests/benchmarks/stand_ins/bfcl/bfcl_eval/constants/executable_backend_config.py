"""Where the module of each class is."""

CODE = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
CLASS_FILE_PATH_MAPPING = {"TicketAPI": f"{CODE}.ticket_api", "MessageAPI": f"{CODE}.message_api"}
