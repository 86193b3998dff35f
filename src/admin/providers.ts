import type { z } from "zod";
import type { providerSchema } from "./channel-schemas.ts";
import { readConfigured } from "./configured.ts";
import type { OperationContext } from "./context.ts";

/** Every provider with what the form of a channel needs, and the ids under which it serves shipped models. */
export async function listProviders(context: OperationContext): Promise<z.output<typeof providerSchema>[]> {
  const { state } = await readConfigured(context);
  const shippedOf = (name: string) =>
    state.shippedChannels
      .filter(({ provider }) => provider === name)
      .map(({ id, baseUrl, settings, models }) => {
        const isTaken = (state.channels.get(id)?.origin ?? "catalogue") !== "catalogue";
        return { id, baseUrl, settings, models, isTaken };
      });
  return context.configuration
    .providers()
    .map((provider) => Object.assign({ shippedChannels: shippedOf(provider.name) }, provider));
}
