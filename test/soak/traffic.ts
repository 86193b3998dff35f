import { appendFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { signIn, type Administrator } from "../support/administration.ts";
import { submit, untilStatus } from "../support/job-calls.ts";
import { BUDGET, CHAT_ONLY, CLAUDE, ROUTED, type MessagesGateway } from "../support/messages-gateway.ts";
import { makePng } from "../support/pictures.ts";

/** One complete action of a kind of traffic. Throws when the result is wrong. */
export type Traffic = (setting: MessagesGateway, random: () => number) => Promise<void>;

const TEXT_MODELS = [CLAUDE, BUDGET, ROUTED, CHAT_ONLY, "sandbox-chat", "sandbox-messages"];
const PROMPT = "What makes a harbour quiet? [[reply tokens=40]]";
const MESSAGES = [{ role: "user", content: PROMPT }];
const PICTURE = makePng(96, 64);
const TOOL = { name: "look_up", description: "Looks it up", schema: { type: "object", properties: {} } };

/** All actions of clients and members. `weight` is the relative frequency. */
export const TRAFFIC: Readonly<Record<string, { weight: number; act: Traffic }>> = {
  chat: { weight: 10, act: text("/v1/chat/completions", (model) => ({ model, messages: MESSAGES })) },
  "chat stream": {
    weight: 10,
    act: text("/v1/chat/completions", (model) => ({ model, messages: MESSAGES, stream: true })),
  },
  "chat tools": {
    weight: 4,
    act: text("/v1/chat/completions", (model) => ({
      model,
      messages: MESSAGES,
      stream: true,
      tools: [{ type: "function", function: { name: TOOL.name, parameters: TOOL.schema } }],
    })),
  },
  messages: {
    weight: 6,
    act: text("/v1/messages", (model) => ({ model, max_tokens: 200, messages: MESSAGES })),
  },
  "messages stream": {
    weight: 8,
    act: text("/v1/messages", (model) => ({
      model,
      max_tokens: 200,
      messages: MESSAGES,
      stream: true,
      tools: [{ name: TOOL.name, description: TOOL.description, input_schema: TOOL.schema }],
    })),
  },
  "count tokens": {
    weight: 2,
    act: text("/v1/messages/count_tokens", (model) => ({ model, messages: MESSAGES })),
  },
  responses: { weight: 5, act: text("/v1/responses", (model) => ({ model, input: PROMPT })) },
  "responses stream": {
    weight: 6,
    act: text("/v1/responses", (model) => ({ model, input: PROMPT, stream: true })),
  },
  native: { weight: 4, act: native("generateContent") },
  "native stream": { weight: 4, act: native("streamGenerateContent?alt=sse") },
  "large prompt": {
    weight: 1,
    act: text("/v1/chat/completions", (model) => ({
      model,
      messages: [{ role: "user", content: "wave ".repeat(40_000) }],
    })),
  },
  generation: {
    weight: 1,
    act: async ({ gateway }) => {
      const body = { model: "sandbox-a", prompt: "a quiet harbour", size: "1024x640", output_format: "jpeg" };
      await expectStatus(gateway.call("/v1/images/generations", { body }), 200);
    },
  },
  edit: { weight: 1, act: edit },
  job: { weight: 1, act: job },
  "hang-up": { weight: 4, act: hangUp },
  refusals: { weight: 3, act: refusals },
  lists: {
    weight: 1,
    act: async ({ gateway }) => {
      for (const path of ["/v1/models", "/v1/pricing/lookup", "/v1/usage"])
        await expectStatus(gateway.call(path), 200);
    },
  },
};

function pickModel(random: () => number): string {
  return TEXT_MODELS[Math.floor(random() * TEXT_MODELS.length)] ?? CHAT_ONLY;
}

function text(path: string, bodyOf: (model: string) => object): Traffic {
  return ({ gateway }, random) => expectStatus(gateway.call(path, { body: bodyOf(pickModel(random)) }), 200);
}

function native(method: string): Traffic {
  return ({ gateway }, random) =>
    expectStatus(
      gateway.call(`/v1beta/models/${pickModel(random)}:${method}`, {
        body: { contents: [{ role: "user", parts: [{ text: PROMPT }] }] },
      }),
      200,
    );
}

async function edit({ gateway }: MessagesGateway): Promise<void> {
  const form = new FormData();
  form.append("model", "sandbox-a");
  form.append("prompt", "make it evening");
  for (const name of ["one.png", "two.png"]) form.append("image[]", new Blob([PICTURE]), name);
  await expectStatus(gateway.call("/v1/images/edits", { body: form }), 200);
}

async function job({ gateway }: MessagesGateway): Promise<void> {
  const { id } = await submit(gateway, { model: "sandbox-a", prompt: "a quiet harbour", size: "1024x640" });
  const { status } = await untilStatus(gateway, id, undefined, 60_000);
  if (status !== "completed") throw new Error(`job ${id} is ${status}`);
}

/** Disconnects from a stream before or after its first bytes. */
async function hangUp({ gateway }: MessagesGateway, random: () => number): Promise<void> {
  const leaving = AbortSignal.timeout(Math.floor(random() * 60));
  const body = { model: pickModel(random), messages: MESSAGES, stream: true };
  const call = gateway.call("/v1/chat/completions", { body, signal: leaving });
  await call.then(drain).catch((error: unknown) => {
    if (!leaving.aborted) throw error;
  });
}

async function refusals({ gateway }: MessagesGateway): Promise<void> {
  const path = "/v1/chat/completions";
  const headers = { authorization: "Bearer gk_wrong" };
  await expectStatus(gateway.call(path, { body: { model: CLAUDE, messages: MESSAGES }, headers }), 401);
  await expectStatus(gateway.call(path, { body: { model: "nothing", messages: MESSAGES } }), 400);
  await expectStatus(gateway.call(path, { body: { model: CLAUDE } }), 400);
}

async function expectStatus(call: Promise<Response>, status: number): Promise<void> {
  const response = await call;
  const tail = await drain(response);
  if (response.status !== status) throw new Error(`${response.url} ended with ${response.status}: ${tail}`);
}

/** Reads a response to its end. Returns the beginning of its last piece. */
async function drain(response: Response): Promise<string> {
  let last: Uint8Array = new Uint8Array();
  for await (const piece of response.body ?? []) last = piece;
  return new TextDecoder().decode(last).slice(0, 300);
}

/** Reads the lists of the console's main pages once. */
export async function readConsole(member: Administrator): Promise<void> {
  const paths = [
    "/overview",
    "/usage?groupBy=model",
    "/requests",
    "/ledger",
    "/keys",
    "/channels",
    "/models",
  ];
  await Promise.all(paths.map((path) => member.act("GET", path)));
}

export function openConsole({ gateway }: MessagesGateway): Promise<Administrator> {
  return signIn(gateway);
}

/** Changes of an operator: a temporary key, a budget, and a reloaded configuration. */
export async function administer({ gateway }: MessagesGateway, member: Administrator): Promise<void> {
  const { key } = await member.act<{ key: { id: string } }>("POST", "/keys", {
    organizationId: "default",
    name: "for a moment",
  });
  const budget = await member.act<{ id: string }>("POST", "/budgets", {
    organizationId: "default",
    keyId: key.id,
    amount: "5.00",
  });
  await member.act("DELETE", `/budgets/${budget.id}`);
  await member.act("DELETE", `/keys/${key.id}`);
  await appendFile(join(dirname(gateway.dataDirectory), "gateway.yaml"), "# loaded again\n");
  gateway.signal("SIGHUP");
}
