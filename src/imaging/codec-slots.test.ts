import { expect, test } from "bun:test";
import { createCodecSlots } from "./codec.ts";

test.each([
  [1, 1],
  [2, 1],
  [3, 2],
  [64, 3],
])("on %d processors one organization uses %d codec slots and others find one", (processors, most) => {
  const slots = createCodecSlots(processors);
  for (let taken = 0; taken < most; taken += 1) expect(slots.tryAcquire("greedy")).not.toBeNull();
  expect(slots.tryAcquire("greedy")).toBeNull();
  expect(slots.tryAcquire("other")).not.toBeNull();
});
