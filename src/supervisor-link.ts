import type { SupervisorLimits, SupervisorLink, WorkerLimits } from "./storage/counters/limit-messages.ts";

/** What a worker sends to its supervisor; anything else is passed on to other workers. */
export type WorkerMessage = { kind: "ready" } | { kind: "pong" } | { kind: "limits"; limits: WorkerLimits };

/** What the supervisor sends to a worker. */
export type SupervisorMessage =
  { kind: "ping" } | { kind: "reload" } | { kind: "limits"; limits: SupervisorLimits };

interface WorkerLink extends SupervisorLink {
  /** Tells the supervisor that this worker serves. */
  sendReady(): void;
  /** Calls the handler when the supervisor was told to reload the configuration. */
  onReload(handler: () => void): void;
}

/** Opens a worker's connection to its supervisor and responds to its pings from now on. */
export function openSupervisorLink(): WorkerLink {
  let receive = (_limits: SupervisorLimits): void => {};
  let reload = (): void => {};
  const isConnected = (): boolean => process.connected === true;
  const send = (message: WorkerMessage): void => {
    if (isConnected()) process.send?.(message);
  };
  process.on("message", (message: SupervisorMessage) => {
    if (message.kind === "ping") send({ kind: "pong" });
    else if (message.kind === "reload") reload();
    else if (message.kind === "limits") receive(message.limits);
  });
  return {
    isConnected,
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
