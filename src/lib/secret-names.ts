/** True when a setting of this name has a secret as its value. */
export function isSecretName(name: string): boolean {
  return /(^|_)(api_?key|key|secret|password|token|credentials?)$/.test(name);
}

/** True when a header of this name has a secret as its value. */
export function isSecretHeader(name: string): boolean {
  return /authorization|cookie|key$|token$|secret$|password$/i.test(name);
}
