import { expect, test } from "bun:test";
import { until } from "../support/gateway.ts";
import { IMAGE, openGatewayFixture } from "../support/vendor.ts";
import { startS3 } from "../upstreams/s3.ts";

test("pictures are delivered, charged and stored later without object storage", async () => {
  const s3 = startS3();
  try {
    await using fixture = await openGatewayFixture({ env: { BLOB_URL: s3.address } });
    const { gateway, vendor } = fixture;
    const generate = async (): Promise<string> => {
      const response = await gateway.call("/v1/images/generations", {
        body: { model: IMAGE, prompt: "A pier" },
      });
      expect(response.status).toBe(200);
      const { data } = (await response.json()) as { data: { url: string }[] };
      return data[0]!.url;
    };
    const metric = async (name: string) => {
      const text = await (await fetch(`${gateway.url}/metrics`)).text();
      return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
    };
    const first = await generate();
    expect(s3.objects.size).toBe(1);
    s3.setDown(true);
    const links = [await generate(), await generate()];
    expect(await metric("gateway_object_storage_up")).toBe(0);
    expect(await metric("gateway_pending_images")).toBe(2);
    for (const link of links) expect((await fetch(link)).status).toBe(200);
    s3.setDown(false);
    await until("the pictures in the bucket", () => (s3.objects.size === 3 ? true : undefined));
    expect(await metric("gateway_object_storage_up")).toBe(1);
    for (const link of links) expect((await (await fetch(link)).bytes()).length).toBeGreaterThan(100);
    expect(vendor.hits).toHaveLength(3);
    await until("every charge", async () => ((await gateway.ledger()).length === 3 ? true : undefined));
    // The object is missing, as if the picture still waited on another machine's disk.
    const [key] = s3.objects.keys();
    s3.objects.delete(key!);
    const waiting = await fetch(first);
    expect([waiting.status, waiting.headers.get("retry-after")]).toEqual([503, "5"]);
    expect((await fetch(first.replace("sig=", "sig=x"))).status).toBe(404);
    const lines = gateway.logs().filter(({ message }) => String(message).startsWith("the object storage"));
    expect(lines.map(({ level, message }) => `${level} ${message}`.replace(/[\d.]+ s$/, "n s"))).toEqual([
      "warn the object storage is away: pictures are kept on the local disk",
      "info the object storage is available again after n s",
    ]);
  } finally {
    await s3.stop();
  }
}, 30_000);
