import { expect, test } from "bun:test";
import type { OperationContext } from "./context.ts";
import { runOperation, type Operation } from "./operation.ts";
import { operations } from "./operations.ts";
import { DependencyError } from "../gateway/ports.ts";
import { z } from "zod";

const acts = Object.entries(operations as Record<string, Operation>);

test.each(acts)("what %s changes is in force in its process when it returns", async (_name, declared) => {
  const events: string[] = [];
  const apply = async () => void events.push("applied");
  const context = { configuration: { apply } } as OperationContext;
  const run = async () => {
    events.push("run");
    return {};
  };
  await runOperation({ ...declared, input: z.any(), output: z.any(), run }, context, {});
  expect(events).toEqual(declared.method === "GET" ? ["run"] : ["run", "applied"]);
});

test("a change that was made is not reported as failed because the database is lost behind it", async () => {
  const declared = operations["organizations.create"] as Operation;
  const act = { ...declared, input: z.any(), output: z.any(), run: async () => ({ id: "made" }) };
  const failing = (error: Error) =>
    ({ configuration: { apply: () => Promise.reject(error) } }) as unknown as OperationContext;
  expect(await runOperation(act, failing(new DependencyError("away")), {})).toEqual({ id: "made" });
  await expect(runOperation(act, failing(new Error("a bug")), {})).rejects.toThrow("a bug");
});
