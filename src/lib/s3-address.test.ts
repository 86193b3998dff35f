import { expect, test } from "bun:test";
import { readS3Address, s3Location } from "./s3-address.ts";

test("an address names key, bucket, prefix, endpoint, region and style", () => {
  const query = "endpoint=https%3A%2F%2Fs3.example&region=eu-1&style=virtual";
  expect(readS3Address(`s3://id:se%2Fcret@my-bucket/some/where/?${query}`)).toEqual({
    bucket: "my-bucket",
    prefix: "some/where/",
    endpoint: "https://s3.example",
    region: "eu-1",
    virtualHostedStyle: true,
    accessKeyId: "id",
    secretAccessKey: "se/cret",
  });
});

test("all but key and bucket may be left out", () => {
  expect(readS3Address("s3://id:secret@b")).toMatchObject({
    bucket: "b",
    prefix: "",
    virtualHostedStyle: false,
  });
  expect(readS3Address("s3://id:secret@b/?endpoint=http://127.0.0.1:9000").endpoint).toBe(
    "http://127.0.0.1:9000",
  );
});

test.each([
  ["s3://id:hidden@b/p", "s3://b/p/"],
  ["s3://id:hidden@b", "s3://b/"],
  ["s3://id:hidden@b/p?endpoint=http://127.0.0.1:9000/", "http://127.0.0.1:9000/b/p/"],
  [
    "s3://id:hidden@b/p?endpoint=https://id:hidden@S3.example/api%3Fkey=hidden",
    "https://s3.example/api/b/p/",
  ],
])("the location of %s is %s", (address, location) => {
  expect(s3Location(readS3Address(address))).toBe(location);
});

test.each([
  "https://id:hidden@bucket/prefix",
  "s3:///hidden",
  "hidden",
  "",
  "s3://hidden",
  "s3://hidden@bucket",
  "s3://id:hidden%@bucket",
  "s3://id:hidden@bucket/%zz",
  "s3://id:secret@bucket?hidden=https://s3.example",
  "s3://id:secret@bucket?endpoint=hidden",
  "s3://id:secret@bucket?endpoint=file:///hidden",
  "s3://id:secret@bucket?style=hidden",
])("%p is refused without being repeated", (address) => {
  expect(() => readS3Address(address)).toThrow(RangeError);
  expect(() => readS3Address(address)).not.toThrow(/hidden/);
});
