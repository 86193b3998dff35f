import { describe, expect, test } from "bun:test";
import { traceparentOf, traceSampler, visibleTraceId } from "./trace.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const OWN = "01a20b3e08b77085829f520201a534f5";

describe("a trace", () => {
  const begin = traceSampler(1);

  test("goes on the caller's, below the caller's span", () => {
    const trace = begin(`00-${TRACE}-${SPAN}-00`, OWN);
    expect(trace).toMatchObject({ traceId: TRACE, parentId: SPAN, isSampled: true, attempts: [] });
    expect(trace.spanId).toMatch(/^[\da-f]{16}$/);
    expect(traceparentOf(trace, "00f067aa0ba902b7")).toBe(`00-${TRACE}-00f067aa0ba902b7-01`);
  });

  test("of a later version is read by its first four fields", () => {
    expect(begin(`01-${TRACE}-${SPAN}-01-more`, OWN).traceId).toBe(TRACE);
  });

  test.each([
    null,
    "",
    "nonsense",
    `ff-${TRACE}-${SPAN}-01`,
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01junk`,
  ])("begins here with the request's own id for %p", (traceparent) => {
    expect(begin(traceparent, OWN)).toMatchObject({ traceId: OWN, parentId: null });
  });

  test("is recorded if a caller or a collector has it", () => {
    const caller = `00-${TRACE}-${SPAN}-00`;
    const none = traceSampler(0);
    expect([begin(null, OWN), begin(caller, OWN)].map(visibleTraceId)).toEqual([OWN, TRACE]);
    expect([none(null, OWN), none(caller, OWN)].map(visibleTraceId)).toEqual([null, TRACE]);
  });

  test("is sampled by its id, whatever the caller's flag says, in the share that was set", () => {
    const tenth = traceSampler(0.1);
    const ids = Array.from({ length: 2_000 }, (_, index) =>
      new Bun.CryptoHasher("md5").update(`${index}`).digest("hex"),
    );
    const sampled = ids.filter((id) => tenth(`00-${id}-${SPAN}-01`, OWN).isSampled);
    expect(sampled.length).toBeWithin(120, 280);
    expect(sampled.filter((id) => !tenth(`00-${id}-${SPAN}-00`, OWN).isSampled)).toEqual([]);
    expect(ids.filter((id) => traceSampler(0)(null, id).isSampled)).toEqual([]);
    expect(ids.filter((id) => traceSampler(1e-20)(null, id).isSampled)).toEqual([]);
    expect(ids.filter((id) => traceSampler(1)(null, id).isSampled)).toEqual(ids);
    const isInMost = (id: string): boolean => Number.parseInt(id.slice(-14), 16) >= 0.005 * 16 ** 14;
    expect(ids.filter((id) => traceSampler(0.995)(null, id).isSampled)).toEqual(ids.filter(isInMost));
  });
});
