import type { z, ZodType } from "zod";
import {
  alertChangeSchema,
  alertCreationSchema,
  alertEventListSchema,
} from "../../src/admin/alerts/schema.ts";
import * as alerts from "../../src/admin/alerts/alerts.ts";
import * as budgets from "../../src/admin/budgets/budgets.ts";
import {
  channelChangeSchema,
  channelCreationSchema,
  channelTestSchema,
} from "../../src/admin/channels/schema.ts";
import * as channelTest from "../../src/admin/channels/test-channel.ts";
import * as channels from "../../src/admin/channels/channels.ts";
import * as document from "../../src/admin/document/document.ts";
import { readInput } from "../../src/admin/input.ts";
import * as keys from "../../src/admin/keys/keys.ts";
import * as ledger from "../../src/admin/ledger/ledger.ts";
import * as upkeep from "../../src/admin/ledger/upkeep.ts";
import { memberChangeSchema, memberCreationSchema } from "../../src/admin/members/schema.ts";
import * as members from "../../src/admin/members/members.ts";
import { modelChangeSchema, modelCreationSchema, modelsInputSchema } from "../../src/admin/models/schema.ts";
import * as models from "../../src/admin/models/models.ts";
import * as organizations from "../../src/admin/organizations/organizations.ts";
import * as corrections from "../../src/admin/prices/correction.ts";
import * as prices from "../../src/admin/prices/prices.ts";
import * as routes from "../../src/admin/routes/routes.ts";
import {
  organizationChangeSchema,
  organizationCreationSchema,
} from "../../src/admin/organizations/schema.ts";
import {
  keyChangeSchema,
  keyCreationSchema,
  keyListSchema,
  keyRotationSchema,
} from "../../src/admin/keys/schema.ts";
import {
  budgetChangeSchema,
  budgetCreationSchema,
  budgetListSchema,
} from "../../src/admin/budgets/schema.ts";
import { deliveryListSchema, webhookCreationSchema } from "../../src/admin/webhooks/schema.ts";
import * as webhooks from "../../src/admin/webhooks/webhooks.ts";

/* Functions of administration that parse their input by its schema first, like operations. */

export const createOrganization = reading(organizationCreationSchema, organizations.createOrganization);
export const updateOrganization = readingChange(organizationChangeSchema, organizations.updateOrganization);
export const createKey = reading(keyCreationSchema, keys.createKey);
export const listKeys = reading(keyListSchema, keys.listKeys);
export const updateKey = readingChange(keyChangeSchema, keys.updateKey);
export const rotateKey = readingChange(keyRotationSchema, keys.rotateKey);
export const createMember = reading(memberCreationSchema, members.createMember);
export const updateMember = readingChange(memberChangeSchema, members.updateMember);
export const createBudget = reading(budgetCreationSchema, budgets.createBudget);
export const listBudgets = reading(budgetListSchema, budgets.listBudgets);
export const updateBudget = readingChange(budgetChangeSchema, budgets.updateBudget);
export const setPrice = reading(prices.priceCreationSchema, prices.setPrice);
export const removePrice = reading(prices.priceEndSchema, prices.removePrice);
export const correctPrice = reading(corrections.priceCorrectionSchema, corrections.correctPrice);
export const setRoute = reading(routes.routeSchema, routes.setRoute);
export const createAlert = reading(alertCreationSchema, alerts.createAlert);
export const updateAlert = readingChange(alertChangeSchema, alerts.updateAlert);
export const listAlertEvents = reading(alertEventListSchema, alerts.listAlertEvents);
export const addWebhook = reading(webhookCreationSchema, webhooks.addWebhook);
export const listDeliveries = reading(deliveryListSchema, webhooks.listDeliveries);
export const createChannel = reading(channelCreationSchema, channels.createChannel);
export const updateChannel = readingChange(channelChangeSchema, channels.updateChannel);
export const testChannel = reading(channelTestSchema, channelTest.testChannel);
export const createModel = reading(modelCreationSchema, models.createModel);
export const listModels = reading(modelsInputSchema, models.listModels);
export const updateModel = readingChange(modelChangeSchema, models.updateModel);
export const importConfiguration = reading(document.importSchema, document.importConfiguration);
export const listLedger = reading(ledger.ledgerListSchema, ledger.listLedger);
export const refund = readingChange(ledger.refundSchema, ledger.refund);

/** Works like the command `ledger archive`. */
export async function* archiveLedger(
  context: Parameters<typeof upkeep.archiveLedger>[0],
  input: unknown,
  onProgress?: Parameters<typeof upkeep.archiveLedger>[2],
) {
  yield* upkeep.archiveLedger(context, readInput(upkeep.archiveSchema, input), onProgress);
}

function reading<Schema extends ZodType, Context, Rest extends unknown[], Result>(
  schema: Schema,
  act: (context: Context, input: z.output<Schema>, ...rest: Rest) => Promise<Result>,
) {
  return async (context: Context, input: unknown, ...rest: Rest): Promise<Result> =>
    await act(context, readInput(schema, input), ...rest);
}

function readingChange<Schema extends ZodType, Context, Result>(
  schema: Schema,
  act: (context: Context, id: string, input: z.output<Schema>) => Promise<Result>,
) {
  return async (context: Context, id: string, input: unknown): Promise<Result> =>
    await act(context, id, readInput(schema, input));
}
