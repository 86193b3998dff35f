/** Ports for stored channels and models: their store, and the whole configuration with them. */
import type { Channel, Route } from "../../domain/channel.ts";
import type { PatternMap } from "../../lib/pattern-map.ts";
import type { Limits } from "../../domain/limits.ts";
import type { Model } from "../../domain/model.ts";
import type { PriceRow } from "../../domain/price.ts";
import type { Problem } from "../../lib/schema-problems.ts";
import type { Actor } from "../actor.ts";

/** The configured models, channels, default routes and prices; the settings have this shape. */
export interface Catalogue {
  models: PatternMap<Model>;
  channels: ReadonlyMap<string, Channel>;
  routes: PatternMap<Route>;
  prices: PatternMap<PriceRow>;
  /** Limits of organizations and keys without limits of their own. */
  limits: { organization: Limits; key: Limits };
  /** Null where no mail is sent. */
  mail: { allowedDomains: readonly string[] } | null;
}

export type ConfigurationKind = "channel" | "model";

/** A channel or model that administration has added, in the form that the configuration file has for it. */
export interface StoredEntry {
  kind: ConfigurationKind;
  id: string;
  /** As under `channels.<id>` or `models.<id>`; each secret is a `SealedSecret`. */
  value: EntryValue;
  /** Unix milliseconds. */
  createdAt: number;
  /** Revision of its last change. */
  revision: bigint;
}

export type EntryValue = Readonly<Record<string, unknown>>;

/** A secret in the database, encrypted with the master key. */
export interface SealedSecret {
  sealed: string;
}

export interface ConfigurationStore {
  /** Oldest first. */
  list(): Promise<StoredEntry[]>;
  /** Removes the entry. False when there is none of that kind and id. */
  create(entry: Omit<StoredEntry, "revision">, by: Actor): Promise<boolean>;
  /**
   * Writes the entry that `change` returns for the present one; when it throws, nothing is changed. Returns the entry
   * afterwards, null when there is none.
   */
  update(
    name: Pick<StoredEntry, "kind" | "id">,
    change: (before: StoredEntry) => EntryValue,
    by: Actor,
    action?: "update" | "reseal",
  ): Promise<StoredEntry | null>;
  /** False when there is none. */
  remove(name: Pick<StoredEntry, "kind" | "id">, by: Actor): Promise<boolean>;
}

/**
 * Source that declares a channel or model. The file and the environment win over the database, the database over the
 * catalogue.
 */
export type EntryOrigin = "file" | "environment" | "database" | "catalogue";

/** A channel's declaration, and the channel that was built from it. */
export interface ConfiguredChannel {
  id: string;
  origin: EntryOrigin;
  /** As in the file, with references to secrets or sealed ones. */
  declared: EntryValue & { provider: string };
  /** Null when it cannot be used; the problems say why. */
  channel: Channel | null;
}

/** A model merged from all its declarations. */
export interface ConfiguredModel {
  id: string;
  origin: EntryOrigin;
  /** Entry of the file or the database; null for a model that only the catalogue declares. */
  declared: EntryValue | null;
  model: Model;
  /** The model's default route. A model with an empty route is not served. */
  route: Route;
  price: PriceRow | null;
  isDisabled: boolean;
}

/** Configuration made of the file, the environment, the database and the catalogue. */
export interface ConfigurationState {
  catalogue: Catalogue;
  channels: ReadonlyMap<string, ConfiguredChannel>;
  /** Also those that are not served. */
  models: ReadonlyMap<string, ConfiguredModel>;
  /** The reasons why stored entries, or parts of them, are not in force. */
  problems: readonly EntryProblem[];
  shippedChannels: readonly ShippedChannel[];
  settings: readonly ShownSetting[];
}

/** A channel of the shipped catalogue: one with its id serves the models listed for it. */
export interface ShippedChannel {
  provider: string;
  id: string;
  baseUrl: string | null;
  settings: EntryValue;
  /** Number of shipped models that it serves. */
  models: number;
}

export interface EntryProblem extends Problem {
  kind: ConfigurationKind;
  id: string;
}

/** One effective setting, secrets masked. */
interface ShownSetting {
  /** As in the configuration file: `server.port`. */
  path: string;
  value: string;
  origin: "default" | "file" | "environment" | "database";
  /** The variable or file it came from. */
  from: string | null;
  /** True when a running process takes a change over. */
  isReloadable: boolean;
}

/** An adapter to a vendor, for forms. */
export interface ProviderDescription {
  name: string;
  title: string;
  documentation: string;
  /** JSON Schema of the settings besides address, credential, headers and region. */
  settings: Record<string, unknown>;
  credential: "required" | "optional" | "none";
  /**
   * The provider's default address. Null where each customer has an address of its own, which a channel must then set.
   */
  defaultBaseUrl: string | null;
  needsBaseUrl: boolean;
  hasRegion: boolean;
  /** The regions there are; null for any. */
  regions: string[] | null;
  hasHeaders: boolean;
}

/** The part of a running gateway, or of a command, that knows the configuration. */
export interface Configuration {
  /** Returns the configuration with these stored entries. Throws when the file itself is not valid. */
  read(stored: readonly StoredEntry[]): Promise<ConfigurationState>;
  /**
   * Encrypts a secret for one field of one record; makes the master key where the store has nothing encrypted yet.
   * Throws an `AdminError` where it was encrypted with a key that is not here.
   */
  seal(store: SecretStore, name: SecretName, text: string): Promise<SealedSecret>;
  /** The secret that `seal` has encrypted; null when no key opens it. */
  unseal(name: SecretName, secret: SealedSecret): Promise<string | null>;
  /** Encrypts with today's master key what an earlier one has sealed; null when no key opens it. */
  reseal(store: SecretStore, name: SecretName, secret: SealedSecret): Promise<SealedSecret | null>;
  /** Makes stored changes effective in this process; others notice them within half a second. */
  apply(): Promise<void>;
  /** Parses a YAML text. Problems are reported by line and column. */
  readYaml(text: string): {
    value: unknown;
    problems: readonly { line: number; column: number; message: string }[];
  };
  writeYaml(value: unknown): string;
  providers(): readonly ProviderDescription[];
  /** Calls the vendor with the channel's address and credential. Throws an `UpstreamError`. */
  probe(channel: Channel, signal: AbortSignal): Promise<void>;
}

/** The records with sealed secrets, as seen by the transaction in which a secret is changed. */
export interface SecretStore {
  configuration: Pick<ConfigurationStore, "list">;
  members: { list(): Promise<readonly { totp: { secret: SealedSecret } | null }[]> };
}

/** Identity of a secret: a sealed secret opens under no other. */
export interface SecretName {
  kind: ConfigurationKind | "member" | "outcome";
  id: string;
  /** Path of the secret in its record: `credential`, `headers.x-key`. */
  field: string;
}
