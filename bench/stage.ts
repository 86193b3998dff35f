import { type Gateway, launchGateway } from "./gateway.ts";
import { describeMachine, LOAD_CORE, type Machine, pinProcess, SERVER_CORE } from "./machine.ts";
import { type ServerProcess, startScript } from "./processes.ts";

/** The environment of a workload: the machine, the options and the servers that workloads share. */
export interface Stage {
  machine: Machine;
  options: BenchOptions;
  mock: ServerProcess;
  bareBun: ServerProcess;
  bareBuffer: ServerProcess;
  gateway: Gateway;
  close(): Promise<void>;
}

export interface BenchOptions {
  rounds: number;
  /** Length of a measured window. Some workloads use other lengths. */
  seconds: number;
  /** Folder for the gateway's CPU profile. Profiling worsens every figure. */
  profileFolder?: string;
  /** The mock's port. By default, a free port. */
  mockPort?: number;
}

/** Starts the mock on the load's core. Starts the baseline servers (floors) and the gateway on the server's core. */
export async function openStage(options: BenchOptions): Promise<Stage> {
  const machine = describeMachine();
  pinProcess(machine, process.pid, LOAD_CORE);
  const started: ServerProcess[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(started.map((server) => server.stop()));
  };
  const script = async (name: string, core: typeof SERVER_CORE | typeof LOAD_CORE, ...rest: string[]) => {
    const server = await startScript(machine, {
      name,
      core,
      arguments: [`${import.meta.dir}/${name}.ts`, ...rest],
    });
    started.push(server);
    return server;
  };
  try {
    const mock = await script("mock", LOAD_CORE, String(options.mockPort ?? 0));
    const upstream = `http://127.0.0.1:${mock.address.port}`;
    const bareBun = await script("bare-bun", SERVER_CORE, upstream);
    const bareBuffer = await script("bare-buffer", SERVER_CORE, upstream);
    const gateway = await launchGateway(machine, upstream, options.profileFolder);
    started.push(gateway);
    return { machine, options, mock, bareBun, bareBuffer, gateway, close };
  } catch (error) {
    await close();
    throw error;
  }
}
