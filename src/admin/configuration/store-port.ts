/* Ports for stored channels and models: the store of these entries, and the whole configuration that includes them. */
import type { Channel, Route } from "../../domain/channel.ts";
import type { PatternMap } from "../../lib/pattern-map.ts";
import type { Limits } from "../../domain/limits.ts";
import type { Model } from "../../domain/model.ts";
import type { PriceRow } from "../../domain/price.ts";
import type { Problem } from "../../domain/schema-problems.ts";
import type { Actor } from "../actor.ts";

/** The models, channels, default routes and prices of the configuration, with some settings. */
export interface Catalogue {
  models: PatternMap<Model>;
  channels: ReadonlyMap<string, Channel>;
  routes: PatternMap<Route>;
  prices: PatternMap<PriceRow>;
  /** Default limits, for organizations and keys that set none of their own. */
  limits: { organization: Limits; key: Limits };
  /** Networks besides the public internet that webhooks may call. */
  allowedNetworks: readonly string[];
  /** Null when no mail is sent. */
  mail: { allowedDomains: readonly string[] } | null;
}

export type ConfigurationKind = "channel" | "model";

/** A channel or model that administration has added, in the form of the configuration file. */
export interface StoredEntry {
  kind: ConfigurationKind;
  id: string;
  /** The value below `channels.<id>` or `models.<id>`. Each secret is a `SealedSecret`. */
  value: EntryValue;
  /** Unix milliseconds. */
  createdAt: number;
  /** Revision of the entry's last change. */
  revision: bigint;
}

export type EntryValue = Readonly<Record<string, unknown>>;

/** A secret in the database, encrypted with the master key. */
export interface SealedSecret {
  sealed: string;
}

export interface ConfigurationStore {
  /** Returns all entries, oldest first. */
  list(): Promise<StoredEntry[]>;
  /** Adds an entry. Returns false when an entry of this kind and id exists. */
  create(entry: Omit<StoredEntry, "revision">, by: Actor): Promise<boolean>;
  /**
   * Replaces an entry by the result of `change` for its current state. When `change` throws, nothing is changed.
   * Returns the changed entry, or null when there is no such entry.
   */
  update(
    name: Pick<StoredEntry, "kind" | "id">,
    change: (before: StoredEntry) => EntryValue,
    by: Actor,
    action?: "update" | "reseal",
  ): Promise<StoredEntry | null>;
  /** Removes an entry. Returns false when there is no such entry. */
  remove(name: Pick<StoredEntry, "kind" | "id">, by: Actor): Promise<boolean>;
}

/**
 * The source that declares a channel or model. The file and the environment override the database, and the database
 * overrides the catalogue.
 */
export type EntryOrigin = "file" | "environment" | "database" | "catalogue";

/** A channel's declaration, and the channel that was built from it. */
export interface ConfiguredChannel {
  id: string;
  origin: EntryOrigin;
  /** The declaration as in the file, with references to secrets or sealed secrets. */
  declared: EntryValue & { provider: string };
  /** Null when the channel cannot be used. `ConfigurationState.problems` contains the reasons. */
  channel: Channel | null;
}

/** A model merged from all its declarations. */
export interface ConfiguredModel {
  id: string;
  origin: EntryOrigin;
  /** The entry of the file or the database; null for a model that only the catalogue declares. */
  declared: EntryValue | null;
  model: Model;
  /** The model's default route. A model with an empty route is not served. */
  route: Route;
  price: PriceRow | null;
  isDisabled: boolean;
}

/** The configuration, made from the file, the environment, the database and the catalogue. */
export interface ConfigurationState {
  catalogue: Catalogue;
  channels: ReadonlyMap<string, ConfiguredChannel>;
  /** All models, including models that are not served. */
  models: ReadonlyMap<string, ConfiguredModel>;
  /** The reasons why stored entries, or parts of them, are not in force. */
  problems: readonly EntryProblem[];
  shippedChannels: readonly ShippedChannel[];
  settings: readonly ShownSetting[];
}

/** A channel id of the shipped catalogue. A channel with this id serves the models that the catalogue lists for it. */
export interface ShippedChannel {
  provider: string;
  id: string;
  baseUrl: string | null;
  settings: EntryValue;
  /** Number of shipped models that the channel serves. */
  models: number;
}

export interface EntryProblem extends Problem {
  kind: ConfigurationKind;
  id: string;
}

/** One setting in force, with secrets masked. */
interface ShownSetting {
  /** Path as in the configuration file: `server.port`. */
  path: string;
  value: string;
  origin: "default" | "file" | "environment" | "database";
  /** The environment variable or file that sets the value; null for a default and for a value of the database. */
  from: string | null;
  /** True when a running process applies a change of this setting without a restart. */
  isReloadable: boolean;
}

/** The description of a provider adapter, for forms. */
export interface ProviderDescription {
  name: string;
  title: string;
  documentation: string;
  /** JSON Schema of the settings, without address, credential, headers and region. */
  settings: Record<string, unknown>;
  credential: "required" | "optional" | "none";
  /**
   * The provider's default address. Null when the channel must set an address, or the provider derives it from other
   * settings.
   */
  defaultBaseUrl: string | null;
  needsBaseUrl: boolean;
  hasRegion: boolean;
  /** The known regions; null when any region is allowed. */
  regions: string[] | null;
  hasHeaders: boolean;
  /** True when the gateway can read the vendor's list of models. */
  listsModels: boolean;
}

/** Access to the configuration, in a running gateway or in a command. */
export interface Configuration {
  /** Returns the configuration with these stored entries. Throws when the file itself is invalid. */
  read(stored: readonly StoredEntry[]): Promise<ConfigurationState>;
  /**
   * Encrypts a secret for one field of one record. Makes a master key if there is none and nothing is sealed yet.
   * Throws an `AdminError` when secrets are stored and this process has no key. In a command, also throws when its keys
   * open none of the stored secrets.
   */
  seal(store: SecretStore, name: SecretName, text: string): Promise<SealedSecret>;
  /** Returns the secret that `seal` has encrypted; null when no key opens it. */
  unseal(name: SecretName, secret: SealedSecret): Promise<string | null>;
  /** Encrypts a sealed secret again with the current master key; returns null when no key opens it. */
  reseal(store: SecretStore, name: SecretName, secret: SealedSecret): Promise<SealedSecret | null>;
  /** Applies stored changes in this process. Other processes notice them within half a second. */
  apply(): Promise<void>;
  /** Parses a YAML text. Each problem has its line and column. */
  readYaml(text: string): {
    value: unknown;
    problems: readonly { line: number; column: number; message: string }[];
  };
  writeYaml(value: unknown): string;
  providers(): readonly ProviderDescription[];
  /** Calls the vendor with the channel's address and credential. Throws an `UpstreamError`. */
  probe(channel: Channel, signal: AbortSignal): Promise<void>;
  /**
   * Reads the vendor's list of models, with the channel's address and credential. Returns null for a vendor without a
   * list. Throws an `UpstreamError`.
   */
  models(channel: Channel, signal: AbortSignal): Promise<string[] | null>;
}

/** The records with sealed secrets, read in the transaction that changes a secret. */
export interface SecretStore {
  configuration: Pick<ConfigurationStore, "list">;
  members: { list(): Promise<readonly { totp: { secret: SealedSecret } | null }[]> };
}

/** Identity of a secret. A sealed secret cannot be opened under another identity. */
export interface SecretName {
  kind: ConfigurationKind | "member" | "outcome";
  id: string;
  /** Path of the secret in its record, such as `credential` or `headers.x-key`. */
  field: string;
}
