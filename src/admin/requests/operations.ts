import { z } from "zod";
import { operation } from "../operation.ts";
import { pageOf } from "../output.ts";
import { listPictures, picturesInputSchema } from "./pictures.ts";
import { getRequest } from "./details.ts";
import { listRequests, requestsInputSchema } from "./requests.ts";
import { pictureSchema, requestDetailSchema, requestRowSchema } from "../usage/schema.ts";

export const requestOperations = {
  "requests.list": operation({
    method: "GET",
    path: "/requests",
    summary: "Requests, newest first: those that were charged, failed, took several attempts or were slow",
    role: "viewer",
    reach: "organization",
    cost: "page",
    input: requestsInputSchema,
    output: pageOf(requestRowSchema),
    run: listRequests,
  }),
  "requests.get": operation({
    method: "GET",
    path: "/requests/{id}",
    summary:
      "One request by its id, its caller's or vendor's request id or its ledger entry, with attempts and cost",
    role: "viewer",
    reach: "organization",
    cost: "report",
    input: z.strictObject({ id: z.string() }),
    output: requestDetailSchema,
    run: (context, { id }) => getRequest(context, id),
  }),
  "pictures.list": operation({
    method: "GET",
    path: "/pictures",
    summary: "Delivered pictures that are still stored, newest first",
    role: "viewer",
    reach: "organization",
    cost: "page",
    input: picturesInputSchema,
    output: pageOf(pictureSchema),
    run: listPictures,
  }),
};
