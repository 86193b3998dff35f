import { expect, test } from "bun:test";
import { needsOf } from "./page-needs.ts";

test.each([
  ["/models/providers/openai", ["viewer", "installation"]],
  ["/models/providers/$id", ["viewer", "installation"]],
  ["/models/providers/add", ["admin", "installation"]],
  ["/models/providers", ["viewer", "installation"]],
  ["/models/providers/openai/other", undefined],
  ["/models", undefined],
  ["/", undefined],
] as const)("the page at %s needs %p", (path, needs) => {
  expect(needsOf(path)).toEqual(needs as never);
});
