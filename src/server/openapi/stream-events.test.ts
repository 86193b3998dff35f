import { expect, test } from "bun:test";
import { MESSAGE_EVENTS } from "../../../test/support/published/messages.ts";
import { RESPONSE_EVENTS } from "../../../test/support/published/responses.ts";
import { STREAMS } from "./stream-events.ts";

test.each([
  ["messages", [...Object.keys(MESSAGE_EVENTS), "ping", "error"]],
  ["responses", Object.keys(RESPONSE_EVENTS)],
] as const)("every event of %s that clients are given is described", (name, events) => {
  expect(Object.keys(STREAMS[name].events).toSorted()).toEqual([...events].toSorted());
});
