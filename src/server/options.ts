import type { OperationContext } from "../admin/context.ts";
import type { IdentitySettings } from "../admin/sign-in/identity-provider.ts";
import type { InstallationStatus } from "../domain/status.ts";
import type { Core } from "../gateway/core.ts";
import type { ImageCore } from "../gateway/images.ts";
import type { JobCore } from "../jobs/submit.ts";
import type { BlobStore, Links } from "../gateway/delivery/stored-blobs.ts";
import type { OutcomeStore } from "../gateway/outcomes.ts";
import type { BeginTrace } from "../domain/trace.ts";
import type { RequestListener } from "../domain/request-event.ts";
import type { AddressList } from "../lib/cidr.ts";
import type { SafeFetch } from "../lib/safe-fetch.ts";
import type { FairSemaphore } from "../lib/semaphore.ts";
import type { ConnectionLimit } from "./entrance/connection-limit.ts";
import type { ConsoleFiles } from "./endpoints/console.ts";
import type { Overload } from "./entrance/overload.ts";
import type { UndeclaredProxy } from "./undeclared-proxy.ts";
import type { SpoolQuotaOptions } from "./entrance/resource-quota.ts";

export interface ServerOptions {
  core: Core;
  blobs: { store: BlobStore; links: Links };
  outcomes: OutcomeStore;
  jobs: Omit<JobCore, keyof ImageCore>;
  /** The context of administration. The author of a change is added for each request. */
  admin: Omit<OperationContext, "by">;
  /** The OpenID provider at which members may sign in instead of by password; null for none. */
  identity: IdentitySettings | null;
  console: ConsoleFiles;
  safeFetch: SafeFetch;
  /** Folder for temporary files of requests, on a local disk. */
  spoolDirectory: string;
  /** Bounds the number of pictures decoded or encoded at the same time. */
  codecSlots: FairSemaphore;
  server: {
    host: string;
    port: number;
    metricsPort: number | null;
    metricsToken: string | null;
    publicUrl: string | null;
    trustedProxies: AddressList;
    idleSeconds: number;
    bodyGraceSeconds: number;
    spool: Pick<SpoolQuotaOptions, "maxBytes" | "reserveBytes">;
    unknownKeysPerMinute: number | null;
  };
  /** True when a text has the form of a key. */
  isWellFormed(secret: string): boolean;
  hash(secret: string): string;
  /** Gets the record of each request at its end. */
  onEnd: RequestListener;
  /** Begins a trace; null while no traces are exported. */
  beginTrace: BeginTrace | null;
  overload: Overload;
  connections: ConnectionLimit;
  /** Returns the reason why load balancers must not choose this process although it serves; null for none. */
  unready(): string | null;
  /** Returns the state of the installation, for the details of the readiness probe. */
  status(): Promise<InstallationStatus>;
  undeclaredProxy: UndeclaredProxy;
  /** Called with each problem for the log. */
  onProblem(message: string, cause: unknown): void;
  metrics(): Promise<string>;
  /** True when several processes listen on the same port. */
  isShared: boolean;
}
