import type { RequestEvent } from "../../src/domain/request-event.ts";

/** The record of a successful chat request, with some fields replaced. */
export function requestEvent(fields: Partial<RequestEvent> = {}): RequestEvent {
  return {
    id: "req_1",
    requestId: "req_1",
    ledgerId: null,
    traceId: null,
    trace: null,
    method: "POST",
    path: "/v1/chat/completions",
    address: null,
    route: "chat",
    status: 200,
    code: null,
    message: null,
    at: 0,
    startedAt: 0,
    durationMs: 0,
    firstByteMs: null,
    organizationId: null,
    keyId: null,
    source: null,
    model: null,
    modelPattern: null,
    channel: null,
    isStream: false,
    usage: null,
    surplus: 0,
    amount: 0n,
    currency: null,
    attempts: [],
    pictures: [],
    content: null,
    cause: undefined,
    ...fields,
  };
}
