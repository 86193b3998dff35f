/** The declaration of one error response. Its texts are also in the documentation. */
interface ErrorDeclaration {
  status: number;
  kind: ErrorKind;
  /** Key in `RETRIES`. */
  retry: keyof typeof RETRIES;
  /** The situation in which callers get this error. */
  when: string;
  /** The change that avoids the error. */
  remedy: string;
}

/** Advice to clients about sending the same request again. */
export const RETRIES = {
  no: "No: the same request fails again.",
  after: "After the seconds of `Retry-After`; without that header not.",
  unless: "Yes, unless `x-should-retry: false` stands.",
  yes: "Yes, with growing pauses, and not before `Retry-After` where it stands.",
} as const;

/** Every kind of `GatewayError`, by code. They are thrown by their code and rendered by the route's dialect. */
export const ERROR_CODES = {
  invalid_request_body: {
    status: 400,
    kind: "parameter",
    retry: "no",
    when: "The body is no JSON object, repeats a name, is nested too deeply, arrived too slowly, or is not in its declared encoding",
    remedy: "Send one JSON object in UTF-8, whole and within its time.",
  },
  model_required: {
    status: 400,
    kind: "parameter",
    retry: "no",
    when: "`model` is absent, empty or not a string",
    remedy: "Name a model of `GET /v1/models`.",
  },
  prompt_required: {
    status: 400,
    kind: "parameter",
    retry: "no",
    when: "There is no prompt",
    remedy: "Send `prompt`, a text that is not empty.",
  },
  invalid_parameter: {
    status: 400,
    kind: "parameter",
    retry: "no",
    when: "A field or a header has a wrong type or value; `param` names the field",
    remedy: "Change the field as the message says.",
  },
  unsupported_parameter: {
    status: 400,
    kind: "parameter",
    retry: "no",
    when: "The field, tool or value is not supported for this model, or not offered to callers",
    remedy: "Leave the field out, or ask the operator to offer the feature with `allowed_features`.",
  },
  provider_not_allowed: {
    status: 400,
    kind: "parameter",
    retry: "no",
    when: "The request names a provider, which the route decides here",
    remedy: "Leave the field, header or query parameter out.",
  },
  too_many_reference_images: {
    status: 400,
    kind: "parameter",
    retry: "no",
    when: "There are more reference pictures than the model takes",
    remedy: "Send fewer pictures.",
  },
  invalid_image: {
    status: 400,
    kind: "parameter",
    retry: "no",
    when: "A reference or mask is not a picture, is cut off or damaged, is too large, or has the wrong size",
    remedy: "Send a whole picture in a format and size that the message names.",
  },
  image_fetch_failed: {
    status: 400,
    kind: "parameter",
    retry: "no",
    when: "The picture of a link could not be fetched",
    remedy: "Check that the link is public and answers quickly, or send the picture as a file or base64.",
  },
  image_url_not_allowed: {
    status: 400,
    kind: "parameter",
    retry: "no",
    when: "A link does not lead to a public https address",
    remedy: "Send a public https link without credentials, or the picture itself.",
  },
  unsupported_file_reference: {
    status: 400,
    kind: "parameter",
    retry: "no",
    when: "The request has the id of a file, and files are not stored here",
    remedy: "Send the content in place of the id.",
  },
  context_length_exceeded: {
    status: 400,
    kind: "parameter",
    retry: "no",
    when: "The input is longer than the model's context",
    remedy: "Shorten the input, or choose a model with a larger `context_window`.",
  },
  content_policy_violation: {
    status: 400,
    kind: "parameter",
    retry: "no",
    when: "The vendor refused the content",
    remedy: "Change the prompt or the picture.",
  },
  model_not_available_for_routing: {
    status: 400,
    kind: "parameter",
    retry: "no",
    when: "The model is unknown, or has no usable target",
    remedy: "Name a model of `GET /v1/models`; `routes explain` tells operators why a target is not used.",
  },
  model_retired: {
    status: 400,
    kind: "parameter",
    retry: "no",
    when: "The model has been retired",
    remedy: "Name the model that follows it.",
  },
  wrong_endpoint_for_model: {
    status: 400,
    kind: "parameter",
    retry: "no",
    when: "The model is called through another path",
    remedy: "Call the path that the message names.",
  },
  missing_api_key: {
    status: 401,
    kind: "access",
    retry: "no",
    when: "There is no key",
    remedy: "Send `Authorization: Bearer gk_…`, or the key header of the protocol.",
  },
  authentication_required: {
    status: 401,
    kind: "authentication",
    retry: "no",
    when: "The key is unknown, disabled or expired, or lacks the route's scope",
    remedy: "Check the key; `keys list` tells its state and scopes, and a new one is made by `keys create`.",
  },
  MODEL_PRICE_NOT_CONFIGURED: {
    status: 402,
    kind: "billing",
    retry: "no",
    when: "The model has no price for the organization",
    remedy: "The operator sets one with `prices set` or in the file.",
  },
  ip_not_allowed: {
    status: 403,
    kind: "access",
    retry: "no",
    when: "The key may not be used from this address",
    remedy: "Call from an address of the key's list, or let the operator extend it with `keys set`.",
  },
  model_not_allowed_for_api_key: {
    status: 403,
    kind: "permission",
    retry: "no",
    when: "The key may not call the model",
    remedy: "Name another model, or let the operator extend the key's models.",
  },
  model_not_authorized_for_org: {
    status: 403,
    kind: "permission",
    retry: "no",
    when: "The organization may not call the model",
    remedy: "Name another model, or let the operator enable it for the organization.",
  },
  not_found: {
    status: 404,
    kind: "not_found",
    retry: "no",
    when: "The path, model, job or picture is unknown, or its link has expired",
    remedy: "Check the base address and the id.",
  },
  method_not_allowed: {
    status: 405,
    kind: "not_found",
    retry: "no",
    when: "The path supports other methods only",
    remedy: "Use a method of the header `Allow`.",
  },
  idempotency_conflict: {
    status: 409,
    kind: "parameter",
    retry: "after",
    when: "Another request has, or had, this `Idempotency-Key`",
    remedy: "With `Retry-After` the first request still runs; else use a new key for another request.",
  },
  job_already_ended: {
    status: 409,
    kind: "not_found",
    retry: "no",
    when: "The job has ended, and not by being cancelled",
    remedy: "Read the job: its outcome stands.",
  },
  payload_too_large: {
    status: 413,
    kind: "parameter",
    retry: "no",
    when: "The body is over its cap, or over what every vendor of the model takes",
    remedy: "Send less, such as smaller pictures.",
  },
  unsupported_media_type: {
    status: 415,
    kind: "parameter",
    retry: "no",
    when: "The content type, charset or encoding is another one",
    remedy: "Send `application/json` in UTF-8, or the form that the path takes.",
  },
  upgrade_required: {
    status: 426,
    kind: "not_found",
    retry: "no",
    when: "The path exists and takes no WebSocket",
    remedy: "Send a plain HTTP request.",
  },
  rate_limit_exceeded: {
    status: 429,
    kind: "limit",
    retry: "after",
    when: "A limit of the key, the organization or the address is reached, or that of every vendor",
    remedy: "Wait as long as `Retry-After` says; the message names the limit.",
  },
  BILLING_BLOCKED: {
    status: 429,
    kind: "billing",
    retry: "after",
    when: "A budget is spent; with `Retry-After` running requests hold what is left",
    remedy: "Ask the owner of the budget to raise it with `budgets set`, or wait for its next period.",
  },
  internal_error: {
    status: 500,
    kind: "server",
    retry: "yes",
    when: "A defect of the gateway",
    remedy: "Report it with the request id.",
  },
  upstream_error: {
    status: 502,
    kind: "server",
    retry: "yes",
    when: "No vendor returned a usable response",
    remedy: "Retry; operators read the attempts in the request log.",
  },
  upstream_auth_failed: {
    status: 502,
    kind: "server",
    retry: "unless",
    when: "The vendor refuses the gateway's account",
    remedy: "The operator renews the credential or the vendor's credit; `channels test` says what is wrong.",
  },
  overloaded: {
    status: 503,
    kind: "overload",
    retry: "yes",
    when: "The vendor is overloaded, or this process is stopping or short of memory, disk or time",
    remedy: "Retry after `Retry-After`.",
  },
  dependency_unavailable: {
    status: 503,
    kind: "overload",
    retry: "yes",
    when: "The key or budget cannot be checked, or the charge cannot be recorded, at the moment",
    remedy: "Retry; operators look at the database, Redis and the disk.",
  },
  upstream_timeout: {
    status: 504,
    kind: "server",
    retry: "yes",
    when: "The vendor did not respond in time",
    remedy: "Retry, ask for less output, or stream; operators raise `deadlines`.",
  },
} as const satisfies Record<string, ErrorDeclaration>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** The kind of an error, from which dialects derive the error's `type`. */
export type ErrorKind =
  | "parameter"
  | "access"
  | "authentication"
  | "billing"
  | "permission"
  | "not_found"
  | "limit"
  | "server"
  | "overload";
