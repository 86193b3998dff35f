import { expect, test } from "bun:test";
import { NetworkGuard } from "./network-guard.ts";

const EVERY_NETWORK = ["0.0.0.0/0", "::/0"];
/** Forms of the address 169.254.169.254: as IPv4, mapped to IPv6, by NAT64 and by 6to4. */
const METADATA = [
  "169.254.169.254",
  "[::ffff:169.254.169.254]",
  "[::ffff:a9fe:a9fe]",
  "[64:ff9b::a9fe:a9fe]",
  "[2002:a9fe:a9fe::1]",
];
const NEVER = [
  ...METADATA,
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "[fe80::1]",
  "[fd00:ec2::254]",
];
const PRIVATE = ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "[::1]", "[fd12::1]"];

test.each([
  [
    "the public internet",
    [],
    ["8.8.8.8", "[2606:4700::1]"],
    [...PRIVATE, ...NEVER, "0.0.0.0", "[::ffff:10.1.2.3]"],
  ],
  [
    "named networks",
    ["10.0.0.0/8", "169.254.0.0/16"],
    ["10.1.2.3", "[::ffff:10.1.2.3]"],
    ["127.0.0.1", ...NEVER],
  ],
  ["every network", EVERY_NETWORK, [...PRIVATE, "8.8.8.8"], NEVER],
])("a guard that allows %s", async (_name, networks, allowed, refused) => {
  const guard = new NetworkGuard(networks);
  for (const host of allowed) expect(await guard.addressesOf(host)).toEqual([host.replace(/^\[|\]$/g, "")]);
  for (const host of refused) expect(await nameOfError(guard.addressesOf(host))).toBe("AddressRefused");
});

test("every address of a name must be allowed, each time it is looked up", async () => {
  const answers = [["2606:4700::1", "8.8.8.8"], ["8.8.8.8", "127.0.0.1"], ["169.254.169.254"]];
  const guard = new NetworkGuard([], async () => answers.shift()!);
  expect(await guard.addressesOf("rebinding.example")).toEqual(["8.8.8.8", "2606:4700::1"]);
  for (let left = answers.length; left > 0; left -= 1)
    expect(await nameOfError(guard.addressesOf("rebinding.example"))).toBe("AddressRefused");
});

async function nameOfError(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => "",
    (error: Error) => error.name,
  );
}
