import type { Input, Output } from "../../api/call.ts";
import {
  settingFields,
  settingsOf,
  writtenSetting,
  type SettingField,
  type SettingSchema,
} from "./setting-fields.ts";

export type ProviderView = Output<"providers.list">["data"][number];
export type ListedChannel = Output<"channels.list">["data"][number];

/** The values of a channel's form. For empty texts and nulls, the provider's defaults apply. */
export interface ChannelValues {
  id: string;
  baseUrl: string;
  credential: string;
  region: string;
  /** Texts of the settings by the settings' names. */
  settings: Record<string, string>;
  /** Headers in the form `name: value`. */
  headers: string[];
  maxConcurrent: number | null;
  deadlines: Record<(typeof DEADLINES)[number], number | null>;
  isOwnServer: boolean;
}

export const DEADLINES = ["firstByteMs", "idleMs", "totalMs"] as const;

export function fieldsOf({ settings }: Pick<ProviderView, "settings">): SettingField[] {
  return settingFields(settings as SettingSchema);
}

/**
 * Returns the form's values for a new channel. The id is the id of a shipped channel of the provider, so that the new
 * channel serves that channel's models. The id is empty when no such id is free.
 */
export function newValues(provider: ProviderView): ChannelValues {
  const open = provider.shippedChannels.filter(({ isTaken }) => !isTaken);
  const shipped = open.find(({ id }) => id === provider.name) ?? open[0];
  return {
    ...NOTHING,
    id: shipped?.id ?? "",
    settings: writtenSettings(fieldsOf(provider), shipped?.settings ?? {}),
  };
}

/** Returns the form's values for an existing channel. The credential is empty, because the console never gets it. */
export function valuesOf(channel: ListedChannel, fields: readonly SettingField[]): ChannelValues {
  const { id, baseUrl, region, headers, maxConcurrent, deadlines, isOwnServer } = channel;
  return {
    ...NOTHING,
    id,
    baseUrl: baseUrl ?? "",
    region: region ?? "",
    settings: writtenSettings(fields, channel.settings),
    headers: Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    maxConcurrent,
    deadlines: { ...NOTHING.deadlines, ...deadlines },
    isOwnServer,
  };
}

/** Converts the form to a new channel. Throws a `SyntaxError` for a setting that is not valid JSON. */
export function creationOf(values: ChannelValues, provider: ProviderView): Input<"channels.create"> {
  const { id, baseUrl, credential, region, maxConcurrent, isOwnServer } = values;
  const headers = headersOf(values.headers);
  const settings = settingsOf(fieldsOf(provider), values.settings);
  const deadlines = givenDeadlines(values.deadlines);
  return {
    provider: provider.name,
    ...(id.trim() !== "" && { id: id.trim() }),
    ...(baseUrl.trim() !== "" && { baseUrl: baseUrl.trim() }),
    ...(credential === "" ? provider.credential === "optional" && { credential: null } : { credential }),
    ...(region.trim() !== "" && { region: region.trim() }),
    ...(Object.keys(settings).length > 0 && { settings }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(maxConcurrent !== null && { maxConcurrent }),
    ...(deadlines && { deadlines }),
    ...(isOwnServer && { isOwnServer }),
  };
}

/** Returns the changes that the form makes. An emptied field is removed; an empty credential stays unchanged. */
export function changeOf(
  values: ChannelValues,
  before: ListedChannel,
  fields: readonly SettingField[],
): Omit<Input<"channels.update">, "id" | "version"> {
  const was = valuesOf(before, fields);
  const differs = (name: keyof ChannelValues) => JSON.stringify(values[name]) !== JSON.stringify(was[name]);
  const headers = headersOf(values.headers);
  const settings = settingsOf(fields, values.settings);
  const orNull = (text: string) => (text.trim() === "" ? null : text.trim());
  return {
    ...(differs("baseUrl") && { baseUrl: orNull(values.baseUrl) }),
    ...(values.credential !== "" && { credential: values.credential }),
    ...(differs("region") && { region: orNull(values.region) }),
    ...(differs("headers") && { headers: { ...nulls(before.headers), ...headers } }),
    ...(differs("settings") && { settings: { ...nulls(before.settings), ...settings } }),
    ...(differs("maxConcurrent") && { maxConcurrent: values.maxConcurrent }),
    ...(differs("deadlines") && { deadlines: givenDeadlines(values.deadlines) }),
    ...(differs("isOwnServer") && { isOwnServer: values.isOwnServer }),
  };
}

const NOTHING: ChannelValues = {
  id: "",
  baseUrl: "",
  credential: "",
  region: "",
  settings: {},
  headers: [],
  maxConcurrent: null,
  deadlines: { firstByteMs: null, idleMs: null, totalMs: null },
  isOwnServer: false,
};

export function writtenSettings(
  fields: readonly SettingField[],
  settings: Readonly<Record<string, unknown>>,
): Record<string, string> {
  return Object.fromEntries(fields.map((field) => [field.name, writtenSetting(field, settings[field.name])]));
}

function headersOf(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const [name = "", ...rest] = line.split(":");
      return [name.trim().toLowerCase(), rest.join(":").trim()];
    }),
  );
}

function nulls(before: Readonly<Record<string, unknown>>): Record<string, null> {
  return Object.fromEntries(Object.keys(before).map((name) => [name, null]));
}

function givenDeadlines(deadlines: ChannelValues["deadlines"]): Record<string, number> | null {
  const given = Object.entries(deadlines).filter((entry): entry is [string, number] => entry[1] !== null);
  return given.length === 0 ? null : Object.fromEntries(given);
}
