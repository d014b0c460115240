"""The processes of the stack: the supervisor, nats-server, and what each `groundwire serve ROLE` starts."""
