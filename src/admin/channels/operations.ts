import { z } from "zod";
import {
  channelChangeSchema,
  channelCreationSchema,
  channelSchema,
  channelTestResultSchema,
  channelTestSchema,
  channelUsesSchema,
  providerSchema,
  vendorModelsSchema,
} from "./schema.ts";
import { listVendorModels, testChannel } from "./test-channel.ts";
import { createChannel, getChannel, listChannels, removeChannel, updateChannel } from "./channels.ts";
import { flagSchema } from "../input.ts";
import { operation } from "../operation.ts";
import { doneSchema, pageOf } from "../output.ts";
import { readConfigured } from "../configuration/configured.ts";
import type { OperationContext } from "../context.ts";

const idSchema = z.strictObject({ id: z.string() });
const removalSchema = idSchema.extend({ force: flagSchema.optional() });

export const channelOperations = {
  "providers.list": operation({
    method: "GET",
    path: "/providers",
    summary: "Adapters to vendors, with the schema of their settings",
    role: "viewer",
    reach: "installation",
    cost: "page",
    input: z.strictObject({}),
    output: pageOf(providerSchema),
    run: async (context) => ({ data: await listProviders(context), next: null }),
  }),
  "channels.list": operation({
    method: "GET",
    path: "/channels",
    summary: "Channels of the file, the environment, the database and the catalogue, with their health",
    role: "viewer",
    reach: "installation",
    cost: "report",
    input: z.strictObject({}),
    output: pageOf(channelSchema),
    run: async (context) => ({ data: await listChannels(context), next: null }),
  }),
  "channels.create": operation({
    method: "POST",
    path: "/channels",
    summary: "Add a channel; it serves requests at once here, and within half a second in every process",
    role: "admin",
    reach: "installation",
    cost: "page",
    input: channelCreationSchema,
    output: channelSchema,
    run: createChannel,
  }),
  "channels.test": operation({
    method: "POST",
    path: "/channels/test",
    summary: "Call the vendor of a channel, stored or not, to prove its address and credential",
    role: "admin",
    reach: "installation",
    cost: "page",
    input: channelTestSchema,
    output: channelTestResultSchema,
    run: testChannel,
  }),
  "channels.models": operation({
    method: "POST",
    path: "/channels/{id}/models",
    summary: "Ask the vendor of a channel for the models that it offers, to choose a target from",
    role: "admin",
    reach: "installation",
    cost: "page",
    input: idSchema,
    output: vendorModelsSchema,
    run: (context, { id }) => listVendorModels(context, id),
  }),
  "channels.get": operation({
    method: "GET",
    path: "/channels/{id}",
    summary: "One channel, with the routes that name it",
    role: "viewer",
    reach: "installation",
    cost: "report",
    input: idSchema,
    output: channelSchema.extend({ uses: channelUsesSchema }),
    run: (context, { id }) => getChannel(context, id),
  }),
  "channels.update": operation({
    method: "PATCH",
    path: "/channels/{id}",
    summary: "Change what the body names; everything else stays",
    role: "admin",
    reach: "installation",
    cost: "page",
    input: channelChangeSchema.extend(idSchema.shape),
    output: channelSchema,
    run: (context, { id, ...change }) => updateChannel(context, id, change),
  }),
  "channels.remove": operation({
    method: "DELETE",
    path: "/channels/{id}",
    summary: "Remove a channel; `force` where routes name it",
    role: "admin",
    reach: "installation",
    cost: "report",
    input: removalSchema,
    output: doneSchema,
    async run(context, { id, force }) {
      await removeChannel(context, id, force);
      return { done: true as const };
    },
  }),
};

/** Returns every provider with the fields of its channel form, and the ids under which it serves shipped models. */
async function listProviders(context: OperationContext): Promise<z.output<typeof providerSchema>[]> {
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
