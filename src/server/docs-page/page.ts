import type { OpenApiDocument, PathItem } from "../openapi/document.ts";
import type { Schema } from "../openapi/schema.ts";

interface Entry {
  method: string;
  path: string;
  item: PathItem;
}

/** Returns the document as a page; examples call the base address. */
export function docsPage(document: OpenApiDocument, base: string): string {
  const entries = Object.entries(document.paths).flatMap(([path, items]) =>
    Object.entries(items).map(([method, item]): Entry => ({ method: method.toUpperCase(), path, item })),
  );
  const byTag = Map.groupBy(entries, ({ item }) => item.tags[0] ?? "");
  const links = [...byTag.keys()].map((tag, index, tags) => {
    const [group, area] = tag.split(": ");
    const isFirst = area !== undefined && !tags[index - 1]?.startsWith(`${group}: `);
    const heading = isFirst ? `<strong>${text(group ?? "")}</strong>` : "";
    return `${heading}<a href="#${anchorOf(tag)}">${text(area ?? tag)}</a>`;
  });
  const sections = [...byTag].map(([tag, found]) => section(tag, found, base));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API of this gateway</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/style.css">
<script src="/docs/search.js" type="module"></script>
</head>
<body>
<header>
<h1>API of this gateway</h1>
<p><a href="/openapi.json">openapi.json</a> · <a href="/console">Console</a></p>
<input type="search" placeholder="Search (press /)" aria-label="Search">
</header>
<div class="columns">
<nav aria-label="Groups">${links.join("")}</nav>
<main>
${sections.join("\n")}
<p id="none" hidden>Nothing has these words.</p>
</main>
</div>
</body>
</html>`;
}

function section(tag: string, entries: readonly Entry[], base: string): string {
  const shown = entries.map((entry) => article(entry, base));
  return `<section><h2 id="${anchorOf(tag)}">${text(tag)}</h2>${shown.join("\n")}</section>`;
}

function article(entry: Entry, base: string): string {
  const { method, path, item } = entry;
  const { summary, description = "", parameters = [], operationId } = item;
  const body = schemaOf(item.requestBody);
  const response = schemaOf(item.responses["200"]);
  return `<details id="${text(operationId)}"><summary><span class="method">${method}</span><code>${text(path)}</code><span>${text(summary)}</span></summary>
<div class="body">
${description === "" ? "" : `<p>${text(description)}</p>`}
${table("Parameters", parameters.map(parameterRow))}
${table("Request", fieldRows(body))}
${table("Response", fieldRows(response))}
<h3>Example</h3><pre>${text(curlOf(entry, base))}</pre>
</div></details>`;
}

type Row = [name: string, type: string, description: string];

function table(title: string, rows: readonly Row[]): string {
  if (rows.length === 0) return "";
  const lines = rows.map(
    ([name, type, description]) =>
      `<tr><td><code>${text(name)}</code></td><td>${text(type)}</td><td>${text(description)}</td></tr>`,
  );
  return `<h3>${title}</h3><div class="scroll"><table><thead><tr><th>Name</th><th>Type</th><th>Meaning</th></tr></thead><tbody>${lines.join("")}</tbody></table></div>`;
}

function parameterRow(parameter: object): Row {
  const { name, schema, description, required } = parameter as {
    name: string;
    schema: Schema;
    description?: string;
    required?: boolean;
  };
  return [name, typeOf(schema) + (required ? ", required" : ""), description ?? schema.description ?? ""];
}

/** Returns the fields of an object and of its nested objects; for a union, those of its first member. */
function fieldRows(schema: Schema | null, path = "", depth = 0): Row[] {
  const { properties = {}, required = [] } = objectOf(schema) ?? {};
  const rows: Row[] = [];
  for (const [name, field] of Object.entries(properties)) {
    const known = typeof field === "object" ? field : {};
    rows.push([
      path + name,
      typeOf(known) + (required.includes(name) ? "" : ", optional"),
      known.description ?? "",
    ]);
    if (depth === MAX_DEPTH) continue;
    const isList = known.type === "array";
    const inner = isList ? ((known.items ?? {}) as Schema) : known;
    rows.push(...fieldRows(inner, `${path}${name}${isList ? "[]" : ""}.`, depth + 1));
  }
  return rows;
}

const MAX_DEPTH = 2;

function objectOf(schema: Schema | null): Schema | null {
  if (!schema || schema.properties) return schema;
  const choices = schema.anyOf ?? schema.oneOf ?? [];
  const found = choices.find((each) => typeof each === "object" && objectOf(each));
  return typeof found === "object" ? objectOf(found) : null;
}

function typeOf(schema: Schema): string {
  if (schema.enum) return schema.enum.map(String).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map((each) => typeOf(each as Schema)).join(" | ");
  if (schema.type === "array") return `list of ${typeOf((schema.items ?? {}) as Schema)}`;
  return [schema.type ?? "any"].flat().join(" | ");
}

function schemaOf(holder: object | undefined): Schema | null {
  const { content } = (holder ?? {}) as { content?: Record<string, { schema?: Schema }> };
  return content?.["application/json"]?.schema ?? null;
}

function curlOf({ method, path, item }: Entry, base: string): string {
  const { content } = (item.requestBody ?? {}) as { content?: Record<string, { example?: object }> };
  const json = content?.["application/json"];
  const isAdmin = item.security.some((scheme) => "adminToken" in scheme);
  const lines = [
    `curl ${method === "GET" ? "" : `-X ${method} `}'${base}${path}'`,
    ...(item.security.length === 0
      ? []
      : [`-H "Authorization: Bearer ${isAdmin ? "$GATEWAY_TOKEN" : "$GATEWAY_KEY"}"`]),
    ...(json ? ["-H 'Content-Type: application/json'"] : []),
    ...(json ? [`-d '${JSON.stringify(json.example ?? sampleOf(schemaOf(item.requestBody)))}'`] : []),
  ];
  return lines.join(" \\\n  ");
}

/** Returns an object with a sample value for each required field. */
function sampleOf(schema: Schema | null): unknown {
  if (!schema) return {};
  if (schema.default !== undefined) return schema.default;
  const [first] = schema.enum ?? schema.anyOf ?? schema.oneOf ?? [];
  if (schema.enum) return first;
  if (typeof first === "object" && first !== null) return sampleOf(first as Schema);
  if (schema.const !== undefined) return schema.const;
  if (schema.type === "array") return schema.minItems ? [sampleOf((schema.items ?? {}) as Schema)] : [];
  if (schema.type === "integer" || schema.type === "number") return schema.minimum ?? 1;
  if (schema.type === "boolean") return true;
  if (schema.type !== "object") return schema.pattern === undefined ? "…" : "12.50";
  const required = schema.required ?? [];
  return Object.fromEntries(
    required.map((name) => [name, sampleOf((schema.properties?.[name] ?? {}) as Schema)]),
  );
}

function anchorOf(tag: string): string {
  return tag.toLowerCase().replaceAll(/[^a-z]+/g, "-");
}

function text(value: string): string {
  return Bun.escapeHTML(value);
}
