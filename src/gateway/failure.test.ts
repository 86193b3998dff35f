import { expect, test } from "bun:test";
import { UpstreamError } from "../domain/upstream-error.ts";
import { DependencyError } from "./dependency-error.ts";
import { asGatewayError } from "./failure.ts";

const systemError = (code: string): Error => Object.assign(new Error(`${code}: it failed`), { code });

test.each([
  [new DependencyError("away"), 503, "dependency_unavailable"],
  [new UpstreamError("overloaded", "vendor words"), 503, "overloaded"],
  [systemError("ENOSPC"), 503, "dependency_unavailable"],
  [systemError("EMFILE"), 503, "dependency_unavailable"],
  [systemError("ENOENT"), 500, "internal_error"],
  [new TypeError("a bug"), 500, "internal_error"],
  ["a word", 500, "internal_error"],
])("%p is a %d for the caller", (thrown, status, code) => {
  expect(asGatewayError(thrown)).toMatchObject({ status, code, cause: thrown });
});
