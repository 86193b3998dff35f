import { expect, test } from "bun:test";
import { startTestGateway, until } from "../support/gateway.ts";

test("both secrets of a rotated key work until the overlap ends, a deleted key's do not", async () => {
  await using gateway = await startTestGateway();
  const status = async (secret: string) =>
    (await gateway.call("/v1/models", { headers: { authorization: `Bearer ${secret}` } })).status;
  const refused = (secret: string) =>
    until("a refusal", async () => (await status(secret)) === 401 || undefined);
  const { key, secret: first } = JSON.parse(await gateway.cli("keys", "create", "--name", "ci", "--json"));
  expect(await status(first)).toBe(200);
  const rotate = async (...options: string[]): Promise<string> =>
    JSON.parse(await gateway.cli("keys", "rotate", key.id, "--json", ...options)).secret;
  const second = await rotate("--overlap", "24h");
  expect([await status(second), await status(first)]).toEqual([200, 200]);
  const third = await rotate();
  await refused(first);
  await refused(second);
  expect(await status(third)).toBe(200);
  await gateway.cli("keys", "delete", key.id);
  await refused(third);
});
