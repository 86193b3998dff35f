import { afterAll, expect, test } from "bun:test";
import { signIn } from "../support/administration.ts";
import { startTestGateway, until } from "../support/gateway.ts";

/* Prompts are stored only for organizations with this setting, without personal data. Reading a prompt is audited. */
const gateway = await startTestGateway();
afterAll(() => gateway[Symbol.asyncDispose]());
const owner = await signIn(gateway);

const PROMPT = "Write to jane@example.com with card 4111 1111 1111 1111: the word is marzipan";

async function chat(requestId: string, more: object = {}): Promise<string> {
  const body = { model: "sandbox-chat", messages: [{ role: "user", content: PROMPT }], ...more };
  const response = await gateway.call("/v1/chat/completions", {
    body,
    headers: { "x-request-id": requestId },
  });
  expect(response.status).toBe(200);
  await response.text();
  const [row] = await gateway.charged(requestId);
  return row!.id;
}

const keep = (promptLogDays: number | null) =>
  owner.act("PATCH", "/organizations/default", { settings: { promptLogDays } });

/** Returns the first stored prompt. The setting becomes valid in every process within two seconds. */
async function keptOf(send: (requestId: string) => Promise<string>) {
  let count = 0;
  return await until("a prompt to be kept", async () => {
    count += 1;
    const id = await send(`kept-${Math.random().toString(36).slice(2)}-${count}`);
    await Bun.sleep(1_200);
    const { status, body } = await owner.send("GET", `/prompts/${id}`);
    return status === 200 ? body : undefined;
  });
}

test("nothing is kept unless the organization wants it", async () => {
  const id = await chat("unkept");
  await Bun.sleep(1_200);
  expect(await owner.send("GET", `/prompts/${id}`)).toMatchObject({
    status: 404,
    body: { error: { type: "not_found" } },
  });
});

test("a whole reply, a stream and a picture are kept without personal data, and reading is audited", async () => {
  await keep(7);
  const whole = await keptOf((id) => chat(id));
  expect(whole.prompt).toContain("marzipan");
  expect(whole.prompt).toContain("[e-mail]");
  expect(whole.prompt + whole.reply).not.toMatch(/jane@example|4111/);
  expect(JSON.parse(whole.reply).choices[0].message.content).toBeString();
  expect(Date.parse(whole.expiresAt) - Date.parse(whole.at)).toBe(7 * 86_400_000);
  const stream = await keptOf((id) => chat(id, { stream: true }));
  expect(stream.reply).toContain("marzipan");
  expect(stream.reply).not.toMatch(/jane@example|4111|data:/);
  const picture = await keptOf(async (id) => {
    const body = { model: "sandbox-a", prompt: "a marzipan pig" };
    await gateway.call("/v1/images/generations", { body, headers: { "x-request-id": id } });
    return (await gateway.charged(id))[0]!.id;
  });
  expect(picture).toMatchObject({ prompt: "a marzipan pig", reply: "" });
  const { data } = await owner.act("GET", "/audit?kind=prompt&limit=10");
  expect(data).toMatchObject([
    { action: "read", subject: picture.id, actor: "admin" },
    { action: "read", subject: stream.id },
    { action: "read", subject: whole.id },
  ]);
});

test("what is kept is deleted by request and by organization, and that is audited", async () => {
  await keep(7);
  const [first, second] = [await keptOf((id) => chat(id)), await keptOf((id) => chat(id))];
  const remove = async (query: string) =>
    (await owner.act("DELETE", `/prompts?organizationId=default${query}`)).removed as number;
  expect(await remove(`&id=${first.id}`)).toBe(1);
  expect((await owner.send("GET", `/prompts/${first.id}`)).status).toBe(404);
  expect((await owner.send("GET", `/prompts/${second.id}`)).status).toBe(200);
  expect(await remove(`&before=${second.at}`)).toBeGreaterThan(0);
  expect((await owner.send("GET", `/prompts/${second.id}`)).status).toBe(200);
  expect(await remove("")).toBeGreaterThan(0);
  expect((await owner.send("GET", `/prompts/${second.id}`)).status).toBe(404);
  const { data } = await owner.act("GET", "/audit?kind=prompt&action=remove&limit=10");
  expect(data).toMatchObject([
    { subject: "default", actor: "admin" },
    { subject: "default", before: { before: Date.parse(second.at) } },
    { subject: first.id },
  ]);
  const unknown = await owner.send("DELETE", "/prompts?organizationId=nowhere");
  expect(unknown.status).toBe(404);
  const all = await owner.send("DELETE", "/prompts");
  expect(all.status).toBe(400);
});

test("a member without the right reads no prompts, and nothing is stored once the setting is off", async () => {
  await owner.act("POST", "/members", {
    name: "reader",
    password: "a-password-of-a-reader",
    role: "billing",
    organizations: ["default"],
  });
  const reader = await signIn(gateway, { name: "reader", password: "a-password-of-a-reader" });
  expect((await reader.send("GET", "/prompts/req_1")).status).toBe(403);
  expect((await reader.send("DELETE", "/prompts?organizationId=default")).status).toBe(403);
  await keep(null);
  await Bun.sleep(2_000);
  const id = await chat("off-again");
  await Bun.sleep(1_200);
  expect((await owner.send("GET", `/prompts/${id}`)).status).toBe(404);
});
