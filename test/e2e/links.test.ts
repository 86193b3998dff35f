import { expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";

/** A picture of the sandbox, by its link. */
async function makePicture({ call }: TestGateway): Promise<string> {
  const body = { model: "sandbox-a", prompt: "a red fox", quality: "low", response_format: "url" };
  const made = await call("/v1/images/generations", { body });
  const { data } = (await made.json()) as { data: { url: string }[] };
  return data[0]!.url;
}

test("a result is read from storage where the public address has a path", async () => {
  const base = "https://gateway.example.com/models/v2";
  await using gateway = await startTestGateway({ env: { PUBLIC_URL: base } });
  const link = await makePicture(gateway);
  expect(link).toStartWith(`${base}/files/`);
  const edited = await gateway.call("/v1/images/edits", {
    body: { model: "sandbox-a", prompt: "the same at night", quality: "low", image: link },
  });
  expect([edited.status, await edited.text()]).toEqual([200, expect.stringContaining("files")]);
});
