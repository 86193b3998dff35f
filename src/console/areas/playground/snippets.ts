import type { Snippet } from "../../ui/text/code-snippet.tsx";
import type { FormField, GatewayCall } from "./gateway.ts";

/** Returns the code that makes a call from a program, with a key from the environment. */
export function snippetsOf(call: GatewayCall, base: string): Snippet[] {
  return [
    { label: "curl", language: "bash", code: curl(call, base) },
    { label: "Python", language: "python", code: python(call, base) },
    { label: "TypeScript", language: "typescript", code: typescript(call, base) },
  ];
}

function curl({ path, headers, body }: GatewayCall, base: string): string {
  const parts = [`curl ${quoted(base + path)}`, `-H "Authorization: Bearer $GATEWAY_KEY"`];
  for (const [name, value] of Object.entries(headers ?? {})) parts.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (body?.kind === "json")
    parts.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body.value, null, 2))}`);
  if (body?.kind === "form")
    for (const [name, value] of body.fields)
      parts.push(
        typeof value === "string"
          ? `--form-string ${quoted(`${name}=${value}`)}`
          : `-F ${quoted(`${name}=@"${value.fileName.replaceAll(/["\\]/g, "\\$&")}"`)}`,
      );
  return parts.join(" \\\n  ");
}

/** Returns a text in quotes for a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function python({ path, headers, body }: GatewayCall, base: string): string {
  const head = { ...headers };
  const entries = Object.entries(head).map(([name, value]) => `, ${json(name)}: ${json(value)}`);
  const lines = [
    "import os",
    "import requests",
    "",
    "response = requests.post(",
    `    ${json(base + path)},`,
    `    headers={"Authorization": f"Bearer {os.environ['GATEWAY_KEY']}"${entries.join("")}},`,
  ];
  if (body?.kind === "json") lines.push(`    json=${pythonLiteral(body.value, 1)},`);
  if (body?.kind === "form")
    lines.push("    files=[", ...body.fields.map((field) => `        ${pythonField(field)},`), "    ],");
  const isStream = isStreamed(body);
  if (isStream) lines.push("    stream=True,");
  lines.push(")", "response.raise_for_status()");
  lines.push(
    ...(isStream
      ? ["for line in response.iter_lines():", "    print(line.decode())"]
      : ["print(response.json())"]),
  );
  return lines.join("\n");
}

function pythonField([name, value]: FormField): string {
  if (typeof value === "string") return `(${json(name)}, (None, ${json(value)}))`;
  return `(${json(name)}, open(${json(value.fileName)}, "rb"))`;
}

/** Returns a JSON value as a Python literal. */
function pythonLiteral(value: unknown, depth: number): string {
  const inner = "    ".repeat(depth + 1);
  const outer = "    ".repeat(depth);
  if (value === true) return "True";
  if (value === false) return "False";
  if (value === null || value === undefined) return "None";
  if (Array.isArray(value))
    return value.length === 0
      ? "[]"
      : `[\n${value.map((item) => inner + pythonLiteral(item, depth + 1)).join(",\n")},\n${outer}]`;
  if (typeof value !== "object") return json(value);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return `{\n${entries.map(([name, item]) => `${inner}${json(name)}: ${pythonLiteral(item, depth + 1)}`).join(",\n")},\n${outer}}`;
}

function typescript({ path, headers, body }: GatewayCall, base: string): string {
  const own = Object.entries(headers ?? {}).map(([name, value]) => `    ${json(name)}: ${json(value)},`);
  const head = [
    "  headers: {",
    "    authorization: `Bearer ${env.GATEWAY_KEY}`,",
    ...(body?.kind === "json" ? [`    "content-type": "application/json",`] : []),
    ...own,
    "  },",
  ];
  const before = [`import { env } from "node:process";`];
  if (body?.kind === "form") {
    const hasFile = body.fields.some(([, value]) => typeof value !== "string");
    if (hasFile) before.unshift(`import { openAsBlob } from "node:fs";`);
    before.push("", "const form = new FormData();", ...body.fields.map(typescriptField));
  }
  const sent =
    body?.kind === "json"
      ? [`  body: JSON.stringify(${JSON.stringify(body.value, null, 2).replaceAll("\n", "\n  ")}),`]
      : ["  body: form,"];
  const after = isStreamed(body)
    ? [
        "const text = response.body!.pipeThrough(new TextDecoderStream());",
        "for await (const piece of text) process.stdout.write(piece);",
      ]
    : ["console.log(await response.json());"];
  return [
    ...before,
    "",
    `const response = await fetch(${json(base + path)}, {`,
    `  method: "POST",`,
    ...head,
    ...sent,
    "});",
    ...after,
  ].join("\n");
}

function typescriptField([name, value]: FormField): string {
  if (typeof value === "string") return `form.append(${json(name)}, ${json(value)});`;
  const file = json(value.fileName);
  return `form.append(${json(name)}, await openAsBlob(${file}), ${file});`;
}

function isStreamed(body: GatewayCall["body"]): boolean {
  return body?.kind === "json" && "stream" in body.value && body.value.stream === true;
}

/** Returns a text or number as JSON, which is also a literal of TypeScript and Python. */
function json(value: unknown): string {
  return JSON.stringify(value);
}
