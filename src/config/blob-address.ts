/**
 * What is wrong with the address of an object storage, or null. It is told before the first start makes a key and a
 * password, which a later failure would never show. The rules are those by which the storage reads the address;
 * what is told never repeats a part of it that may be secret.
 */
export function blobAddressProblem(address: string): string | null {
  const url = URL.parse(address);
  if (url?.protocol !== "s3:" || url.hostname === "") return `must be an address such as ${EXAMPLE}`;
  if (url.username === "" || url.password === "")
    return `must name the access key and its secret, as in ${EXAMPLE}`;
  if (![url.username, url.password, url.pathname].every(isDecodable))
    return 'has a "%" that begins no escape: write "%25" for the sign itself';
  return parameterProblem(url.searchParams);
}

const EXAMPLE = "s3://id:secret@bucket/prefix";
const PARAMETERS = ["endpoint", "region", "style"];

function parameterProblem(parameters: URLSearchParams): string | null {
  // A secret with an unescaped "?" leaves its rest here, so a name that is not known stays untold.
  if (parameters.keys().some((name) => !PARAMETERS.includes(name)))
    return `has an unknown parameter; there are ${PARAMETERS.join(", ")}`;
  const endpoint = parameters.get("endpoint");
  if (endpoint !== null && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ""))
    return "must have an http or https address as its endpoint";
  const style = parameters.get("style");
  return style === null || style === "path" || style === "virtual"
    ? null
    : 'must have "path" or "virtual" as its style';
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
