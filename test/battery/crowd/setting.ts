import { readdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { startTestGateway, until, type TestGateway } from "../../support/gateway.ts";
import { certificateOf, DENIED_HOST, HOSTILE_ADDRESS, namespaceFolder, smallDisk } from "./network.ts";

/** A gateway with a small disk, the servers that it calls, and the keys of its callers. */
export interface CrowdSetting extends AsyncDisposable {
  gateway: TestGateway;
  /** Address at which honest clients call the gateway. */
  url: string;
  /** Address at which the hostile client calls the gateway. */
  hostileUrl: string;
  honestKey: string;
  hostileKeys: HostileKeys;
  /** Link to a picture of the honest organization. */
  honestLink: string;
  /** Revoked link to a picture of the hostile organization. */
  revokedLink: string;
  disk: string;
}

/** Keys of the hostile organization. Most attacks use `unlimited`. */
export interface HostileKeys {
  unlimited: string;
  /** A key for one request per minute. */
  slow: string;
  /** A key without access to images. */
  imageless: string;
}

/** Free disk space that uploads must leave for the journal. */
export const RESERVE_MIB = 64;
/** Seconds within which any body must arrive, besides a second for every 16 KiB. */
export const BODY_GRACE_SECONDS = 2;
/** Maximum number of the gateway's open files. Most machines have this maximum. */
export const OPEN_FILES = 1024;

export async function openCrowd(storesInS3: boolean): Promise<CrowdSetting> {
  const closing = new AsyncDisposableStack();
  const folder = namespaceFolder() ?? "";
  const disk = smallDisk(folder);
  const data = join(disk, "data");
  closing.defer(() => rmSync(data, { recursive: true, force: true }));
  const { vendor } = await startProgram("outside.ts", closing);
  const { s3 } = storesInS3 ? await startProgram("storage.ts", closing) : {};
  const gateway = closing.use(
    await startTestGateway({
      yaml: crowdYaml(vendor ?? ""),
      env: {
        VENDOR_KEY: "sk-crowd",
        GATEWAY_DATA_DIR: data,
        NODE_EXTRA_CA_CERTS: certificateOf(folder).certificate,
        ...(s3 !== undefined && { BLOB_URL: s3 }),
      },
    }),
  );
  Bun.spawnSync(["prlimit", "--pid", String(gateway.pid), `--nofile=${OPEN_FILES}:${OPEN_FILES}`]);
  const { port } = new URL(gateway.url);
  const url = `http://127.0.0.1:${port}`;
  const hostileKeys = await makeHostileKeys(gateway);
  const revokedLink = await makePicture(url, hostileKeys.unlimited);
  await gateway.cli("links", "rotate", "--now");
  await until("the link to end", async () => ((await fetch(revokedLink)).status === 404 ? true : undefined));
  const kept = closing.move();
  return {
    gateway,
    url,
    hostileUrl: `http://${HOSTILE_ADDRESS}:${port}`,
    honestKey: gateway.key,
    hostileKeys,
    honestLink: await makePicture(url, gateway.key),
    revokedLink,
    disk,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Returns the free bytes on the gateway's disk. */
export function freeBytes({ disk }: CrowdSetting): number {
  const { bavail, bsize } = statfsSync(disk);
  return bavail * bsize;
}

/** Returns the number of temporary files of requests. */
export function spooledFiles({ gateway }: CrowdSetting): number {
  const names = readdirSync(join(gateway.dataDirectory, "spool"));
  return names.filter((name) => name.startsWith("spool-")).length;
}

async function makeHostileKeys(gateway: TestGateway): Promise<HostileKeys> {
  await gateway.cli("orgs", "create", "--id", "hostile", "--name", "Hostile");
  const keyWith = async (...limits: string[]) => {
    const flags = limits.flatMap((limit) => ["--limit", limit]);
    const made = await gateway.cli(
      "keys",
      "create",
      "--org",
      "hostile",
      "--name",
      "hostile",
      ...flags,
      "--json",
    );
    return String(JSON.parse(made).secret);
  };
  await gateway.cli("orgs", "set", "hostile", "--caller-gone", "drain");
  const keys = {
    unlimited: await keyWith("concurrent_images=1000"),
    slow: await keyWith("requests_per_minute=1"),
    imageless: await keyWith("images_per_minute=0"),
  };
  const isKnown = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` };
    return (await gateway.call("/v1/models", { headers })).status === 200;
  };
  await until("the keys", async () =>
    (await Promise.all(Object.values(keys).map(isKnown))).every(Boolean) ? true : undefined,
  );
  return keys;
}

async function makePicture(url: string, key: string): Promise<string> {
  const response = await fetch(`${url}/v1/images/generations`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "crowd-image", prompt: "a red fox", response_format: "url" }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
  return String(JSON.parse(text).data[0].url);
}

function crowdYaml(vendorUrl: string): string {
  return `
server: { host: 0.0.0.0, spool_mib: 256, body_grace_seconds: ${BODY_GRACE_SECONDS}, denied_networks: [${DENIED_HOST}] }
overload: { free_disk_mib: { large_bodies: ${RESERVE_MIB}, requests: 32 } }
channels:
  vendor: { provider: openai, base_url: "${vendorUrl}/v1", credential: { env: VENDOR_KEY } }
models:
  crowd-chat:
    type: chat
    max_output_tokens: 4096
    price: { currency: USD, per_million: { input: "1", output: "2" } }
    route: { targets: [{ channel: vendor, upstream_model: gpt-5.4 }] }
  crowd-image:
    type: image
    family: A
    image:
      size_mode: pixels
      tiers: [1K]
      ratios: ["1:1"]
      sizes: { 1K: { "1:1": 1024x1024 } }
      bounds: { min_pixels: 655360, max_pixels: 8294400, max_edge: 3840, multiple: 16, max_ratio: 3 }
      qualities: [low, medium, high]
      formats: [png, jpeg, webp]
      backgrounds: [auto, opaque]
      max_images_per_call: 4
    price: { currency: USD, per_image: { 1K: { "*": "0.05" } } }
    route: { targets: [{ channel: vendor, upstream_model: gpt-image-2 }] }
`;
}

/** Starts a program of this folder and returns the addresses that it prints. */
async function startProgram(name: string, closing: AsyncDisposableStack): Promise<Record<string, string>> {
  const program = Bun.spawn([process.execPath, join(import.meta.dir, name)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  closing.defer(() => program.kill());
  return JSON.parse(await firstLine(program.stdout));
}

async function firstLine(output: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const piece of output) {
    text += Buffer.from(piece).toString();
    if (text.includes("\n")) break;
  }
  return text;
}
