import { expect, test } from "bun:test";
import type { OperationContext } from "./context.ts";
import { runOperation, type Operation } from "./operation.ts";
import { operations } from "./operations.ts";
import { DependencyError } from "../gateway/dependency-error.ts";
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
  const declared = operations["organizations.create"];
  const act = { ...declared, input: z.any(), output: z.any(), run: async () => ({ id: "made" }) };
  const failing = (error: Error) =>
    ({ configuration: { apply: () => Promise.reject(error) } }) as unknown as OperationContext;
  expect(await runOperation(act, failing(new DependencyError("away")), {})).toEqual({ id: "made" });
  await expect(runOperation(act, failing(new Error("a bug")), {})).rejects.toThrow("a bug");
});

const named = acts.flatMap(([name, { input }]) => {
  const field = input instanceof z.ZodObject && input.shape["name"];
  return field instanceof z.ZodType ? [[name, field] as const] : [];
});

test.each(named)("%s takes no name that hides or turns characters", (_name, field) => {
  for (const hidden of [
    "\u200b\u200b",
    "\u202egk_evil",
    "a\nb",
    "a\ud800",
    "\u2800",
    "\uffa0",
    "a\u3164b",
    "e\u0301".padEnd(9, "\u0301"),
  ])
    expect(field.safeParse(hidden).success).toBe(false);
});

test("every kind of thing that people name is among them", () => {
  const kinds = named.map(([name]) => name.split(".")[0]);
  expect(kinds).toEqual(expect.arrayContaining(["organizations", "keys", "alerts", "members", "tokens"]));
});
