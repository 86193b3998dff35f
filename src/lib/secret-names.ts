/** True when the name of a setting indicates that its value is a secret. */
export function isSecretName(name: string): boolean {
  return /(^|_)(api_?key|key|secret|password|token|credentials?)$/.test(name);
}

/** True when a header's name indicates a secret, which the configuration file must not contain as plain text. */
export function isSecretHeader(name: string): boolean {
  return /authorization|cookie|key$|token$|secret$|password$/i.test(name);
}

/** Headers of vendors and of HTTP with public values: a version, a feature, an application or an account. */
const PUBLIC_HEADERS: ReadonlySet<string> = new Set([
  "accept",
  "accept-language",
  "anthropic-beta",
  "anthropic-version",
  "http-referer",
  "openai-beta",
  "openai-organization",
  "openai-project",
  "user-agent",
  "x-goog-user-project",
  "x-openrouter-title",
  "x-title",
]);

/** True unless the header is known to contain no secret. A proxy may read a secret from a header of any name. */
export function isMaskedHeader(name: string): boolean {
  return !PUBLIC_HEADERS.has(name.toLowerCase());
}
