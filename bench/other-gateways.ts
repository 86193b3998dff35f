import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { UPSTREAM_MODEL } from "./chat-samples.ts";
import { type Contender, MOCK_KEY, plainContender } from "./contender.ts";
import { type Machine, pinProcess, SERVER_CORE } from "./machine.ts";
import { processesOn } from "./process-table.ts";
import { type ServerProcess, startLogged, untilReady } from "./processes.ts";
import { freePort } from "../test/support/free-port.ts";

/** Another gateway, as an option of the command line describes it. */
export interface GatewayAddress {
  name: string;
  /** Base address as a client uses it, such as `http://127.0.0.1:4000/v1`. */
  url: string;
  key: string;
  model: string;
}

/** Parses `NAME=URL[,key=KEY][,model=MODEL]`. Throws for any other text. */
export function readGatewayAddress(text: string): GatewayAddress {
  const [, name, rest = ""] = /^([^=,]+)=(.+)$/.exec(text) ?? [];
  const [url = "", ...options] = rest.split(",");
  const values: Record<string, string> = {};
  for (const option of options) {
    const [, key, value] = /^(key|model)=(.+)$/.exec(option) ?? [];
    if (key === undefined || value === undefined) throw new Error(`"${option}" is neither key= nor model=`);
    values[key] = value;
  }
  if (name === undefined || !URL.canParse(url)) throw new Error(`"${text}" is not NAME=URL`);
  return { name, url, key: values.key ?? MOCK_KEY, model: values.model ?? UPSTREAM_MODEL };
}

/** Returns a running gateway, with its processes on the server's core. Throws when no process is found. */
export function runningGateway(machine: Machine, { name, url, key, model }: GatewayAddress): Contender {
  const { hostname, port, pathname } = new URL(url);
  const [processId, ...workerIds] = processesOn(Number(port));
  if (processId === undefined)
    throw new Error(
      `No process that listens on port ${port} can be seen: ${name} must run here, as this user`,
    );
  for (const id of [processId, ...workerIds]) pinProcess(machine, id, SERVER_CORE);
  const server = {
    name,
    processId,
    workerIds,
    address: { hostname, port: Number(port) },
    stop: async () => {},
  };
  const path = `${pathname.replace(/\/$/, "")}/chat/completions`;
  return { ...plainContender(name, server), path, key, model };
}

/** Starts Portkey as one process of Node. `folder` contains the npm package `@portkey-ai/gateway`. */
export async function startPortkey(machine: Machine, folder: string, upstream: string): Promise<Contender> {
  const installed = resolve(folder, "node_modules/@portkey-ai/gateway");
  const { version } = await Bun.file(join(installed, "package.json")).json();
  const node = Bun.which("node") ?? "node";
  const nodeVersion = Bun.spawnSync([node, "--version"]).stdout.toString().trim();
  const logs = mkdtempSync(join(tmpdir(), "bench-portkey-"));
  const logPath = join(logs, "portkey.log");
  const port = freePort();
  const started = startLogged(
    machine,
    {
      name: "portkey",
      program: node,
      core: SERVER_CORE,
      arguments: [join(installed, "build/start-server.js"), `--port=${port}`, "--headless"],
      environment: { NODE_ENV: "production" },
    },
    port,
    logPath,
  );
  const server: ServerProcess = {
    ...started,
    async stop() {
      await started.stop();
      rmSync(logs, { recursive: true, force: true });
    },
  };
  try {
    await untilReady(server, "/", logPath);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return {
    ...plainContender(`Portkey ${version}, Node ${nodeVersion}`, server),
    headers: { "x-portkey-provider": "openai", "x-portkey-custom-host": `${upstream}/v1` },
  };
}
