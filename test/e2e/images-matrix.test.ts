import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { parseNanos } from "../../src/lib/money.ts";
import { until } from "../support/gateway.ts";
import { makePng } from "../support/pictures.ts";
import { formOf } from "../support/images-forms.ts";
import {
  ALTERNATIVES,
  EXPECTED,
  MODELS,
  SANDBOX,
  SIZES,
  type Offer,
  type SizeName,
} from "./images-matrix.table.ts";
import { openImageFixture, VENDOR_NAMES, type ImageFixture, type VendorName } from "./images-vendors.ts";

/*
 * Combinations of families, endpoints, sizes, qualities, formats, counts, delivery and the organization's setting.
 * Every family is tested with every endpoint and, but for forms, with nearly every size. Other values rotate, so that
 * all pairs of values occur. A simulated vendor refuses wrong values.
 */
const ENTRANCES = ["generations", "edits by JSON", "edits by form"] as const;
const QUALITIES = [undefined, "low", "auto", "medium", "high", "xhigh", "max"];
const FORMATS = [undefined, "png", "jpeg", "webp"];
const COUNTS = [1, 2, 1, 3, 4];
const DELIVERIES = [undefined, "url", "b64_json"] as const;
const SWITCHES = ["unset", "on", "off"] as const;

/** Fields of an image in the response (the setting's table in docs/build/image-links-and-files.md). */
const HOLDS: Record<(typeof SWITCHES)[number], Record<"none" | "url" | "b64_json", string>> = {
  unset: { none: "url", url: "url", b64_json: "b64_json" },
  on: { none: "url", url: "url", b64_json: "url" },
  off: { none: "b64_json,url", url: "url", b64_json: "b64_json" },
};

/** Request id of calls that are not cases. */
const PROBE = "probe";

const SHAPE = 60 / 40;
const REFERENCE = makePng(60, 40);

let fixture: ImageFixture;
/** A key for each state of the setting. Each key belongs to its own organization. */
const keys: Record<string, string> = {};

beforeAll(async () => {
  fixture = await openImageFixture({ alone: ALTERNATIVES.map(({ vendor, id }) => [vendor, id] as const) });
  const { gateway } = fixture;
  for (const state of SWITCHES) {
    const { id } = JSON.parse(await gateway.cli("orgs", "create", "--name", `switch ${state}`, "--json"));
    if (state !== "unset") await gateway.cli("orgs", "set", id, "--force-image-urls", state);
    const { secret } = JSON.parse(
      await gateway.cli("keys", "create", "--org", id, "--name", state, "--json"),
    );
    keys[state] = secret;
  }
  for (const state of SWITCHES)
    await until(`the switch to be ${state}`, async () => ((await holdsNow(state)) ? true : undefined));
}, 30_000);
afterAll(() => fixture[Symbol.asyncDispose]());

interface Case extends Offer {
  entrance: (typeof ENTRANCES)[number];
  size: SizeName;
  quality: string | undefined;
  format: string | undefined;
  count: number;
  delivery: (typeof DELIVERIES)[number];
  state: (typeof SWITCHES)[number];
}

describe.each(ENTRANCES)("%s", (entrance) => {
  const offers = MODELS.filter(({ family }) => family !== "Qwen edits" || entrance !== "generations");
  test.each(offers.map((offer) => [offer.model, offer] as const))(
    "with %s at its sizes",
    async (_, offer) => {
      const sizes = Object.keys(SIZES) as SizeName[];
      await runAll(
        sizes
          .filter((size) => isQuick(offer.family, size))
          // A third of the forms is enough, because forms differ from JSON only in parsing.
          .filter((_, index) => entrance !== "edits by form" || index % 3 === 0)
          .map((size, index) => makeCase({ ...offer, entrance, size }, index)),
      );
      takeStock();
    },
    30_000,
  );
});

test("the sandbox follows the same table", async () => {
  const sizes = ["unset", "not on the grid", "1K 16:9"] as const;
  const cases = SANDBOX.flatMap((entry, current) =>
    sizes.map((size, index) => {
      const entrance = ENTRANCES[(index + current) % ENTRANCES.length]!;
      const item = makeCase({ ...entry, entrance, size }, index * 5 + current);
      item.quality = "low";
      return item;
    }),
  );
  await runAll(cases);
}, 30_000);

