import type { BootstrapResult } from "../admin/bootstrap.ts";
import type { Settings } from "../config/index.ts";

/** Returns the text that a start prints: the address and, at the first start, secrets with an example call. */
export function welcome(
  url: string,
  { administrator, key }: BootstrapResult,
  settings: Pick<Settings, "models" | "server">,
): string {
  const base = settings.server.publicUrl ?? url;
  if (administrator.password === null && key.secret === null) {
    const known = key.prefix === null ? "" : `, key ${key.prefix}…`;
    return `Gateway listening on ${url} (console ${base}/console${known})\n`;
  }
  const call = exampleOf(settings);
  const lines = [
    `Gateway listening on ${url}`,
    "",
    `  Base address   ${base}/v1`,
    `  Console        ${base}/console`,
    ...(administrator.password === null
      ? []
      : [`  Administrator  ${administrator.name} / ${administrator.password}`]),
    `  Key            ${key.secret ?? `${key.prefix}…`}`,
    "",
    "These are shown only once. Try it:",
    "",
    `  curl ${base}/v1/${call.path} \\`,
    `    -H "Authorization: Bearer ${key.secret ?? "$GATEWAY_KEY"}" -H "Content-Type: application/json" \\`,
    `    -d '${JSON.stringify(call.body)}'`,
    "",
  ];
  return `${lines.join("\n")}\n`;
}

/**
 * Returns an example call. The call makes a picture with the sandbox, or else with the first image model. Without image
 * models, the call requests a word from the first text model.
 */
function exampleOf({ models }: Pick<Settings, "models">): { path: string; body: object } {
  const all = [...models.declared.values()];
  const image = models.get("sandbox-a") ?? all.find(({ type }) => type === "image");
  const text = all.find(({ type }) => type === "chat" || type === "messages");
  if (text && !image) {
    const body = { model: text.id, max_tokens: 200, messages: [{ role: "user", content: "Say hello." }] };
    return { path: "chat/completions", body };
  }
  return {
    path: "images/generations",
    body: { model: image?.id ?? "MODEL", prompt: "A lighthouse at dawn" },
  };
}
