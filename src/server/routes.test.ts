import { describe, expect, test } from "bun:test";
import { RouteTable, type HttpRoute } from "./routes.ts";

const route = (method: "GET" | "POST", path: string): HttpRoute => ({
  method,
  path,
  name: `${method} ${path}`,
  family: "images",
  auth: "public",
  because: "a test",
  handle: () => new Response(null),
});

const table = new RouteTable([
  route("GET", "/things"),
  route("POST", "/things"),
  route("GET", "/things/{id}"),
  route("POST", "/things/{id}:run"),
  route("POST", "/things/{id}/stop"),
]);

const find = (method: string, path: string) => {
  const found = table.find(method, path);
  return found && "route" in found ? { name: found.route.name, parameter: found.parameter } : found;
};

describe("finding a route", () => {
  test.each([
    ["GET", "/things", "GET /things", ""],
    ["HEAD", "/things", "GET /things", ""],
    ["POST", "/things", "POST /things", ""],
    ["GET", "/things/a", "GET /things/{id}", "a"],
    ["GET", "/things/a%2Fb", "GET /things/{id}", "a/b"],
    ["POST", "/things/models/x:run", "POST /things/{id}:run", "models/x"],
  ])("%s %s", (method, path, name, parameter) => {
    expect(find(method, path)).toEqual({ name, parameter });
  });

  test("another method gets the allowed ones", () => {
    expect(find("DELETE", "/things")).toEqual({ allow: ["GET", "POST"], family: "images" });
    expect(find("POST", "/things/a")).toEqual({ allow: ["GET"], family: "images" });
    expect(find("GET", "/things/a/stop")).toEqual({ allow: ["POST"], family: "images" });
    expect(find("DELETE", "/things/a/stop")).toEqual({ allow: ["POST"], family: "images" });
  });

  test.each(["/", "/thing", "/things/", "/Things", "/things/%zz", "//things"])("%s leads nowhere", (path) => {
    expect(find("GET", path)).toBeNull();
  });
});
