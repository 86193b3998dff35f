/** Every field of a request's log line, with its meaning. */
export const LOG_FIELDS = {
  time: "Start of the request",
  level: "`error` from status 500 on, `debug` for probes of the gateway, else `info`; `warn` for problems",
  message: "`request`, or what happened outside of requests",
  request_id: "As in the response's header `x-request-id`; `ledger list --request` finds its charge",
  ledger_id: "Id of the charge",
  trace_id: "Of the caller's `traceparent` header, or of a trace that is exported",
  route: "Name of the route. `jobs.run` is the run of a job: status 200, 499 cancelled, 500 failed",
  method: "Of requests that are refused with 401, 403, 404 or 405",
  path: "Of the same requests",
  address: "Address of the client, of the same requests",
  status: "Status of the response; 499 where the client disconnected before it",
  code: "[Error code](errors.md); `caller_gone` where the client disconnected before the response",
  duration_ms: "Until the last byte of the response",
  first_byte_ms: "Until the first content of a stream, or until it began without any",
  stream: "True for a stream",
  organization: "Id of the organization",
  key: "Id of the key; never its secret",
  source: "`playground/` and the name of the member who sent it in the console",
  model: "As in the request",
  channel: "The channel whose response was used",
  usage: "Tokens or pictures that were used",
  surplus: "Pictures that the vendor made beyond the requested number: not delivered, not charged",
  amount: "The charge",
  currency: "Currency of the charge",
  attempts:
    "Every call to a vendor with `channel`, `upstream_model`, `duration_ms`, `outcome`, `status`, `ambiguous`, the vendor's request id as `vendor_request_id`, and [fields without effect](../build/hints.md) as `ignored_params`",
  cause: "Why it failed, for operators; keys, tokens and passwords of addresses are replaced",
} as const;

/** The fields of a log line by name. A line omits fields that do not apply. */
export type LogFields = Record<keyof typeof LOG_FIELDS, unknown>;
