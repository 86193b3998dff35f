import type { z } from "zod";
import { UpstreamError } from "../../domain/upstream-error.ts";
import { AdminError } from "../admin-error.ts";
import { baseUrlOf, changeEntry, NOT_ALLOWED, requireSecretsForAddress, withReach } from "./entry.ts";
import { channelTestSchema, type channelTestResultSchema, type vendorModelsSchema } from "./schema.ts";
import { checkChannel, freeId, requireChannel, requireProvider } from "./channels.ts";
import { readConfigured, storedEntry, type ConfiguredValues } from "../configuration/configured.ts";
import type { ConfiguredChannel } from "../configuration/store-port.ts";
import type { OperationContext } from "../context.ts";
import { countText } from "../../lib/count-text.ts";

type TestResult = z.output<typeof channelTestResultSchema>;

const TIMEOUT_MS = 10_000;

/**
 * Calls the vendor once with the address and credential of an existing, a changed or a new channel. Stores nothing.
 * Takes at most ten seconds. The message says what to change, without any secret.
 */
export async function testChannel(
  context: OperationContext,
  input: z.output<typeof channelTestSchema>,
): Promise<TestResult> {
  const { id, declared, channel } = await candidate(context, input);
  if (!channel) throw new AdminError(400, "id", "the channel cannot be used: see its problems");
  const address = baseUrlOf(channel) ?? null;
  const detail = { provider: declared.provider, address };
  await context.store.audit.note({ by: context.by, kind: "channel", action: "test", subject: id, detail });
  const { value: _, ...result } = await askVendor(context, (signal) =>
    context.configuration.probe(channel, signal),
  );
  return result.ok ? { ...result, message: "The vendor accepts the address and the credential." } : result;
}

/** Returns the outcome of a call to a vendor, for the person who configures the channel. Takes at most ten seconds. */
async function askVendor<Value>(
  { clock }: OperationContext,
  call: (signal: AbortSignal) => Promise<Value>,
): Promise<TestResult & { value?: Value }> {
  const startedAt = clock.monotonic();
  const outcome = (ok: boolean, message: string): TestResult => ({
    ok,
    ms: Math.round(clock.monotonic() - startedAt),
    message,
  });
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const value = await call(signal);
    return { ...outcome(true, ""), value };
  } catch (error) {
    if (signal.aborted && !(error instanceof UpstreamError))
      return outcome(
        false,
        "No response within ten seconds: check the address, and that firewalls let this machine out.",
      );
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
  if (!channel) throw new AdminError(400, "id", "the channel cannot be used: see its problems");
  const detail = { provider: declared.provider, address: baseUrlOf(channel) ?? null };
  const act = { by: context.by, kind: "channel", action: "list models", subject: id, detail } as const;
  await context.store.audit.note(act);
  const { value, message } = await askVendor(context, (signal) =>
    context.configuration.models(channel, signal),
  );
  if (value === null) return { models: null, message: NO_LIST };
  return {
    models: value ?? null,
    message: value ? `The vendor offers ${countText(value.length, "model")}.` : message,
  };
}

const NO_LIST =
  "The gateway cannot read a list of this vendor's models: type the name as the vendor's documents have it.";

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
 * Returns the channel to which the fields of a test are applied: the stored channel, or an empty channel if the channel
 * is new.
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
function explain({ kind, status, cause }: UpstreamError): string {
  const shown = status === undefined ? "" : ` (${status})`;
  if (kind === "account" && (status === 402 || status === 429))
    return `The vendor knows the credential but the account has no balance or quota${shown}: check the billing there.`;
  if (kind === "account" || status === 401 || status === 403)
    return `The vendor refuses the credential${shown}: check that it is complete, of this vendor and region, and allowed to call models.`;
  if (kind === "limited")
    return `The vendor accepts the credential but limits calls just now${shown}: try again later.`;
  if (kind === "overloaded") return `The vendor has trouble of its own just now${shown}: try again later.`;
  if (kind === "unreachable") return unreachable(cause);
  if (kind === "rejected")
    return `The address responds but refuses the request${shown}: check the address and the settings.`;
  return `The address responds, but not as this vendor does${shown}: check the address, its path included.`;
}

const BY_CODE: Readonly<Record<string, string>> = {
  AddressRefused: `The address ${NOT_ALLOWED}.`,
  ENOTFOUND: "No such host: check the address.",
  EAI_AGAIN: "The host's name could not be looked up: check the address and this machine's name server.",
  ECONNREFUSED: "Nothing listens at the address: check its host and port.",
  ConnectionRefused: "Nothing listens at the address: check its host and port.",
  FailedToOpenSocket:
    "The host cannot be reached: check the address and that firewalls let this machine out.",
  CERT_HAS_EXPIRED: "The server's certificate has expired.",
  ERR_TLS_CERT_ALTNAME_INVALID: "The server's certificate is for another host: check the address.",
  DEPTH_ZERO_SELF_SIGNED_CERT:
    "The server's certificate is self-signed: give it one that this machine trusts.",
  SELF_SIGNED_CERT_IN_CHAIN: "The server's certificate is not trusted by this machine.",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "The server's certificate is not trusted by this machine.",
};

function unreachable(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return BY_CODE[code] ?? "No response: check the address and that firewalls let this machine out.";
}
