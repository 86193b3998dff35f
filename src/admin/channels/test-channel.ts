import type { z } from "zod";
import { operatorMessage, type MessageCode, type OperatorMessage } from "../../domain/operator-message.ts";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { AdminError } from "../admin-error.ts";
import { baseUrlOf, changeEntry, requireSecretsForAddress, withReach } from "./entry.ts";
import { channelTestSchema, type channelTestResultSchema, type vendorModelsSchema } from "./schema.ts";
import { checkChannel, freeId, requireChannel, requireProvider } from "./channels.ts";
import { readConfigured, storedEntry, type ConfiguredValues } from "../configuration/configured.ts";
import type { ConfiguredChannel } from "../configuration/store-port.ts";
import type { OperationContext } from "../context.ts";

type TestResult = z.output<typeof channelTestResultSchema>;

const TIMEOUT_MS = 10_000;

/**
 * Calls the vendor once with the address and credential of an existing, a changed or a new channel. Changes no channel,
 * and records the test in the audit. Takes at most ten seconds. The message says what to change, without any secret.
 */
export async function testChannel(
  context: OperationContext,
  input: z.output<typeof channelTestSchema>,
): Promise<TestResult> {
  const { id, declared, channel } = await candidate(context, input);
  if (!channel) throw new AdminError(400, "id", operatorMessage("error.channel.unusable", {}));
  const address = baseUrlOf(channel) ?? null;
  const detail = { provider: declared.provider, address };
  await context.store.audit.note({ by: context.by, kind: "channel", action: "test", subject: id, detail });
  const { value: _, ...result } = await askVendor(context, (signal) =>
    context.configuration.probe(channel, signal),
  );
  return result;
}

/** Returns the outcome of a call to a vendor, for the person who configures the channel. Takes at most ten seconds. */
async function askVendor<Value>(
  { clock }: OperationContext,
  call: (signal: AbortSignal) => Promise<Value>,
): Promise<TestResult & { value?: Value }> {
  const startedAt = clock.monotonic();
  const outcome = (ok: boolean, message: OperatorMessage): TestResult => ({
    ok,
    ms: Math.round(clock.monotonic() - startedAt),
    ...message,
  });
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const value = await call(signal);
    return { ...outcome(true, operatorMessage("test.accepted", {})), value };
  } catch (error) {
    if (signal.aborted && !(error instanceof UpstreamError))
      return outcome(false, operatorMessage("test.timeout", {}));
    if (error instanceof UpstreamError) return outcome(false, explain(error));
    throw error;
  }
}

/**
 * Reads the vendor's list of models, with the address and credential of the channel. Takes at most ten seconds.
 * `models` is null when the call failed or the vendor has no list.
 */
export async function listVendorModels(
  context: OperationContext,
  id: string,
): Promise<z.output<typeof vendorModelsSchema>> {
  const { channel, declared } = requireChannel(await readConfigured(context), id);
  if (!channel) throw new AdminError(400, "id", operatorMessage("error.channel.unusable", {}));
  const detail = { provider: declared.provider, address: baseUrlOf(channel) ?? null };
  const act = { by: context.by, kind: "channel", action: "list models", subject: id, detail } as const;
  await context.store.audit.note(act);
  const {
    value,
    ok: _,
    ms: __,
    ...failure
  } = await askVendor(context, (signal) => context.configuration.models(channel, signal));
  if (value === undefined) return { models: null, ...failure };
  return {
    models: value,
    ...(value
      ? operatorMessage("vendorModels.offered", { count: value.length })
      : operatorMessage("vendorModels.none", {})),
  };
}

async function candidate(
  context: OperationContext,
  input: z.output<typeof channelTestSchema>,
): Promise<ConfiguredChannel> {
  const { id: named, provider, ...change } = input;
  const configured = await readConfigured(context);
  if (named !== undefined && provider === undefined && Object.keys(change).length === 0)
    return requireChannel(configured, named);
  const { id, before, isStored } = base(context, configured, named, provider);
  const changed = await changeEntry(context, id, before, change);
  requireSecretsForAddress(before, changed);
  return await checkChannel(context, configured, id, withReach(context, isStored ? before : {}, changed));
}

/**
 * Returns the channel to which the fields of a test are applied: the stored channel, or else a new channel of the
 * provider.
 */
function base(
  context: OperationContext,
  configured: ConfiguredValues,
  named: string | undefined,
  provider: string | undefined,
) {
  const stored = named === undefined ? undefined : storedEntry(configured, "channel", named);
  if (stored) return { id: stored.id, before: stored.value, isStored: true };
  if (provider === undefined)
    throw new AdminError(400, "provider", "provider is missing: a channel that does not exist yet needs one");
  requireProvider(context, provider);
  return { id: freeId(configured, provider), before: { provider }, isStored: false };
}

/** Explains a failed probe to the person who configures the channel. */
function explain({ kind, status: code, cause }: UpstreamError): OperatorMessage {
  const status = code === undefined ? "" : ` (${code})`;
  if (kind === "unreachable") return operatorMessage(unreachable(cause), {});
  if (kind === "account" && (code === 402 || code === 429))
    return operatorMessage("test.balance", { status });
  if (kind === "account" || code === 401 || code === 403)
    return operatorMessage("test.credential", { status });
  if (kind === "limited") return operatorMessage("test.limited", { status });
  if (kind === "overloaded") return operatorMessage("test.overloaded", { status });
  if (kind === "rejected") return operatorMessage("test.rejected", { status });
  return operatorMessage("test.foreign", { status });
}

/** Messages without figures, by the code of the network error. */
const BY_CODE = {
  AddressRefused: "test.address",
  ENOTFOUND: "test.noHost",
  EAI_AGAIN: "test.lookup",
  ECONNREFUSED: "test.refused",
  ConnectionRefused: "test.refused",
  FailedToOpenSocket: "test.unreachable",
  CERT_HAS_EXPIRED: "test.certificate.expired",
  ERR_TLS_CERT_ALTNAME_INVALID: "test.certificate.host",
  DEPTH_ZERO_SELF_SIGNED_CERT: "test.certificate.selfSigned",
  SELF_SIGNED_CERT_IN_CHAIN: "test.certificate.untrusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "test.certificate.untrusted",
} as const satisfies Readonly<Record<string, MessageCode>>;

function unreachable(cause: unknown) {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const known: Readonly<Partial<Record<string, (typeof BY_CODE)[keyof typeof BY_CODE]>>> = BY_CODE;
  return known[code] ?? "test.noResponse";
}
