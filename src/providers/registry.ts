import type { ZodType } from "zod";
import type { Channel } from "../domain/channel.ts";
import type { ImageUpstream, TextUpstream, Upstreams } from "../gateway/ports.ts";
import type { Semaphore } from "../lib/semaphore.ts";
import { ark } from "./ark.ts";
import { azure } from "./azure.ts";
import { bfl } from "./bfl.ts";
import { dashscope } from "./dashscope.ts";
import { fal } from "./fal.ts";
import { gemini } from "./gemini.ts";
import { openai } from "./openai.ts";
import { openrouter } from "./openrouter.ts";
import type { Provider } from "./provider.ts";
import { replicate } from "./replicate.ts";
import { sandbox } from "../sandbox/index.ts";
import { vertex } from "./vertex/index.ts";
import { xai } from "./xai.ts";

/** A provider with the type of its settings erased. */
interface RegisteredProvider {
  settings: ZodType;
  open(settings: unknown, codecSlots: Semaphore): { text?: TextUpstream; image?: ImageUpstream };
}

/** All providers. A new one is a file and a line here. */
export const PROVIDERS: ReadonlyMap<string, RegisteredProvider> = new Map([
  register(sandbox),
  register(openai),
  register(azure),
  register(gemini),
  register(vertex),
  register(ark),
  register(xai),
  register(bfl),
  register(dashscope),
  register(fal),
  register(replicate),
  register(openrouter),
]);

/** Opens the upstreams of the configured channels, each once. */
export function openUpstreams(channels: Iterable<Channel>, codecSlots: Semaphore): Upstreams {
  const opened = new Map<string, ReturnType<RegisteredProvider["open"]>>();
  for (const { id, provider, settings } of channels) {
    const registered = PROVIDERS.get(provider);
    if (registered) opened.set(id, registered.open(settings, codecSlots));
  }
  return {
    text: ({ id }) => opened.get(id)?.text,
    image: ({ id }) => opened.get(id)?.image,
  };
}

function register<Settings>({
  name,
  settings,
  text,
  image,
}: Provider<Settings>): [string, RegisteredProvider] {
  const open: RegisteredProvider["open"] = (value, codecSlots) => {
    const parsed = settings.parse(value);
    return { text: text?.(parsed), image: image?.(parsed, codecSlots) };
  };
  return [name, { settings, open }];
}
