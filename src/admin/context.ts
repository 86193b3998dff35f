import type { Job } from "../domain/job.ts";
import type { Model } from "../domain/model.ts";
import { operatorMessage, type OperatorMessage } from "../domain/operator-message.ts";
import type { Ejection } from "../gateway/routing/health.ts";
import type { Clock } from "../lib/clock.ts";
import type { Progress } from "../lib/progress.ts";
import { isPattern } from "../lib/pattern-map.ts";
import { meantBy } from "../lib/suggest.ts";
import { AdminError } from "./admin-error.ts";
import type { Catalogue, Configuration } from "./configuration/store-port.ts";
import type { AdminStore } from "./admin-store.ts";
import type { SignedIn } from "./sign-in/signed-in.ts";
import type { Actor } from "./actor.ts";

export type { Catalogue } from "./configuration/store-port.ts";

/** Context of every administrative function: the store, the actor of the change and the configuration. */
export interface AdminContext {
  store: AdminStore;
  by: Actor;
  /** The signed-in caller; absent on the command line, which may do everything. */
  signedIn?: SignedIn;
  clock: Clock;
  catalogue: Catalogue;
  /** The running gateway; absent on the command line, which has only the database. */
  running?: RunningGateway;
  /** Receives the progress of a long operation; absent when nobody sees the progress. */
  onProgress?: Progress | undefined;
}

/** Facts and actions that need a running gateway. */
export interface RunningGateway {
  /** Returns the targets that the process has taken out of service. */
  ejections(): readonly Ejection[];
  /** Cancels a job by the rules of the folder `jobs` and returns the changed job; null for an unknown job. */
  cancelJob(organizationId: string, id: string): Promise<Job | null>;
  /** Sends a mail now. The message contains the refusal of the mail server, or says that none is configured. */
  testMail(recipient: string): Promise<OperatorMessage & { isSent: boolean }>;
  /** Writes the process's counts of requests to the store now. */
  writeCounts(): Promise<void>;
  /** Returns the parts of the process that do not work as they should. */
  degradations(): readonly Degradation[];
  /** Returns the process's calls to vendors that have received no response yet. */
  waitingCalls(): readonly WaitingCall[];
  /** Returns a signed link to a stored picture, without a host when the gateway has no public address. */
  linkTo(name: string): string;
  /** Returns the milliseconds for which delivered pictures are kept. */
  picturesKeptMs(): number;
}

/** A part of the gateway that does not work as it should. */
export interface Degradation extends OperatorMessage {
  part: string;
  /** Beginning in Unix milliseconds; null when it is unknown. */
  since: number | null;
  /** True when requests are refused or money is at risk. */
  isCritical?: boolean;
  /** Path below `/console` of the page with details; by default, the path of the configuration page. */
  path?: string;
}

/** A call to a vendor that has received no part of its response yet. */
export interface WaitingCall {
  channel: string;
  /** Id of the organization whose request the call serves. */
  organization: string;
  waitedMs: number;
}

/** Returns the running gateway. Throws 409 when there is none. */
export function requireRunning({ running }: AdminContext): RunningGateway {
  if (running) return running;
  throw new AdminError(409, null, "this needs a running gateway: name one with --url");
}

/** Context of operations, which can also read and change the configuration. */
export interface OperationContext extends AdminContext {
  configuration: Configuration;
}

/** Accepts a configured model or a pattern that covers configured models. Otherwise throws as `requireModel` does. */
export function requireModels(catalogue: Catalogue, id: string, field: string): void {
  const beginning = id.slice(0, -1);
  const overlaps = (known: string): boolean =>
    known.startsWith(beginning) || (isPattern(known) && beginning.startsWith(known.slice(0, -1)));
  if (!isPattern(id) || !catalogue.models.declared.keys().some(overlaps)) requireModel(catalogue, id, field);
}

/** Returns the configured model. Throws an error with a suggestion when there is none. */
export function requireModel(catalogue: Catalogue, id: string, field: string): Model {
  const model = catalogue.models.get(id);
  if (model) return model;
  const suggestion = meantBy(id, catalogue.models.declared.keys());
  throw new AdminError(400, field, operatorMessage("error.model.unknown", { model: id, ...suggestion }));
}
