import { expect, test } from "bun:test";
import { startTestGateway, until, type TestGateway } from "../support/gateway.ts";
import { freePort } from "../support/free-port.ts";

/** Maximum time until every process applies a change. */
const IN_FORCE_MS = 2_000;

/** Creates a picture in the sandbox and returns its link. */
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

test("after a rotation older links stay valid, and with --now they end in every process", async () => {
  await using gateway = await startTestGateway({ env: { WORKERS: "2", PORT: String(freePort()) } });
  // Sends many requests on separate connections, so that both processes get requests.
  const statuses = async (link: string) => {
    const all = await Promise.all(Array.from({ length: 16 }, () => fetch(link, { keepalive: false })));
    return [...new Set(all.map(({ status }) => status))];
  };
  const isReady = async () => (await gateway.call("/readyz").catch(() => null))?.ok || undefined;
  await until("a worker", isReady);
  const first = await makePicture(gateway);
  await gateway.cli("links", "rotate");
  const second = await makePicture(gateway);
  expect([await statuses(first), await statuses(second)]).toEqual([[200], [200]]);
  expect(await gateway.cli("links", "rotate", "--now")).toContain("not valid any more");
  const isRefused = async () => (await statuses(second)).every((status) => status === 404) || undefined;
  await until("the older links to end", isRefused, IN_FORCE_MS);
  await until(
    "the new link",
    async () => (await statuses(await makePicture(gateway)))[0] === 200 || undefined,
  );
  expect(await statuses(first)).toEqual([404]);
  const audit = await gateway.cli("audit", "list", "--limit", "2");
  expect(audit).toContain("rotate link secret");
  expect(audit).not.toMatch(/[0-9a-f]{64}/);
  await gateway.stop();
});

test("a link to a denied network is refused", async () => {
  const env = { DENIED_NETWORKS: "8.8.8.0/24, 2600:1234::/32" };
  await using gateway = await startTestGateway({ env });
  for (const host of ["8.8.8.8", "[2600:1234::1]"]) {
    const body = { model: "sandbox-a", prompt: "x", image: `https://${host}/a.png` };
    const response = await gateway.call("/v1/images/edits", { body });
    expect(await response.json()).toMatchObject({ error: { code: "image_url_not_allowed" } });
  }
});
