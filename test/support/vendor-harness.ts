import { afterAll, afterEach } from "bun:test";
import type { ImageOrder, ImageReply, RequestedSize } from "../../src/domain/image.ts";
import type { ImageUpstream } from "../../src/gateway/upstreams.ts";
import { PROVIDERS } from "../../src/providers/registry.ts";
import type { Simulator } from "../upstreams/simulator.ts";
import { imageModel, makeOrder, never, shippedSettings } from "./image-calls.ts";
import { FairSemaphore } from "../../src/lib/semaphore.ts";

export type Change = Partial<ImageOrder> & { requestedSize?: RequestedSize };

/** A shipped channel with a simulated vendor, for the tests of one file. */
export interface VendorHarness<Vendor extends Simulator = Simulator> {
  vendor: Vendor;
  key: string;
  settings: Awaited<ReturnType<typeof shippedSettings>>;
  /** Returns an order as the channel receives it. By default, for the harness's own model. */
  order(change?: Change, id?: string): ImageOrder;
  /** Opens the channel with other settings. */
  open(extra?: object): ImageUpstream;
  generate(change?: Change, id?: string, signal?: AbortSignal): Promise<ImageReply>;
  /** Returns methods and paths of the vendor's requests, without ids. */
  calls(): string[];
}

export interface HarnessOptions<Vendor extends Simulator> {
  /** Id of the channel, and also of its provider. */
  channel: string;
  /**
   * Environment variables that enable channels of the models, including this channel. Each variable is set to `key`.
   */
  variables: readonly string[];
  key: string;
  start(): Promise<Vendor>;
  /** Path of the base address. */
  path: string;
  model: string;
}

/** Starts the vendor for the tests of a file. The vendor is reset after each test. */
export async function openHarness<Vendor extends Simulator>({
  channel,
  variables,
  key,
  start,
  path,
  model: ownModel,
}: HarnessOptions<Vendor>): Promise<VendorHarness<Vendor>> {
  const settings = await shippedSettings(Object.fromEntries(variables.map((name) => [name, key])));
  const vendor = await start();
  afterEach(() => vendor.reset());
  afterAll(() => vendor.close());

  function order(change: Change = {}, id = ownModel): ImageOrder {
    const { model, targets } = imageModel(settings, id);
    const target = targets.find((target) => target.channel.id === channel) ?? targets[0];
    return makeOrder(model, target!.upstreamModel, change);
  }

  function open(extra: object = {}): ImageUpstream {
    const shipped = Object(settings.channels.get(channel)!.settings);
    const given = { ...shipped, baseUrl: vendor.url + path, pollIntervalMs: 5, ...extra };
    return PROVIDERS.get(channel)!.open(given, new FairSemaphore(2)).image!;
  }

  return {
    vendor,
    key,
    settings,
    order,
    open,
    generate: (change, id, signal = never) => open().generate(order(change, id), signal),
    calls: () =>
      vendor.hits.map(
        ({ method, path }) => `${method} ${path.replace(/job-[^/]+/, "*").replace(/\d+\.\w+$/, "*")}`,
      ),
  };
}
