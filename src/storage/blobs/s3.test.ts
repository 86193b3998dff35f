import { expect, test } from "bun:test";
import { readS3Place } from "./s3.ts";

test("an address names bucket, prefix, endpoint, region and style", () => {
  expect(
    readS3Place("s3://my-bucket/some/where/?endpoint=https%3A%2F%2Fs3.example&region=eu-1&style=virtual"),
  ).toEqual({
    bucket: "my-bucket",
    prefix: "some/where/",
    endpoint: "https://s3.example",
    region: "eu-1",
    virtualHostedStyle: true,
  });
});

test("all but the bucket may be left out", () => {
  expect(readS3Place("s3://b")).toMatchObject({ bucket: "b", prefix: "", virtualHostedStyle: false });
  expect(readS3Place("s3://b/?endpoint=http://127.0.0.1:9000").endpoint).toBe("http://127.0.0.1:9000");
});

test.each([
  "https://bucket/prefix",
  "s3:///prefix",
  "bucket",
  "",
  "s3://key:secret@bucket",
  "s3://bucket?endpint=https://s3.example",
  "s3://bucket?endpoint=s3.example",
  "s3://bucket?endpoint=file:///etc",
  "s3://bucket?style=other",
])("%p is refused without being repeated", (address) => {
  const error = (() => {
    try {
      return readS3Place(address);
    } catch (error) {
      return error;
    }
  })();
  expect(error).toBeInstanceOf(RangeError);
  expect(String(error)).not.toContain("secret");
});
