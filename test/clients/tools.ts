import { isObject } from "../../src/lib/json.ts";
import type { Call } from "../upstreams/behaviour.ts";
import type { Step } from "./scenarios.table.ts";

type Arguments = Call["arguments"];

/** The programs' tools that write a file, by name, with the arguments of a call. */
const SAVING: Readonly<Record<string, (path: string, content: string) => Arguments>> = {
  save_file: (path, content) => ({ path, content }),
  // Instructor has no tool for saving. `File` is its name for the result.
  File: (path, content) => ({ path, content }),
  Write: (file_path, content) => ({ file_path, content }),
  write_file: (file_path, content) => ({ file_path, content }),
  write: (filePath, content) => ({ filePath, content }),
  exec_command: (path, content) => ({ cmd: `printf %s ${content} > ${path}` }),
  shell_command: (path, content) => ({ command: `printf %s ${content} > ${path}` }),
  shell: (path, content) => ({ command: ["sh", "-c", `printf %s ${content} > ${path}`] }),
};
const LOOKING: Readonly<Record<string, (path: string) => Arguments>> = {
  Read: (file_path) => ({ file_path }),
  read_file: (file_path) => ({ file_path }),
  read: (filePath) => ({ filePath }),
  view_image: (path) => ({ path }),
};

/** Returns the names of the tools that a request offers. The request may have any protocol. */
export function offeredTools(body: Record<string, unknown>): string[] {
  const tools = Array.isArray(body["tools"]) ? body["tools"].filter(isObject) : [];
  return tools.flatMap((tool) => {
    const { functionDeclarations, tools: inner } = tool;
    const own = isObject(tool["function"]) ? tool["function"] : tool;
    const many = Array.isArray(functionDeclarations)
      ? functionDeclarations
      : Array.isArray(inner)
        ? inner
        : [own];
    return many.filter(isObject).map(({ name }) => String(name));
  });
}

/** True for a request of the program's main loop, which offers a tool for writing files. */
export function isMainRequest(body: Record<string, unknown>): boolean {
  return offeredTools(body).some((name) => name in SAVING);
}

/** Returns the number of tool results in a request of any protocol. */
export function countResults(body: Record<string, unknown>): number {
  const text = JSON.stringify(body);
  return text.match(RESULTS)?.length ?? 0;
}

const RESULTS =
  /"type":"tool_result"|"role":"tool"|"type":"(?:function|custom_tool)_call_output"|"functionResponse":\{/g;

/** True for a request of any protocol that contains a picture for the model. */
export function hasPicture(body: Record<string, unknown>): boolean {
  return /"type":"(?:image|image_url|input_image)"|"inlineData":\{/.test(JSON.stringify(body));
}

/** Returns a call for a step by one of the offered tools; null if no tool fits. */
export function callFor(step: Step, offered: readonly string[], folder: string): Call | null {
  const [table, path] = "save" in step ? [SAVING, step.save] : [LOOKING, step.look];
  const name = Object.keys(table).find((each) => offered.includes(each));
  return name === undefined ? null : { name, arguments: table[name]!(`${folder}/${path}`, "hello") };
}