test("every call is charged by the price list", async () => {
  expect(charges.size).toBeGreaterThan(200);
  const rows = await until("every charge", async () => {
    const ledger = (await fixture.gateway.ledger()).filter(({ request_id: id }) => id !== PROBE);
    return ledger.length >= charges.size ? ledger : undefined;
  });
  const billed = new Map(
    rows.map((row) => [row.request_id, { amount: row.amount, kind: row.kind, count: row.consumed?.count }]),
  );
  const expected = [...charges].map(
    ([id, { amount, count }]) => [id, { amount, kind: "charge", count }] as const,
  );
  for (const [id, charge] of expected) expect({ id, ...billed.get(id) }).toEqual({ id, ...charge });
  expect(billed.size).toBe(expected.length);
}, 30_000);

test("every vendor made as many pictures as were charged", async () => {
  const billed: Partial<Record<string, number>> = {};
  for (const { request_id: id, channel, consumed } of await fixture.gateway.ledger())
    if (charges.has(id) && channel !== "sandbox")
      billed[channel ?? ""] = (billed[channel ?? ""] ?? 0) + (consumed?.count ?? 0);
  expect(billed).toEqual(Object.fromEntries(generated));
});

/** Number of pictures in the vendors' own records. */
const generated = new Map<VendorName, number>();

/** Adds the pictures that vendors created since the last call. No vendor may have refused a call. */
function takeStock(): void {
  for (const name of VENDOR_NAMES) {
    const { hits, totals, reset } = fixture.vendors[name];
    const refused = hits.filter(({ status }) => status !== 200 && status !== 201);
    expect(refused.map(({ path, status }) => ({ path, status }))).toEqual([]);
    if (totals.pictures > 0) generated.set(name, (generated.get(name) ?? 0) + totals.pictures);
    reset();
  }
}

const charges = new Map<string, { amount: bigint; count: number }>();

/** False for the largest pictures of family B, which are slow and cover nothing new. */
function isQuick(family: string, size: SizeName): boolean {
  return family !== "B" || (size !== "4K" && size !== "too large");
}

/** Completes a case. The other values rotate with different periods, so that all pairs of values occur. */
function makeCase(fixed: Offer & Pick<Case, "entrance" | "size">, index: number): Case {
  const turn = index + ENTRANCES.indexOf(fixed.entrance) * 5 + fixed.model.length;
  const isLarge =
    fixed.size === "4K" || fixed.size === "too large" || fixed.size === "1.5K" || fixed.size === "2k 3:4";
  return {
    ...fixed,
    quality: QUALITIES[turn % QUALITIES.length],
    format: isLarge && FORMATS[turn % 4] === "webp" ? "jpeg" : FORMATS[turn % FORMATS.length],
    count: isLarge ? 1 : COUNTS[turn % COUNTS.length]!,
    delivery: DELIVERIES[turn % DELIVERIES.length],
    state: SWITCHES[Math.floor(turn / 3) % SWITCHES.length]!,
  };
}

