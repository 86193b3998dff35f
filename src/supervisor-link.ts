import type { SupervisorLimits, SupervisorLink, WorkerLimits } from "./storage/counters/limit-messages.ts";

/** What a worker sends to its supervisor; anything else is passed on to other workers. */
export type WorkerMessage = { kind: "ready" } | { kind: "pong" } | { kind: "limits"; limits: WorkerLimits };

/** What the supervisor sends to a worker. */
export type SupervisorMessage =
  | { kind: "ping" }
  | { kind: "reload" }
  | { kind: "stop" }
  | { kind: "leave" }
  | { kind: "limits"; limits: SupervisorLimits };

/** A worker's connection to its supervisor. */
export interface WorkerLink extends SupervisorLink {
  /** Tells the supervisor that this worker serves. */
  sendReady(): void;
  /** Calls the handler when the supervisor was told to reload the configuration. */
  onReload(handler: () => void): void;
  /**
   * Resolves when the worker has to stop: its supervisor says so or is gone. Without a supervisor it would keep the port
   * beside the workers of the next start.
   */
  readonly stopOrdered: Promise<void>;
  /** Resolves when the worker has to exit at once. */
  readonly leaveOrdered: Promise<void>;
}

/** Opens a worker's connection to its supervisor and responds to its pings from now on. */
export function openSupervisorLink(): WorkerLink {
  let receive = (_limits: SupervisorLimits): void => {};
  let reload = (): void => {};
  const stop = Promise.withResolvers<void>();
  const leave = Promise.withResolvers<void>();
  const isConnected = (): boolean => process.connected === true;
  const send = (message: WorkerMessage): void => {
    if (isConnected()) process.send?.(message);
  };
  process.on("message", (message: SupervisorMessage) => {
    if (message.kind === "ping") send({ kind: "pong" });
    else if (message.kind === "reload") reload();
    else if (message.kind === "stop") stop.resolve();
    else if (message.kind === "leave") leave.resolve();
    else if (message.kind === "limits") receive(message.limits);
  });
  process.on("disconnect", () => stop.resolve());
  return {
    isConnected,
    stopOrdered: stop.promise,
    leaveOrdered: leave.promise,
    sendLimits: (limits) => send({ kind: "limits", limits }),
    onLimits: (handler) => {
      receive = handler;
    },
    onReload: (handler) => {
      reload = handler;
    },
    sendReady: () => send({ kind: "ready" }),
  };
}
