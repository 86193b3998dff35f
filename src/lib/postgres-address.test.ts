import { expect, test } from "bun:test";
import { addressesOfServers, readPostgresAddress } from "./postgres-address.ts";

const encryptions = (address: string) =>
  readPostgresAddress(address).servers.map(({ host, encryption }) => `${host} ${encryption}`);

test.each([
  ["postgres://db.example/gateway", "verify-full"],
  ["postgres://db.example/gateway?sslmode=prefer", "verify-full"],
  ["postgres://db.example/gateway?sslmode=allow", "verify-full"],
  ["postgres://db.example/gateway?sslmode=require", "verify-full"],
  ["postgres://db.example/gateway?sslmode=verify-ca", "verify-ca"],
  ["postgres://db.example/gateway?sslmode=verify-full", "verify-full"],
  ["postgres://db.example/gateway?sslmode=no-verify", "no-verify"],
  ["postgres://db.example/gateway?sslmode=disable", "disable"],
  ["postgres://localhost.example/gateway", "verify-full"],
  ["postgres://127.example/gateway", "verify-full"],
  ["postgres://localhost/gateway?host=db.example", "verify-full"],
  ["postgres://localhost/gateway", "disable"],
  ["postgres://localhost/gateway?sslmode=prefer", "disable"],
  ["postgres://localhost/gateway?sslmode=require", "verify-full"],
  ["postgres://127.0.0.1:5432/gateway", "disable"],
  ["postgres://[::1]/gateway", "disable"],
  ["postgres:///gateway?host=/run/postgresql", "disable"],
])("%s is %s", (address, encryption) => {
  expect(readPostgresAddress(address).servers.map((server) => server.encryption)).toEqual([
    encryption as never,
  ]);
});

test("hosts have ports of their own and share the rest", () => {
  const address =
    "postgresql://user:p%40ss@one:5433,[::1],localhost/gate%20way?sslmode=require&prepare=false";
  expect(readPostgresAddress(address)).toMatchObject({
    database: "gate way",
    servers: [
      { url: "postgresql://user:p%40ss@one:5433/gate%20way?prepare=false" },
      { url: "postgresql://user:p%40ss@[::1]/gate%20way?prepare=false" },
      { url: "postgresql://user:p%40ss@localhost/gate%20way?prepare=false" },
    ],
  });
  expect(encryptions("postgres://one,localhost/gateway")).toEqual(["one verify-full", "localhost disable"]);
  expect(addressesOfServers("redis://cache:6379")).toEqual(["redis://cache:6379"]);
});

test.each([
  ["mysql://user:secret@host/db", "must be an address such as postgres://host/database"],
  ["postgres://user:secret@one:5432,two:x/db", "must be an address such as postgres://host/database"],
  ["postgres://user:secret@one,/db", "must be an address such as postgres://host/database"],
  ["postgres:///db", "must name a host"],
  ["postgres://host/db?ssl=true", "must say sslmode in place of ssl or tls"],
  ["postgres://host/db?sslmode=verify", "must have one of these as its sslmode: disable, no-verify, "],
  ["postgres://one,two/db?target_session_attrs=standby", "must have read-write as its target_session_attrs"],
])("%s is refused", (address, message) => {
  expect(() => readPostgresAddress(address)).toThrow(message);
  expect(() => readPostgresAddress(address)).not.toThrow("secret");
});
