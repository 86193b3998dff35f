/** Requests. */
export const requests = {
  title: "Requests",
};
