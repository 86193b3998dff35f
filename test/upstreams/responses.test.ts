import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectLawfulEvents, readEvents } from "../support/responses-schema.ts";
import { SIMULATED_KEY, startOpenAi } from "./openai.ts";
import type { Simulator } from "./simulator.ts";

let vendor: Simulator;
beforeAll(async () => {
  vendor = await startOpenAi();
});
afterAll(() => vendor.close());

const post = (body: object) =>
  fetch(`${vendor.url}/v1/responses`, {
    method: "POST",
    body: JSON.stringify({ model: "gpt-5.4", input: "hi", ...body }),
    headers: { authorization: `Bearer ${SIMULATED_KEY}`, "content-type": "application/json" },
  });

const call = { type: "function_call", call_id: "c", name: "f", arguments: "{}" };
const output = { type: "function_call_output", call_id: "c", output: "x" };

test.each([
  ["an unknown field", { n: 1 }, "n"],
  ["an unknown model", { model: "gpt-0" }, null],
  ["a chat tool", { tools: [{ type: "function", function: { name: "f" } }] }, "tools[0].name"],
  [
    "a strict tool with a loose schema",
    { tools: [{ type: "function", name: "f", strict: true, parameters: { type: "object" } }] },
    "tools[0].parameters",
  ],
  ["a choice without tools", { tool_choice: "required" }, "tool_choice"],
  ["too small a maximum", { max_output_tokens: 15 }, "max_output_tokens"],
  ["an unknown include", { include: ["x"] }, "include[0]"],
  ["an empty input", { input: [] }, "input"],
  [
    "a text of the wrong side",
    { input: [{ role: "assistant", content: [{ type: "input_text", text: "a" }] }] },
    "input[0].content[0]",
  ],
  ["an id of another kind", { input: [{ role: "user", id: "rs_1", content: "a" }] }, "input[0]"],
  ["a call without its output", { input: [call] }, "input"],
  ["an output without its call", { input: [output] }, "input"],
  ["reasoning that is not stored", { input: [{ type: "reasoning", id: "rs_1", summary: [] }] }, "input"],
  [
    "reasoning of another account",
    { input: [{ type: "reasoning", summary: [], encrypted_content: "enc-two-1" }] },
    null,
  ],
  ["a stored response", { previous_response_id: "resp_1" }, "previous_response_id"],
])("the simulated vendor refuses %s", async (_, body, param) => {
  const response = await post(body);
  expect([400, 404]).toContain(response.status);
  expect(await response.json()).toMatchObject({ error: { param } });
});

test("it takes what the vendor takes, and its stream has the vendor's order", async () => {
  const reasoning = { type: "reasoning", summary: [], encrypted_content: "enc-one-1" };
  const whole = await post({
    input: [{ role: "user", content: "a" }, reasoning, call, output],
    store: false,
  });
  expect(await whole.json()).toMatchObject({
    status: "completed",
    usage: { total_tokens: expect.any(Number) },
  });
  const tools = [{ type: "function", name: "f", parameters: { type: "object" } }];
  const stream = await post({ tools, stream: true, store: false, reasoning: { summary: "auto" } });
  expectLawfulEvents(readEvents(await stream.text()));
  expect(vendor.totals.usages.length).toBe(2);
});
