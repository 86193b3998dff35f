import { z } from "zod";
import type { TextUpstream } from "../../gateway/ports.ts";
import type { Provider } from "../provider.ts";
import {
  extraHeaders,
  headerValue,
  httpAddress,
  optionalCredential,
  withoutEndSlash,
} from "../transport/channel-settings.ts";
import { createOpenAiConnection, NO_IMAGES, type OpenAiSettings } from "./connection.ts";
import { createOpenAiText } from "./text.ts";
import type { CompatibleVendor } from "./vendors.ts";

/** The provider of a vendor that is data alone. */
export function compatibleProvider(vendor: CompatibleVendor): Provider<OpenAiSettings> {
  const settings = z.object({
    /** Address in front of `/chat/completions`. */
    baseUrl: httpAddress.default(vendor.baseUrl),
    apiKey: vendor.isOwnServer ? optionalCredential.default(null) : headerValue,
    headers: extraHeaders,
  });
  return { name: vendor.name, settings, text: (parsed) => compatibleText(vendor, parsed) };
}

/** A vendor's ways to send text. */
export function compatibleText(
  { traits, ownCodes }: CompatibleVendor,
  { baseUrl, apiKey, headers }: OpenAiSettings,
): readonly TextUpstream[] {
  const base = withoutEndSlash(baseUrl);
  const credential: Record<string, string> = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
  const connection = createOpenAiConnection({ baseUrl: base, apiKey, headers }, credential, {
    urlOf: (operation) => `${base}/${operation}`,
    textTraits: traits,
    ownCodes: ownCodes && new Map(Object.entries(ownCodes)),
    ...NO_IMAGES,
  });
  return [createOpenAiText(connection)];
}