/** Runs all cases, four at a time, and reports all failures together. */
async function runAll(cases: readonly Case[]): Promise<void> {
  const faults: string[] = [];
  const queue = [...cases];
  const work = async () => {
    for (let item = queue.shift(); item; item = queue.shift()) {
      const current = item;
      await run(current).catch((error: unknown) =>
        faults.push(`${JSON.stringify(current)}: ${Bun.stripANSI(String(error))}`),
      );
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  expect(faults).toEqual([]);
}

async function run(item: Case): Promise<void> {
  const { family, model, most, size, quality, format, count, delivery, state } = item;
  const id = `matrix-${charges.size}-${crypto.randomUUID()}`;
  const response = await send(item, id);
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  const reply = (await response.json()) as ImageReply;
  const delivered = Math.min(count, most);
  // For family A, the charge follows the quality in the reply, because a request may name no quality.
  const settled = family === "A" ? reply.quality : quality;
  charges.set(id, { amount: await priceOf({ ...item, quality: settled }, delivered), count: delivered });

  expect(reply.data).toHaveLength(delivered);
  expect(reply.model).toBe(model);
  expect(response.headers.get("x-gateway-generated-images")).toBe(String(delivered));
  expect(response.headers.get("x-image-count-degraded")).toBe(
    delivered < count ? `${delivered}/${count}` : null,
  );
  expect(response.headers.get("x-request-id")).toBe(id);
  expect(response.headers.get("x-gateway-request-id")).toBe(id);
  expect(response.headers.get("x-gateway-ignored-params")).toBeNull();

  const isA = family === "A";
  if (format !== undefined) expect(reply.output_format).toBe(format);
  if (isA && (quality === "low" || quality === "medium" || quality === "high"))
    expect(reply.quality).toBe(quality);
  const hasFinest = model === "gpt-image-2.5-flare";
  if (hasFinest && (quality === "xhigh" || quality === "max")) expect(reply.quality).toBe(quality);
  if (!isA) expect(reply.background).toBe("opaque");

  for (const image of reply.data) {
    expect(Object.keys(image).toSorted().join()).toBe(HOLDS[state][delivery ?? "none"]);
    for (const bytes of await bytesOf(image)) {
      const {
        width,
        height,
        format: real,
      } = await new Bun.Image(bytes, { maxPixels: 64_000_000 }).metadata();
      expect(`${width}x${height} ${real}`).toBe(`${reply.size} ${reply.output_format}`);
    }
  }
  const expected = EXPECTED[family]?.[size];
  if (expected !== undefined && !model.startsWith("sandbox") && usesOwnSize(item))
    expect(reply.size).toBe(expected);
  if (isShapeless(item) && !model.startsWith("sandbox")) {
    const [width = 0, height = 0] = reply.size.split("x").map(Number);
    expect(Math.abs(Math.log(width / height / SHAPE))).toBeLessThan(0.07);
  }
}

interface ImageReply {
  model: string;
  size: string;
  quality: string;
  output_format: string;
  background: string;
  data: { url?: string; b64_json?: string }[];
}

/** True when the picture must have the size in `EXPECTED`. Other edits keep their picture's ratio. */
function usesOwnSize(item: Case): boolean {
  const { family, entrance, size } = item;
  if (entrance === "generations") return true;
  if (isShapeless(item)) return false;
  if (family === "A") return true;
  const { size: word = "" } = SIZES[size] as { size?: string };
  return family !== "D" && word !== "" && word !== "auto" && word !== "0x0";
}

/** True for an edit with a tier but no ratio. Such an edit keeps its picture's ratio. */
function isShapeless({ entrance, size }: Case): boolean {
  return entrance !== "generations" && (size === "1.5K" || size === "4K");
}

function send(
  { model, entrance, size, quality, format, count, delivery, state }: Case,
  id: string,
): Promise<Response> {
  const fields = {
    model,
    prompt: "a lighthouse",
    ...SIZES[size],
    ...(quality !== undefined && { quality }),
    ...(format !== undefined && { output_format: format }),
    ...(count > 1 && { n: count }),
    ...(delivery !== undefined && { response_format: delivery }),
  };
  const key = keys[state]!;
  if (entrance === "generations") return callWith(key, "/v1/images/generations", fields, id);
  if (entrance === "edits by JSON") {
    const image = `data:image/png;base64,${REFERENCE.toString("base64")}`;
    return callWith(key, "/v1/images/edits", { ...fields, image }, id);
  }
  const entries = Object.entries(fields).map(([name, value]) => [name, String(value)] as const);
  return callWith(key, "/v1/images/edits", formOf([...entries, ["image[]", REFERENCE]]), id);
}

/** True when the running gateway accepts the key and applies the setting of its organization. */
async function holdsNow(state: Case["state"]): Promise<boolean> {
  for (const [name, holds] of Object.entries(HOLDS[state])) {
    const delivery = name === "none" ? {} : { response_format: name };
    const body = { model: "sandbox-a", prompt: "x", quality: "low", ...delivery };
    const response = await callWith(keys[state]!, "/v1/images/generations", body);
    if (response.status !== 200) return false;
    const { data } = (await response.json()) as ImageReply;
    if (Object.keys(data[0]!).toSorted().join() !== holds) return false;
  }
  return true;
}

function callWith(key: string, path: string, body?: object | FormData, id = PROBE): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, "x-request-id": id };
  return fixture.gateway.call(path, { headers, ...(body && { body }) });
}

async function priceOf({ model, size, quality, state }: Case, count: number): Promise<bigint> {
  const query = new URLSearchParams({
    model,
    n: String(count),
    ...SIZES[size],
    ...(quality !== undefined && { quality }),
  });
  const response = await callWith(keys[state]!, `/v1/pricing/lookup?${query}`);
  const { total } = (await response.json()) as { total: string };
  return parseNanos(total);
}

/** Returns the picture in each form that was delivered. */
async function bytesOf({ url, b64_json: text }: ImageReply["data"][number]): Promise<Uint8Array[]> {
  const pictures: Uint8Array[] = [];
  if (text !== undefined) pictures.push(Buffer.from(text, "base64"));
  if (url !== undefined) pictures.push(await (await fetch(url)).bytes());
  return pictures;
}
