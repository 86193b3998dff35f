import { expect, test } from "bun:test";
import { addressesOfServers, libpqAddress, readPostgresAddress } from "./postgres-address.ts";

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
  ["postgres://user:secret%zz@host/db", 'has a "%" that begins no escape'],
  ["postgres://secret%@host/db", 'has a "%" that begins no escape'],
  ["postgres://user:secret@host/%zz", 'has a "%" that begins no escape'],
])("%s is refused", (address, message) => {
  expect(() => readPostgresAddress(address)).toThrow(message);
  expect(() => readPostgresAddress(address)).toThrow(RangeError);
  expect(() => readPostgresAddress(address)).not.toThrow("secret");
});

test.each([
  ["user:p%40ss@localhost:5433/db", "user@localhost:5433/db?sslmode=disable"],
  [
    "u@one:1,[::1],localhost/gate%20way?prepare=false&search_path=a&application_name=a%20b",
    "u@one:1,[::1],localhost/gate%20way?application_name=a%20b&sslmode=verify-full&target_session_attrs=read-write&sslrootcert=system",
  ],
  [
    "127.0.0.1:1,127.0.0.1:2/db?target_session_attrs=primary",
    "127.0.0.1:1,127.0.0.1:2/db?sslmode=disable&target_session_attrs=read-write",
  ],
  ["db.example/db?sslmode=no-verify", "db.example/db?sslmode=require"],
  ["db.example/db?sslmode=verify-ca", "db.example/db?sslmode=verify-ca"],
  [
    "db.example/db?sslmode=require&sslrootcert=/a%20b.pem",
    "db.example/db?sslrootcert=%2Fa%20b.pem&sslmode=verify-full",
  ],
  ["/db?host=/run/postgresql", "/db?host=%2Frun%2Fpostgresql&sslmode=disable"],
  [
    "localhost/db?path=/run/postgresql/.s.PGSQL.5432",
    "localhost/db?host=%2Frun%2Fpostgresql&sslmode=disable",
  ],
])("PostgreSQL's own programs get %s as %s", (address, expected) => {
  expect(libpqAddress(`postgres://${address}`).address).toBe(`postgres://${expected}`);
});

test("PostgreSQL's own programs get the password apart, and trust what NODE_EXTRA_CA_CERTS names", () => {
  expect(libpqAddress("postgres://u:p%40ss@db.example/db", "/ca.pem")).toEqual({
    address: "postgres://u@db.example/db?sslmode=verify-full&sslrootcert=%2Fca.pem",
    password: "p@ss",
  });
});
