/** Whether a setting's name means that its value is a secret. */
export function isSecretName(name: string): boolean {
  return /(^|_)(api_?key|key|secret|password|token|credentials?)$/.test(name);
}

/** Whether a header's name means that its value is a secret. */
export function isSecretHeader(name: string): boolean {
  return /authorization|cookie|key$|token$|secret$|password$/i.test(name);
}
