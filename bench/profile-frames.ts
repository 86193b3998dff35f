import { parseArgs } from "node:util";
import { renderTable } from "./report.ts";

/** A CPU profile in the runtime's format (`.cpuprofile`): a tree of calls, each with a number of samples. */
export interface CpuProfile {
  nodes: {
    id: number;
    callFrame: { functionName: string; url: string; lineNumber: number };
    hitCount?: number;
    children?: number[];
  }[];
}

/** A function and its share of all samples. `total` includes the functions that it called; `self` does not. */
export interface Frame {
  name: string;
  total: number;
  self: number;
}

const SHOWN = 10;

/**
 * Returns each function of a profile once, largest share first. Samples are counted and the times between samples are
 * ignored, because the runtime adds idle time to the following sample.
 */
export function framesOf({ nodes }: CpuProfile, by: "total" | "self"): Frame[] {
  const nodeOf = new Map(nodes.map((node) => [node.id, node]));
  const frames = new Map<string, Frame>();
  const all = nodes.reduce((sum, { hitCount = 0 }) => sum + hitCount, 0);
  /** Adds a call and the calls below it. Recursive calls count once in their function's `total`. */
  const add = (id: number, stack: ReadonlySet<string>): number => {
    const { callFrame, hitCount = 0, children = [] } = nodeOf.get(id)!;
    const name = nameOf(callFrame);
    const frame = frames.get(name) ?? { name, total: 0, self: 0 };
    frames.set(name, frame);
    const inner = new Set([...stack, name]);
    const samples = children.reduce((sum, child) => sum + add(child, inner), hitCount);
    frame.self += hitCount / all;
    if (!stack.has(name)) frame.total += samples / all;
    return samples;
  };
  const called = new Set(nodes.flatMap(({ children = [] }) => children));
  for (const { id } of nodes) if (!called.has(id)) add(id, new Set());
  frames.delete("(root) (native)");
  return [...frames.values()].toSorted((one, other) => other[by] - one[by]);
}

/** Omits the line of a named function, because an async function has different lines for its start and body. */
function nameOf({ functionName, url, lineNumber }: CpuProfile["nodes"][number]["callFrame"]): string {
  const path = url.replace(/^file:\/\//, "").replace(/^.*?\/(?=(src|bench|node_modules)\/)/, "");
  if (functionName) return `${functionName} ${path || "(native)"}`;
  return path ? `(anonymous) ${path}:${lineNumber + 1}` : "(anonymous) (native)";
}

if (import.meta.main) {
  const { positionals } = parseArgs({ allowPositionals: true });
  if (positionals.length === 0) {
    console.error("Usage: bun bench/profile-frames.ts FILE.cpuprofile...");
    process.exit(2);
  }
  for (const path of positionals) {
    const profile: CpuProfile = await Bun.file(path).json();
    for (const by of ["total", "self"] as const) {
      const shown = framesOf(profile, by).slice(0, SHOWN);
      const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
      const lines = shown.map(({ name, total, self }) => [name, percent(total), percent(self)]);
      console.log(`\n${path}, widest by ${by}\n`);
      console.log(renderTable([["Frame", "With its calls", "By itself"], ...lines]));
    }
  }
}
